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
    """PEM certificate chain; with `keyFile`. Both empty: Berth makes its own (`certificates`)."""
    key_file: str = ""
    """PEM private key of `certFile`."""
    ca_file: str = ""
    """PEM bundle that vouches for `certFile`, for the registration; empty: `certFile` itself."""
    dns_names: tuple[str, ...] = ("localhost",)
    """Names in the leaf that Berth makes, beside the Service's."""
    idle_seconds: Interval = 120
    """A connection may rest so long. kube-apiserver keeps its own for 90 s, so never below that."""
    stop_seconds: Duration = 15
    """After SIGTERM, go on serving so long: until the last API server has heard that we leave."""
    drain_seconds: Duration = 20
    """Then requests under way may take so long; a second SIGTERM ends them at once."""
    handshake_seconds: Interval = 5
    """A connection without a TLS handshake is closed after so long."""
    header_seconds: Interval = 10
    """A new connection that brings no whole head of a request is closed after so long."""
    body_seconds: Interval = 10
    """A body may take so long to come; then it is answered with 408 and the connection closed."""
    most_in_flight: Count = 1000
    """More requests at once are answered with 503 and Retry-After: 1, their bodies unread."""
    most_bytes_held: Bytes = 32 * 2**20
    """Bodies under way together; more is answered likewise. Each byte takes some 3 of memory."""
    hang_seconds: Duration = 30
    """A process whose event loop hangs so long ends itself, to be started anew; 0: never."""


class Metrics(Group, frozen=True):
    """The operator's own port, in plain HTTP: /metrics, probes, /debug/config and /debug/fleet."""

    enabled: bool = True
    """Whether there is one."""
    host: str = "0.0.0.0"  # noqa: S104  Prometheus calls a Pod by its address
    """Address to listen on."""
    port: Port = 9464
    """Port to listen on; 0 takes a free one."""


class Reload(Group, frozen=True):
    """How the settings file and device-config are taken while the process runs."""

    every_seconds: Interval = 5
    """How often the files are compared, beside the events of their folders; SIGHUP does it too."""


class Callers(Group, frozen=True):
    """Who may ask for admission; the probes always may. All that is set must hold."""

    client_ca_file: str = ""
    """PEM bundle of authorities; a caller must show a certificate that one of them signed. A change
    of the file holds from the next connection on."""
    client_names: tuple[Text, ...] = ()
    """Common names, DNS names or URIs, one of which its certificate must have; empty: any."""
    sources: tuple[AddressRange, ...] = ()
    """Addresses it may come from, IPv4 and IPv6, such as 10.0.0.0/8; empty: all."""
    user_agents: tuple[Text, ...] = ()
    """How its User-Agent may begin: kube-apiserver-admission, say; empty: anyhow."""


class Scheduler(Group, frozen=True):
    """HAMi's scheduler (its flags --scheduler-name and --force-overwrite-default-scheduler)."""

    name: str = "hami-scheduler"
    """Set in Pods that get a device; empty leaves every Pod its own."""
    force: bool = True
    """Take Pods of the default scheduler over, as HAMi's chart does."""


class Policy(Group, frozen=True):
    """What admission does where Kubernetes and HAMi leave a choice."""

    privileged: Literal["skip", "deny", "allow"] = "skip"
    """A privileged container counts as asking for nothing, refuses its Pod, or is as any other."""
    device_env: Literal["remove", "deny", "keep"] = "remove"
    """What becomes of NVIDIA_VISIBLE_DEVICES in a container that is given a device."""
    limit_env: Literal["remove", "deny", "keep"] = "deny"
    """What becomes of CUDA_DEVICE_MEMORY_LIMIT and the like there."""
    unmanaged_vendors: tuple[str, ...] = ()
    """Accelerators that HAMi does not share here, such as ascend: Pods keep them as they are."""
    undone: Literal["auto", "deny", "warn", "allow"] = "auto"
    """What becomes of a Pod with a device whose scheduler or amounts are not as Berth writes them,

    once all webhooks are done. auto: deny where `registration.failurePolicy` is Fail, else warn.
    """
    allocations: Literal["deny", "keep"] = "deny"
    """Whether Pod annotations in which HAMi records what it gave are its own to write."""
    allocators: tuple[Text, ...] = (
        "system:serviceaccount:kube-system:*",
        "system:serviceaccount:volcano-system:*",
        "system:node:*",
    )
    """Users who may write them: in full; with * at the end, to Pods that exist, and not to new."""
    excluded_namespaces: tuple[str, ...] = ("kube-system",)
    """Their Pods are left alone; Berth's own namespace always is."""


