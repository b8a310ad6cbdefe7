"""Every knob: its type, its default, and below it its unit and why. `layered` reads them."""

from typing import Any, Literal, TypeAlias

import msgspec

from berth import names
from berth.bounds import (
    AddressRange,
    Among,
    Block,
    Bytes,
    Count,
    Days,
    Duration,
    Factor,
    Interval,
    Label,
    Mib,
    Minor,
    Name,
    Pair,
    Port,
    ServicePort,
    Text,
    Timeout,
    Url,
)
from berth.words.catalogue import Language

# A piece of a manifest, whose shape is Kubernetes' business (msgspec knows no recursive types).
Fragment: TypeAlias = dict[str, Any]


class Group(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Settings that belong together; in the file, camelCase keys of one mapping."""


class Server(Group, frozen=True):
    """Where and how the webhook listens."""

    host: str = "0.0.0.0"  # noqa: S104  a Pod is called by its address
    """Address to listen on."""
    port: Port = 8443
    """Port to listen on; 0 takes a free one."""
    cert_file: str = ""
    """File with the PEM certificate chain to show. Set `keyFile` too. If both are empty, Berth
    makes its own certificate (`certificates`)."""
    key_file: str = ""
    """File with the PEM private key of `certFile`."""
    ca_file: str = ""
    """File with the PEM authorities that signed `certFile`; the registration gets them as its
    `caBundle`. Empty: `certFile` itself."""
    dns_names: tuple[str, ...] = ("localhost",)
    """Names, beside the Service's, in the certificate that Berth makes for itself."""
    idle_seconds: Interval = 120
    """Seconds that an idle connection is kept open. kube-apiserver keeps its own for 90 s: do not
    go below that."""
    stop_seconds: Duration = 15
    """Seconds that Berth goes on serving after SIGTERM, so that every API server learns in time
    that this replica leaves."""
    drain_seconds: Duration = 20
    """Seconds that requests in progress get to finish after `stopSeconds`. A second SIGTERM ends
    them at once."""
    handshake_seconds: Interval = 5
    """Seconds that a new connection has for its TLS handshake; then it is closed."""
    header_seconds: Interval = 10
    """Seconds that a new connection has to send the head of its first request; then it is
    closed."""
    body_seconds: Interval = 10
    """Seconds that the body of a request may take to arrive; then the answer is 408 and the
    connection is closed."""
    most_in_flight: Count = 1000
    """Requests handled at the same time. Any more are answered with 503 and Retry-After: 1, and
    their bodies are not read."""
    most_bytes_held: Bytes = 32 * 2**20
    """Bytes of all bodies handled at the same time, as far as they have arrived. Any more are
    answered with 503 too. Each byte takes about 3 bytes of memory."""
    hang_seconds: Duration = 30
    """If the process does not react for so many seconds, it ends itself, so that kubelet starts it
    again. 0: never."""


class Metrics(Group, frozen=True):
    """The operator's port, in plain HTTP: /metrics, /debug/config, /debug/fleet and the probes."""

    enabled: bool = True
    """Whether this port is opened."""
    host: str = "0.0.0.0"  # noqa: S104  Prometheus calls a Pod by its address
    """Address to listen on."""
    port: Port = 9464
    """Port to listen on; 0 takes a free one."""


class Reload(Group, frozen=True):
    """How changes of the settings file and of the device-config are noticed without a restart."""

    every_seconds: Interval = 5
    """Seconds between two looks at the files. A change in their folders and SIGHUP make Berth look
    at once."""


class Callers(Group, frozen=True):
    """Who may ask for admission. If several of these are set, a caller must pass all of them."""

    client_ca_file: str = ""
    """File with PEM authorities. A caller must show a certificate that one of them signed. If the
    content of the file changes, new connections are checked against the new content. Empty: no
    certificate is asked for."""
    client_names: tuple[Text, ...] = ()
    """Common names, DNS names or URIs. The caller's certificate must have one of them. Empty: any
    name. Needs `clientCaFile`."""
    sources: tuple[AddressRange, ...] = ()
    """IPv4 and IPv6 ranges that a caller may come from, such as 10.0.0.0/8. Empty: all
    addresses."""
    user_agents: tuple[Text, ...] = ()
    """A caller's User-Agent must begin with one of these texts, such as kube-apiserver-admission.
    Empty: any User-Agent."""


class Scheduler(Group, frozen=True):
    """HAMi's scheduler; its flags --scheduler-name and --force-overwrite-default-scheduler."""

    name: str = "hami-scheduler"
    """The schedulerName written into Pods that get a device. Empty: every Pod keeps its own."""
    force: bool = True
    """Whether Pods of default-scheduler get `name` too, as in HAMi's chart. false: they are left
    alone."""


class Policy(Group, frozen=True):
    """What admission does where Kubernetes and HAMi leave a choice."""

    privileged: Literal["skip", "deny", "allow"] = "skip"
    """What to do with a privileged container that asks for a device. skip: treat it as if it asked
    for nothing. deny: refuse the Pod. allow: treat it as any other."""
    device_env: Literal["remove", "deny", "keep"] = "remove"
    """What to do with NVIDIA_VISIBLE_DEVICES, or the same of another vendor, that a Pod sets in a
    container with a device. remove: take it out, with a warning. deny: refuse the Pod. keep: leave
    it."""
    limit_env: Literal["remove", "deny", "keep"] = "deny"
    """The same for CUDA_DEVICE_MEMORY_LIMIT and the other variables with which a container could
    change its own limits."""
    unmanaged_vendors: tuple[str, ...] = ()
    """Accelerators that HAMi does not manage in this cluster, such as ascend. What Pods ask of them
    is left as it is. Empty: HAMi manages all."""
    undone: Literal["auto", "deny", "warn", "allow"] = "auto"
    """What to do with a Pod with a device whose scheduler or amounts are not as Berth writes them,
    once all webhooks are done. deny: refuse it. warn: let it pass with a warning. allow: let it
    pass. auto: deny if `registration.failurePolicy` is Fail, else warn."""
    allocations: Literal["deny", "keep"] = "deny"
    """Who may write the annotations in which HAMi and Volcano record allocations. deny: only
    `allocators`. keep: everyone."""
    allocators: tuple[Text, ...] = (
        "system:serviceaccount:kube-system:*",
        "system:serviceaccount:volcano-system:*",
        "system:node:*",
    )
    """Users who may write these annotations. A user named in full may do so on every Pod. An entry
    that ends in * stands for all users whose name begins so; they may do so only on Pods that exist
    already."""
    excluded_namespaces: tuple[str, ...] = ("kube-system",)
    """Namespaces whose Pods are left alone. Berth's own namespace always is."""


class Audit(Group, frozen=True):
    """Namespaces on trial. Berth decides there as everywhere, but only logs, counts and warns."""

    namespaces: tuple[str, ...] = ()
    """Names of the namespaces; "*": all."""
    namespace_label: Label = ""
    """Namespaces with this label are on trial too, such as berth.dev/mode=audit. Empty: only those
    that `namespaces` lists."""


class Quota(Group, frozen=True):
    """Limits of device memory and cores: ResourceQuota entries of the form `limits.<resource>`."""

    enforce: Literal["auto", "always", "never"] = "auto"
    """Whether Berth checks these entries. auto: with `--register`; Pods pass until the first lists
    of the cluster are read. always: until then, requests get 503. never: no."""
    unsized: Literal["allow", "deny"] = "allow"
    """What to do with a Pod that leaves out the memory of a device where a quota limits memory.
    allow: it passes with a warning, and counts as soon as its card is known. deny: it is
    refused."""
    claim_seconds: Interval = 10
    """Seconds that an admitted Pod counts before Berth sees it in the cluster. A Pod that another
    webhook refuses never appears there."""


class CardFilter(Group, frozen=True):
    """A condition that a card must pass, beside what the Pod asks for."""

    name: Name
    """The name of the condition, which refusals show."""
    expression: Text
    """A CEL expression over `device` and `node` that must be true; docs/reference/placement.md
    lists their fields."""
    namespaces: tuple[Text, ...] = ()
    """Namespaces whose Pods it applies to. A name that ends in * stands for all that begin so.
    Empty: all namespaces."""


class Manner(Group, frozen=True):
    """How Pods with a device are placed."""

    policy: Literal[
        "scarcity",
        "fragmentation",
        "binpack",
        "spread",
        "mutex",
        "topology",
        "least-utilised",
        "best-fit",
        "first-fit",
    ] = "scarcity"
    """Which node is best, and which of its cards; docs/reference/placement.md compares the
    policies. A Pod can choose another one with the annotation hami.io/scheduling-policy."""
    delivery: Literal["auto", "off", "prefer", "require", "pin"] = "auto"
    """How a decision reaches the scheduler. off: not at all. prefer: as preferred node affinity.
    require: as required node affinity to the nodes that have room. pin: as one node and its
    devices. auto: require for HAMi's scheduler (`scheduler.name`), prefer for any other."""
    visible_devices: bool = False
    """With pin: whether the chosen devices are also written as NVIDIA_VISIBLE_DEVICES, or as the
    same of another vendor. Only for stacks that read this variable and do not set it themselves.
    Beside HAMi, leave it false: a Pod could use a card that it was not charged for. Needs
    `policy.deviceEnv: keep`."""
    pin_among: Among = 1
    """With pin: how many of the best nodes a replica chooses from, each replica in an order of its
    own. With more than 1, replicas that decide at the same moment seldom choose the same card. 1:
    always the best node."""
    full: Literal["admit", "refuse"] = "admit"
    """What to do with a Pod if no node has room for it now. admit: let it pass with a warning; it
    waits. refuse: refuse it."""
    full_priority_classes: tuple[Text, ...] = ()
    """With `full: refuse`: refuse only Pods of these PriorityClasses. Empty: Pods of all."""
    never: Literal["warn", "refuse"] = "warn"
    """What to do with a Pod that no node could run even if it were empty and its cards healthy.
    warn: let it pass with a warning, as such a node may still be added. refuse: refuse it."""


class SpecialManner(Manner, frozen=True):
    """Other values for some namespaces.

    What is left out here has the default of this table, not the value that `placement` sets.
    """

    namespaces: tuple[Text, ...] = ()
    """Names of the namespaces. A name that ends in * stands for all that begin so. If several
    entries name a namespace, the first one applies."""


class Classes(Group, frozen=True):
    """What a Pod depends on in the cluster without its author: watched for warnings.

    Only where quotas are kept or Pods placed, as with `--register`. Each needs the right to list
    and watch them: apply `berth manifests` again.
    """

    runtime: bool = False
    """Warn where the RuntimeClass that a device-config has us set does not exist: the API server
    refuses the Pod, and does not say who wrote that into it."""
    device: bool = False
    """Warn where a DeviceClass (resource.k8s.io/v1) maps what a Pod asks for to claims by its
    `extendedResourceName`: another scheduler than ours would give it a device of another stack."""
    limit_range: bool = False
    """Watch LimitRanges. A name that a translation takes out of a Pod stays there with 0 if a
    LimitRange has a `max` for it, with a warning: one of type Pod refuses each Pod without the
    name. A `min` for it, which refuses the Pod in any case, is a warning too."""


class Placement(Manner, frozen=True):
    """Where Pods with a device go. Berth decides it by what is free on every card."""

    enforce: Literal["auto", "always", "never"] = "auto"
    """Whether Berth places Pods. auto: with `--register`; Pods pass without a place until the first
    lists of the cluster are read. always: until then, requests get 503. never: no."""
    pending_seconds: Interval = 60
    """Seconds for which the chosen devices are kept for a Pod that Berth has seen in the cluster,
    until it is bound. Before that, `quota.claimSeconds` applies."""
    special: tuple[SpecialManner, ...] = ()
    """Other values for some namespaces."""
    filters: tuple[CardFilter, ...] = ()
    """Conditions in CEL that cards must pass."""
    workload_key: Text = names.WORKLOAD_CLASS
    """The Pod label, or if it is missing the Pod annotation, that names the Pod's class of
    workload. The annotation is read only if its key begins with berth.dev/ or hami.io/."""
    apart: tuple[Pair, ...] = ("inference:training",)
    """Pairs of classes that must not share a card, such as inference:training."""
    rack_label: Text = names.RACK_LABEL
    """The node label that names the node's rack, for the policy `topology`."""


class Registration(Group, frozen=True):
    """The mutating and the validating webhook configuration that `--register` keeps up to date."""

    name: Name = "berth"
    """Name of both objects."""
    url: Url = ""
    """Address at which the API server reaches Berth, such as https://host:port. Empty: it uses the
    Service."""
    namespace: Name = "berth-system"
    """Namespace of Berth and its Service. Its Pods are never changed or refused."""
    service: Name = "berth-webhook"
    """Service through which the API server reaches Berth. The Deployment and its service account
    have the same name."""
    service_port: ServicePort = 443
    """Port of the Service."""
    timeout_seconds: Timeout = 5
    """Seconds that the API server waits for an answer; then `failurePolicy` applies."""
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    """What the API server does with a Pod that names a device if Berth does not answer. Fail:
    refuse it. Ignore: let it pass as it is."""
    only_labelled_namespaces: bool = False
    """Whether only namespaces with the label hami-webhook/inject=enabled are sent to Berth."""
    workloads: bool = False
    """Whether the author of a Deployment, Job or the like is warned if its Pods would be
    refused."""
    refresh_seconds: Interval = 60
    """Seconds after which the two objects are written again, in case somebody changed them."""


class Certificates(Group, frozen=True):
    """The CA and the certificates that Berth makes if `server.certFile` is empty."""

    store: Literal["auto", "secret", "files"] = "auto"
    """Where the CA is kept. secret: in a Secret. files: in `folder`. auto: in a Secret with
    `--register` and no `registration.url`, else in files."""
    secret: Name = "berth-webhook-ca"  # noqa: S105  a name
    """The Secret, in `registration.namespace`, that all replicas share."""
    folder: str = ""
    """The folder for files. Callers read its `ca.crt`. Empty: a new folder, which is removed when
    the process ends."""
    authority_days: Days = 365
    """Days that a CA is valid. After two thirds of them the next one takes over."""
    leaf_days: Days = 7
    """Days that the server's certificate is valid. It is renewed after two thirds of them."""
    settle_seconds: Duration = 60
    """Seconds that a new CA must have been in the caBundle before it signs, and seconds that an old
    CA stays there after its last certificate has ended."""
    check_seconds: Interval = 30
    """Seconds between two looks at the Secret, the files, the caBundle and the clock."""


class EnvEntry(Group, frozen=True):
    """A variable of an injection."""

    name: Text
    """Name of the variable."""
    value: str
    """Value of the variable. If the Pod sets another value, the Pod's is kept, with a warning."""
    joined_by: str = ""
    """If the Pod sets the variable too, both values are kept, ours first, with this text between
    them: ":" for LD_PRELOAD, for example. Empty: they are not joined."""


class Injection(Group, frozen=True):
    """What containers with a device get in addition, in the namespaces of the selector."""

    name: Name
    """Name of the injection; a part of the webhook's name."""
    vendor: str = "nvidia"
    """Containers with a device of this accelerator get the injection: a family such as ascend, or
    one device such as Ascend910A."""
    namespace_selector: Fragment = {}
    """A label selector for namespaces, as in a webhook configuration. Empty: every namespace."""
    env: tuple[EnvEntry, ...] = ()
    """Variables for each such container."""
    volumes: tuple[Fragment, ...] = ()
    """Volumes for the Pod, as in a manifest; for example a hostPath of a device or a library."""
    volume_mounts: tuple[Fragment, ...] = ()
    """Mounts for each such container, as in a manifest."""
    annotations: dict[str, str] = {}
    """Annotations for the Pod. If the Pod has one of them with another value, the Pod's is kept,
    with a warning."""
    tolerations: tuple[Fragment, ...] = ()
    """Tolerations for the Pod. One that the Pod's own already cover is not added."""


class VolcanoStack(Group, frozen=True):
    """Volcano's scheduler and its vGPU device plugin."""

    scheduler: str = "volcano"
    """The schedulerName of Volcano's scheduler."""
    minor: Minor = 15
    """Minor version of Volcano 1.x: 15 is Volcano 1.15. Up to 12 Volcano reads percent of memory;
    from 16 on it can choose devices by UUID."""
    count: Text = "volcano.sh/vgpu-number"
    """Resource for the number of cards: `resourceCountName` in the ConfigMap of the device
    plugin."""
    memory: Text = "volcano.sh/vgpu-memory"
    """Resource for the memory of each card: `resourceMemoryName` there."""
    memory_percent: Text = "volcano.sh/vgpu-memory-percentage"
    """Resource for the memory in percent: `resourceMemoryPercentageName` there."""
    cores: Text = "volcano.sh/vgpu-cores"
    """Resource for the percent of each card's cores: `resourceCoreName` there."""
    block_mib: Block = 1
    """MiB in one unit of the memory resource: `gpuMemoryFactor` there."""


class PoolStack(Group, frozen=True):
    """A vGPU manager that gives memory of the cards in its pool."""

    scheduler: str = ""
    """The schedulerName written into Pods that get a share of a card. Empty: every Pod keeps its
    own."""
    count: Text = "hami.io/vgpu-count"
    """Resource for the number of cards. A container that asks for memory without it gets one
    card."""
    memory: Text = "hami.io/vgpu-memory"
    """Resource for the memory of each card, a size such as 16Gi."""
    cores: Text = "hami.io/vgpu-cores"
    """Resource for the percent of each card's cores."""
    visible_devices: bool = False
    """Whether the vGPU manager reads CUDA_VISIBLE_DEVICES. true: the chosen devices are written
    there too, beside HAMI_VGPU_UUID."""


class PlainStack(Group, frozen=True):
    """NVIDIA's own device plugin, which gives whole cards."""

    scheduler: str = ""
    """The schedulerName written into Pods that get a card. Empty: every Pod keeps its own."""
    count: Text = "nvidia.com/gpu"
    """Resource for the number of cards."""


class Stacks(Group, frozen=True):
    """Sharing stacks other than HAMi's: what their schedulers and resources are called here."""

    volcano: VolcanoStack = msgspec.field(default_factory=VolcanoStack)
    pool: PoolStack = msgspec.field(default_factory=PoolStack)
    plain: PlainStack = msgspec.field(default_factory=PlainStack)


class Models(Group, frozen=True):
    """How much memory a model takes, for Pods that say which they run (berth.dev/model).

    What `table` lacks is computed: parameters x bytes of the precision x factor of the use, divided
    by the container's devices, and `overheadMib` on each. For training the bytes are always 2.
    """

    table: dict[str, str] = {}
    """Memory of each device for a size/use/precision, such as 7b/inference/bf16: 20Gi."""
    inference: Factor = 1.2
    """Factor for inference: the weights, and a fifth for KV cache and activations."""
    fine_tune: Factor = 1.8
    """Factor for fine-tuning: frozen weights, adapters with their gradients and moments,
    activations."""
    train: Factor = 9.6
    """Factor for training: 16 bytes for each parameter (weights, gradients, master copy, two
    moments), and a fifth more."""
    overhead_mib: Mib = 1024
    """MiB on each device for the driver's context and the framework."""


class Oversubscription(Group, frozen=True):
    """Pods get less than they ask for, so that more of them fit. Off unless a factor is above 1."""

    memory: Factor = 1
    """The memory that a Pod asks for is divided by this. 1: not changed."""
    cores: Factor = 1
    """The cores that a Pod asks for are divided by this. A card that one container has alone is not
    divided. 1: not changed."""
    most: Factor = 2
    """Upper limit for both factors; a larger factor counts as this one."""


class Defaults(Group, frozen=True):
    """CPU and memory for containers that get a device and name none of their own."""

    cpu_request: str = ""
    """A quantity such as 4, for containers with neither a CPU request nor a CPU limit. Empty:
    nothing is added."""
    cpu_limit: str = ""
    """A quantity such as 4, for containers without a CPU limit; never below the container's own
    request. Empty: nothing is added."""
    memory_request: str = ""
    """A quantity such as 16Gi, for containers with neither a memory request nor a memory limit.
    Empty: nothing is added."""
    memory_limit: str = ""
    """A quantity such as 16Gi, for containers without a memory limit; never below the container's
    own request. Empty: nothing is added."""


class Conversion(Group, frozen=True):
    """How the Pods of some namespaces are translated into another stack's words.

    Of several, a namespace has the one that its label berth.dev/conversion names, else the first
    that lists it, else the one that lists "*". Without any, HAMi's words are read and written.
    """

    name: Name
    """Name of the conversion. The namespace label berth.dev/conversion refers to it."""
    namespaces: tuple[str, ...] = ()
    """Names of namespaces; "*": all that no other conversion lists."""
    reads: tuple[Literal["hami", "volcano", "pool", "plain", "kai"], ...] = ("hami",)
    """Dialects in which Pods may ask. The one that `writes` names is always read too."""
    writes: Literal["hami", "volcano", "pool", "plain"] = "volcano"
    """Dialect of the stack that runs these Pods."""
    scheduler: Literal["gpu", "all"] = "gpu"
    """Which Pods get the stack's scheduler. gpu: those with a device. all: every Pod of the
    namespace."""
    take_schedulers: tuple[Text, ...] = ()
    """Pods of these schedulers are translated, beside those of the default scheduler. If KAI's
    dialect is read, Pods of KAI's scheduler always are."""
    loss: Literal["warn", "refuse", "drop"] = "warn"
    """What to do with a Pod whose request the written dialect cannot express in full. warn: write
    the rest, with a warning. refuse: refuse the Pod. drop: write the rest without a warning."""
    losses: dict[str, Literal["warn", "refuse", "drop"]] = {}
    """The same for single kinds of loss: memory, cores, rounding, priority, models, devices, numa,
    mode, policy, group, accelerator, init-container. A loss of the kind init-container is refused
    unless it stands here."""
    memory: str = ""
    """Memory of each card for containers that name none, such as 16Gi or 40%. Empty: the whole
    card."""
    models: Models = msgspec.field(default_factory=Models)
    oversubscription: Oversubscription = msgspec.field(default_factory=Oversubscription)
    defaults: Defaults = msgspec.field(default_factory=Defaults)
    queue: str = ""
    """Volcano's queue for Pods that name no queue and belong to no PodGroup. Empty: none is set."""


class Log(Group, frozen=True):
    """What the server writes to stderr."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """Lines below this level are not written."""
    format: Literal["auto", "json", "text"] = "auto"
    """json: one JSON object in each line. text: for people. auto: text on a terminal, else json."""
    flush_seconds: Duration = 0.1
    """Lines below `warning` are gathered, and written once in so many seconds. 0: each line at
    once."""


class Settings(Group, frozen=True):
    """The root. Read docs/reference/settings.md for the file as a whole."""

    server: Server = msgspec.field(default_factory=Server)
    metrics: Metrics = msgspec.field(default_factory=Metrics)
    reload: Reload = msgspec.field(default_factory=Reload)
    callers: Callers = msgspec.field(default_factory=Callers)
    scheduler: Scheduler = msgspec.field(default_factory=Scheduler)
    policy: Policy = msgspec.field(default_factory=Policy)
    audit: Audit = msgspec.field(default_factory=Audit)
    quota: Quota = msgspec.field(default_factory=Quota)
    placement: Placement = msgspec.field(default_factory=Placement)
    classes: Classes = msgspec.field(default_factory=Classes)
    registration: Registration = msgspec.field(default_factory=Registration)
    certificates: Certificates = msgspec.field(default_factory=Certificates)
    injections: tuple[Injection, ...] = ()
    stacks: Stacks = msgspec.field(default_factory=Stacks)
    conversions: tuple[Conversion, ...] = ()
    log: Log = msgspec.field(default_factory=Log)
    language: Language = "en"
    """Language of refusals, warnings and `berth explain`: en (English) or zh (Simplified Chinese).
    Logs are always in English."""
