"""Every string that the outside knows us by, or that we know the outside by, written once."""

from typing import Final

# Ours.
ORIGINAL_REQUEST: Final = "berth.dev/original-request"
"""Pod annotation, by Berth: JSON with what each container asked for before Berth changed it, and a
checksum of what Berth wrote."""
ORIGINAL_VERSION: Final = 1
ORIGINAL_WRITTEN: Final = "written"
DECISION: Final = "berth.dev/decision"
"""Pod annotation, by Berth: JSON with the decision: its id, by which Berth recognises the stored
Pod, where the Pod goes, and why."""
GPU_MEMORY: Final = "berth.dev/gpu-memory"
"""Pod annotation: memory of each card: 16Gi or 40%, or for each container main=16Gi,side=40%.
Only a conversion reads it."""
GPU_MODEL: Final = "berth.dev/gpu-model"
"""Pod annotation: models of cards, separated by commas, such as A100,H100; the card is one of
them. Only a conversion reads it."""
MODEL: Final = "berth.dev/model"
"""Pod annotation: size of the AI model that the Pod runs, such as 7b; memory follows from it.
Only a conversion reads it."""
MODEL_USE: Final = "berth.dev/model-use"
"""Pod annotation: what the Pod does with the AI model: inference, fine-tune or train. Only a
conversion reads it."""
MODEL_PRECISION: Final = "berth.dev/model-precision"
"""Pod annotation: precision of the AI model's weights: fp32, fp16, bf16 (the default), fp8, int8 or
int4. Only a conversion reads it."""
OVERSUBSCRIPTION: Final = "berth.dev/oversubscription"
"""Pod annotation, by Berth: by how much what the Pod asked for was divided."""
SIZE_ANNOTATIONS: Final = (GPU_MEMORY, GPU_MODEL, MODEL, MODEL_USE, MODEL_PRECISION)
INJECT: Final = "berth.dev/inject"
"""Pod label: with the value `false`, Berth leaves the Pod alone."""
INJECT_VALUE: Final = "false"
CONVERSION: Final = "berth.dev/conversion"
"""Namespace label: name of the conversion (in the settings) that translates its Pods."""
CONFIG_CHECKSUM: Final = "berth.dev/config-checksum"
"""Annotation of Berth's own Pods: if the settings change, new Pods are made."""
WORKLOAD_CLASS: Final = "berth.dev/workload-class"
"""Pod label, or annotation: the Pod's class of workload (`placement.workloadKey` can name another
key)."""
WEBHOOK: Final = "gpu.berth.dev"
WEBHOOK_CONFLICTS: Final = "conflicts.berth.dev"
WEBHOOK_OTHERS: Final = "others.berth.dev"
WEBHOOK_INJECT_SUFFIX: Final = "inject.berth.dev"
WEBHOOK_VALIDATE: Final = "validate.berth.dev"
WEBHOOK_ALLOCATIONS: Final = "allocations.berth.dev"
WEBHOOK_DEBUG: Final = "debug.berth.dev"
WEBHOOK_WORKLOADS: Final = "workloads.berth.dev"
FIELD_MANAGER: Final = "berth"