class Audit(Group, frozen=True):
    """Namespaces on trial: what would be done is logged, counted and warned of, and not done."""

    namespaces: tuple[str, ...] = ()
    """Their names; "*": all."""
    namespace_label: Label = ""
    """A label by which others are, such as berth.dev/mode=audit; empty: by name alone."""


class Quota(Group, frozen=True):
    """Limits of devices by ResourceQuota: entries `limits.<resource>` of memory and cores."""

    enforce: Literal["auto", "always", "never"] = "auto"
    """auto: with `--register`, and Pods pass until the first lists are read; always: until then
    nothing is answered."""
    unsized: Literal["allow", "deny"] = "allow"
    """A share whose memory is not named where it is limited: it passes with a warning and counts
    when its card is known, or is refused."""
    claim_seconds: Interval = 10
    """An admitted Pod that is never seen, as another webhook refused it, counts for so long."""


class CardFilter(Group, frozen=True):
    """A condition that a card must pass, beside what is asked of it."""

    name: Name
    """What refusals call it."""
    expression: Text
    """In CEL, of `device` and `node`: docs/reference/placement.md lists what there is."""
    namespaces: tuple[Text, ...] = ()
    """Whose Pods it is for; with * at the end, all that begin so; empty: everybody's."""


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
    """How nodes are compared; a Pod chooses otherwise by hami.io/scheduling-policy."""
    delivery: Literal["auto", "off", "prefer", "require", "pin"] = "auto"
    """How its scheduler is told: not at all, by preferred or by required node affinity, or with one
    node and its devices. auto: require for HAMi's scheduler, where `scheduler.name` is set; prefer
    for every other, such as that of a conversion's stack."""
    visible_devices: bool = False
    """With pin: the devices also as NVIDIA_VISIBLE_DEVICES or what the vendor has for it. Only for
    stacks that read it and set none; beside HAMi a Pod could use what it was not charged for."""
    pin_among: Among = 1
    """With pin: how many of the best nodes it may be, which each replica prefers in an order of its
    own; so replicas that decide at once seldom choose one card. 1: always the best."""
    full: Literal["admit", "refuse"] = "admit"
    """A Pod for which no node has room now passes with a warning, or is refused."""
    full_priority_classes: tuple[Text, ...] = ()
    """Only Pods of these PriorityClasses are refused then; empty: all."""
    never: Literal["warn", "refuse"] = "warn"
    """A Pod that no node can ever run passes with a warning, or is refused."""


class SpecialManner(Manner, frozen=True):
    """The same for some namespaces; what is not said here has its default."""

    namespaces: tuple[Text, ...] = ()
    """Their names; with * at the end, all that begin so. The first entry that names one holds."""


class Classes(Group, frozen=True):
    """Classes of the cluster that a Pod depends on without its author: watched for warnings.

    Only where quotas are kept or Pods placed, as with `--register`. Each needs the right to list
    and watch them: apply `berth manifests` again.
    """

    runtime: bool = False
    """Warn where the RuntimeClass that a device-config has us set does not exist: the API server
    refuses the Pod, and does not say who wrote that into it."""
    device: bool = False
    """Warn where a DeviceClass (resource.k8s.io/v1) maps what a Pod asks for to claims by its
    `extendedResourceName`: another scheduler than ours would give it a device of another stack."""


class Placement(Manner, frozen=True):
    """Where Pods with a device go, decided by what is free on every card now."""

    enforce: Literal["auto", "always", "never"] = "auto"
    """auto: with `--register`, and Pods pass unplaced until the first lists are read; always: until
    then nothing is answered."""
    pending_seconds: Interval = 60
    """The devices that a Pod was sent to are kept for it so long, until it is bound. Before it is
    seen at all: `quota.claimSeconds`."""
    special: tuple[SpecialManner, ...] = ()
    """Other ways for some namespaces."""
    filters: tuple[CardFilter, ...] = ()
    """Conditions in CEL that cards must pass."""
    workload_key: Text = names.WORKLOAD_CLASS
    """The label that names a Pod's class of workload, or else the annotation: one of berth.dev/ or
    hami.io/, as no other is kept in memory."""
    apart: tuple[Pair, ...] = ("inference:training",)
    """Classes that must not share a card, two and two."""
    rack_label: Text = names.RACK_LABEL
    """The node label that names the rack, for the policy `topology`."""


class Registration(Group, frozen=True):
    """The two webhook configurations, mutating and validating, that `--register` keeps."""

    name: Name = "berth"
    """Name of both objects."""
    url: Url = ""
    """https://host:port of this server as the API server sees it; empty: by Service."""
    namespace: Name = "berth-system"
    """Namespace of Berth and its Service; always excluded from admission."""
    service: Name = "berth-webhook"
    """Service by which the API server finds us; the Deployment and its account are named so too."""
    service_port: ServicePort = 443
    """Port of the Service."""
    timeout_seconds: Timeout = 5
    """How long the API server waits for an answer."""
    failure_policy: Literal["Fail", "Ignore"] = "Fail"
    """What becomes of a Pod that names a device while no answer comes."""
    only_labelled_namespaces: bool = False
    """Only namespaces labelled hami-webhook/inject=enabled."""
    workloads: bool = False
    """Warn at the creation of Deployments, Jobs and the like whose Pods would be refused."""
    refresh_seconds: Interval = 60
    """How often it is applied again, should someone have changed more than the caBundle."""


class Certificates(Group, frozen=True):
    """The CA and the leaves that Berth makes where `server.certFile` is empty."""

    store: Literal["auto", "secret", "files"] = "auto"
    """Where the CA is kept. auto: a Secret with `--register` and no `registration.url`."""
    secret: Name = "berth-webhook-ca"  # noqa: S105  a name
    """The Secret, in `registration.namespace`, by which the replicas agree."""
    folder: str = ""
    """The folder for files, its `ca.crt` for callers; empty: a new one, gone with the process."""
    authority_days: Days = 365
    """A CA lasts so long; the next one takes over after two thirds."""
    leaf_days: Days = 7
    """A leaf lasts so long; it is renewed after two thirds."""
    settle_seconds: Duration = 60
    """A CA signs only after so long in the caBundle, and is trusted so long after its last leaf."""
    check_seconds: Interval = 30
    """How often Secret, files and caBundle are looked at, and the clock, should we have slept."""


class EnvEntry(Group, frozen=True):
    """A variable of an injection."""

    name: str
    """Name of the variable."""
    value: str
    """Its value; where the Pod sets another, the Pod's is kept, with a warning."""
    joined_by: str = ""
    """Put ours before the user's value with this between, as for LD_PRELOAD with ":"."""


class Injection(Group, frozen=True):
    """What containers with a device get besides, in the namespaces that the selector matches."""

    name: Name
    """Part of the webhook's name."""
    vendor: str = "nvidia"
    """Whose devices a container must have: a family such as ascend, or one, such as Ascend910A."""
    namespace_selector: Fragment = {}
    """A label selector, which the API server evaluates; empty matches every namespace."""
    env: tuple[EnvEntry, ...] = ()
    """Variables for each such container."""
    volumes: tuple[Fragment, ...] = ()
    """Volumes of the Pod, as in its manifest: a hostPath of a device or a library, say."""
    volume_mounts: tuple[Fragment, ...] = ()
    """Mounts for each such container."""
    annotations: dict[str, str] = {}
    """Annotations of the Pod; one that is there is kept, with a warning where it differs."""
    tolerations: tuple[Fragment, ...] = ()
    """Tolerations of the Pod, where none that it has covers them."""


class VolcanoStack(Group, frozen=True):
    """Volcano's scheduler and vGPU device plugin, as they are configured here."""

    scheduler: str = "volcano"
    """Its schedulerName."""
    minor: Minor = 15
    """Of its version 1: up to 12 it knows percent, from 16 on it chooses devices by UUID."""
    count: Text = "volcano.sh/vgpu-number"
    """resourceCountName of its ConfigMap."""
    memory: Text = "volcano.sh/vgpu-memory"
    """resourceMemoryName."""
    memory_percent: Text = "volcano.sh/vgpu-memory-percentage"
    """resourceMemoryPercentageName."""
    cores: Text = "volcano.sh/vgpu-cores"
    """resourceCoreName."""
    block_mib: Block = 1
    """gpuMemoryFactor: MiB in one of the memory resource."""


class PoolStack(Group, frozen=True):
    """A vGPU manager that gives memory of the cards in its pool."""

    scheduler: str = ""
    """Set in Pods that get a share; empty leaves every Pod its own."""
    count: Text = "hami.io/vgpu-count"
    """Resource of the number of cards; one where it is not written."""
    memory: Text = "hami.io/vgpu-memory"
    """Resource of memory of each, a size such as 16Gi."""
    cores: Text = "hami.io/vgpu-cores"
    """Resource of percent of each one's cores."""
    visible_devices: bool = False
    """Whether the manager reads CUDA_VISIBLE_DEVICES, beside HAMI_VGPU_UUID."""