# HAMi's (docs/reference/differences.md says where we read them).
WEBHOOK_OPT_OUT: Final = "hami.io/webhook"
"""Pod label or namespace label: with the value `ignore`, Berth leaves the Pods alone."""
WEBHOOK_OPT_OUT_VALUE: Final = "ignore"
OPT_OUTS: Final = ((WEBHOOK_OPT_OUT, WEBHOOK_OPT_OUT_VALUE), (INJECT, INJECT_VALUE))
"""Labels of a Pod that is left alone, each with its value."""
INJECT_LABEL: Final = "hami-webhook/inject"
"""Namespace label: with `registration.onlyLabelledNamespaces`, only namespaces with the value
`enabled` are handled."""
INJECT_LABEL_VALUE: Final = "enabled"
INJECTED: Final = "hami.io/injected"
"""Pod annotation, by Berth: "true" if something was added that the author did not ask for."""
SCHEDULING_POLICY: Final = "hami.io/scheduling-policy"
"""Pod annotation: the Pod's own placement policy, with the words of `placement.policy`."""
POLICIES: Final = (
    *("scarcity", "fragmentation", "binpack", "spread", "mutex", "topology", "least-utilised"),
    *("best-fit", "first-fit"),
)
CHOSEN_ENV: Final = "HAMI_VGPU_UUID"
"""Variable that tells a container which devices were chosen for it, and chooses none."""
HAMI_PATH: Final = "/webhook"
NODE_POLICY: Final = "hami.io/node-scheduler-policy"
"""Pod annotation: how nodes are compared, `binpack` or `spread`; HAMi's scheduler reads it too."""
DEVICE_POLICY: Final = "hami.io/gpu-scheduler-policy"
"""Pod annotation: how the cards of a node are chosen, a list such as `mutex,binpack`; HAMi's
scheduler reads it too."""
WEIGHTS: Final = "hami.io/device-scoring-weights"
"""Pod annotation: how much slots, cores and memory count in that, such as
`slot=1,core=2,memory=3`."""
DEVICE_CORDON: Final = "hami.io/device-cordon"
"""Node annotation: devices, separated by commas, that get no new Pods."""
ALLOCATED: Final = "hami.io/vgpu-devices-allocated"
"""Pod annotation, by HAMi's scheduler: the NVIDIA devices of the Pod, "uuid,type,MiB,cores:…;…"."""
HAMI_ALLOCATIONS: Final = (
    "hami.io/vgpu-node",
    "hami.io/vgpu-time",
    "hami.io/bind-phase",
    "hami.io/bind-time",
)
"""Pod annotations in which HAMi's scheduler records what it did, whatever the accelerator."""
GROUP_LABELS: Final = (
    "jobset.sigs.k8s.io/jobset-name",
    "leaderworkerset.sigs.k8s.io/name",
    "ray.io/cluster",
    "training.kubeflow.org/job-name",
    "volcano.sh/job-name",
    "scheduling.x-k8s.io/pod-group",
    "batch.kubernetes.io/job-name",
    "job-name",
)
"""Pod labels by which controllers name what Pods are parts of one thing, the widest first."""
WRITTEN: Final = (ORIGINAL_REQUEST, DECISION, OVERSUBSCRIPTION, INJECTED)
"""Pod annotations that admission itself writes."""
STEERING: Final = (SCHEDULING_POLICY, NODE_POLICY, DEVICE_POLICY, WEIGHTS)
"""Pod annotations by which any vendor's devices are chosen."""

KEPT_PREFIXES: Final = ("berth.dev/", "hami.io/")
"""Of annotations in memory: ours, and HAMi's, whose keys depend on its configuration."""

# Volcano's (https://volcano.sh, and its vGPU device plugin).
VOLCANO_QUEUE: Final = "scheduling.volcano.sh/queue-name"
"""Pod annotation: the Pod's queue. Berth keeps it; a conversion can set one in Pods without."""
VOLCANO_GROUPS: Final = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""Pod annotations: the PodGroup, which has a queue of its own."""
VOLCANO_APART: Final = "volcano.sh/vgpu-podgroup-policy"
"""Pod annotation: with `spread`, the Pods of a PodGroup share no card."""
VOLCANO_PLANNED: Final = tuple(
    f"volcano.sh/{name}"
    for name in (
        *("preemptable", "cooldown-time", "revocable-zone", "qos-level"),
        *("jdb-min-available", "jdb-max-unavailable"),
    )
)
"""Pod annotations by which Volcano's scheduler evicts Pods, or spares them."""
VOLCANO_REGISTER: Final = "volcano.sh/node-vgpu-register"
STACKS: Final = {"hami": "hami.io/", "volcano": "volcano.sh/"}
"""Stacks, and how the annotation begins in which the agent of each lists a node's cards."""
PLAIN_STACK: Final = "plain"  # the device plugin of the vendor alone, which lists none
VOLCANO_ALLOCATED: Final = "volcano.sh/vgpu-ids-new"
VOLCANO_ALLOCATIONS: Final = (
    VOLCANO_ALLOCATED,
    "volcano.sh/devices-to-allocate",
    "volcano.sh/vgpu-node",
    "volcano.sh/vgpu-time",
    "volcano.sh/bind-phase",
    "volcano.sh/bind-time",
)