class PlainStack(Group, frozen=True):
    """NVIDIA's own device plugin, which gives whole cards."""

    scheduler: str = ""
    """Set in Pods that get a card; empty leaves every Pod its own."""
    count: Text = "nvidia.com/gpu"
    """Its resource."""


class Stacks(Group, frozen=True):
    """The sharing stacks beside HAMi's, into and out of whose words Pods are translated."""

    volcano: VolcanoStack = msgspec.field(default_factory=VolcanoStack)
    pool: PoolStack = msgspec.field(default_factory=PoolStack)
    plain: PlainStack = msgspec.field(default_factory=PlainStack)


class Models(Group, frozen=True):
    """How much memory a model takes, for Pods that say which they run (berth.dev/model).

    What `table` lacks is computed: parameters x bytes of the precision x factor of the use, divided
    by the container's devices, and `overheadMib` on each. For training the bytes are always 2.
    """

    table: dict[str, str] = {}
    """Memory of each device by size/use/precision, such as 7b/inference/bf16: 20Gi."""
    inference: Factor = 1.2
    """Weights, and a fifth for the KV cache and activations."""
    fine_tune: Factor = 1.8
    """Frozen weights, adapters with their gradients and moments, activations."""
    train: Factor = 9.6
    """16 bytes for each parameter (weights, gradients, master copy, two moments), a fifth more."""
    overhead_mib: Mib = 1024
    """For the driver's context and the framework."""


class Oversubscription(Group, frozen=True):
    """Pods get less than they ask for, so that more of them fit."""

    memory: Factor = 1
    """Memory is divided by it."""
    cores: Factor = 1
    """Cores are divided by it; a card that is a container's alone stays so."""
    most: Factor = 2
    """Neither counts for more than this."""


class Defaults(Group, frozen=True):
    """CPU and memory of containers that got a device and name none of their own."""

    cpu_request: str = ""
    """A quantity such as 4, where neither a request nor a limit stands; empty adds none."""
    cpu_limit: str = ""
    """Likewise; never below a request of the container's own."""
    memory_request: str = ""
    """A quantity such as 16Gi; likewise."""
    memory_limit: str = ""
    """Likewise; never below a request of the container's own."""


class Conversion(Group, frozen=True):
    """How the Pods of some namespaces are translated into another stack's words.

    Of several, a namespace has the one that its label berth.dev/conversion names, else the first
    that lists it, else the one that lists "*". Without any, HAMi's words are read and written.
    """

    name: Name
    """By which the label of a namespace names it."""
    namespaces: tuple[str, ...] = ()
    """Names of namespaces; "*": all that no other conversion lists."""
    reads: tuple[Literal["hami", "volcano", "pool", "plain", "kai"], ...] = ("hami",)
    """Dialects; the one that is written is always read too."""
    writes: Literal["hami", "volcano", "pool", "plain"] = "volcano"
    """The dialect of the stack that runs these Pods."""
    scheduler: Literal["gpu", "all"] = "gpu"
    """Which Pods get the stack's scheduler: those with a device, or all."""
    take_schedulers: tuple[Text, ...] = ()
    """Schedulers, beside the default one, whose Pods are translated; KAI's is where KAI is read."""
    loss: Literal["warn", "refuse", "drop"] = "warn"
    """What becomes of a Pod that means more than the written dialect can say."""
    losses: dict[str, Literal["warn", "refuse", "drop"]] = {}
    """The same for one kind: memory, cores, rounding, priority, models, devices, numa, mode,

    policy, accelerator or init-container, which is refused unless it stands here."""
    memory: str = ""
    """Of each card for containers that name none: 16Gi or 40%; empty: the whole card."""
    models: Models = msgspec.field(default_factory=Models)
    oversubscription: Oversubscription = msgspec.field(default_factory=Oversubscription)
    defaults: Defaults = msgspec.field(default_factory=Defaults)
    queue: str = ""
    """Volcano's queue for Pods that name none and belong to no PodGroup."""


class Log(Group, frozen=True):
    """What the server writes to stderr."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least that is written."""
    format: Literal["auto", "json", "text"] = "auto"
    """auto: text on a terminal, JSON elsewhere."""
    flush_seconds: Duration = 0.1
    """Lines below `warning` are written together so often; 0 writes each at once."""


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
    """Of refusals, warnings and `berth explain`, English or Chinese; logs are English."""