# KAI's.
KAI_SCHEDULER: Final = "kai-scheduler"
KAI_QUEUE: Final = "kai.scheduler/queue"
"""Pod label: the Pod's queue. Only KAI's scheduler reads it."""
KAI_NODE_POOL: Final = "kai.scheduler/node-pool"
"""Pod label: the nodes to which the Pod may go, by their label of the same name. Only KAI's
scheduler reads it."""
KAI_FRACTION: Final = "gpu-fraction"
"""Pod annotation: the part of a card that the Pod wants, more than 0 and less than 1."""
KAI_MEMORY: Final = "gpu-memory"
"""Pod annotation: instead of `gpu-fraction`, MiB of the card's memory."""
KAI_DEVICES: Final = "gpu-fraction-num-devices"
"""Pod annotation: of how many cards; default 1."""
KAI_CONTAINER: Final = "gpu-fraction-container-name"
"""Pod annotation: for which container; default: the first."""
KAI_MPS: Final = "mps"
"""Pod annotation: with `true`, the card is shared by NVIDIA's MPS."""
KAI_ASKING: Final = (KAI_FRACTION, KAI_MEMORY)
KAI_ANNOTATIONS: Final = (KAI_FRACTION, KAI_MEMORY, KAI_DEVICES, KAI_CONTAINER)

# The vGPU manager's.
VISIBLE_DEVICES: Final = "CUDA_VISIBLE_DEVICES"

SYSTEM_NAMESPACES: Final = (
    *("kube-system", "kube-public", "kube-node-lease", "volcano-system", "hami-system"),
    *("kai-scheduler", "kai-resource-reservation", "gpu-operator"),
)
"""Whose Pods a conversion never touches."""

# Kubernetes' own.
DEFAULT_SCHEDULER: Final = "default-scheduler"
QUOTA_LIMITS: Final = "limits."
"""How a ResourceQuota's entries begin that HAMi, and so we, hold to."""
QUOTA_REQUESTS: Final = "requests."
"""How those begin that Kubernetes keeps itself, as long as it sees the names."""
MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"
LIMIT_RANGER: Final = "kubernetes.io/limit-ranger"
"""Pod annotation, by the API server: what a LimitRange set in which container."""
NAMESPACE_NAME_LABEL: Final = "kubernetes.io/metadata.name"
NODE_USER: Final = "system:node:"
NAME_LABEL: Final = "app.kubernetes.io/name"
REGISTRATION_GROUP: Final = "admissionregistration.k8s.io"
REGISTRATION_API: Final = f"{REGISTRATION_GROUP}/v1"
MUTATING: Final = "MutatingWebhookConfiguration"
VALIDATING: Final = "ValidatingWebhookConfiguration"
OS_LABEL: Final = "kubernetes.io/os"
HOST_LABEL: Final = "kubernetes.io/hostname"
"""Node label by which the affinity of Pods names the node."""
RACK_LABEL: Final = "topology.kubernetes.io/rack"
"""Node label that names the rack. There is no standard one: `placement.rackLabel` can name
another."""
NODE_CONDITIONS: Final = "node.kubernetes.io/"
"""How the keys of those taints begin that Kubernetes sets and takes away with a node's state."""
UNSCHEDULABLE: Final = f"{NODE_CONDITIONS}unschedulable"
"""Key of the taint of a cordoned node; its effect is NoSchedule."""
REQUIRED_AFFINITY: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED_AFFINITY: Final = "preferredDuringSchedulingIgnoredDuringExecution"
NODE_TERMS: Final = "nodeSelectorTerms"

MUTATE_PATH: Final = "/mutate"
VALIDATE_PATH: Final = "/validate"
ALLOCATIONS_PATH: Final = "/allocations"
INJECT_PATH: Final = "/inject"
AUDIT_PATH: Final = "/audit"
"""Before one of these: decide and tell, and do nothing."""
