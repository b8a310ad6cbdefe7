"""Every string that the outside knows us by, or that we know the outside by, written once."""

from typing import Final

# Ours.
ORIGINAL_REQUEST: Final = "berth.dev/original-request"
"""Pod annotation: versioned JSON with what each container asked for before we filled it in."""
DECISION: Final = "berth.dev/decision"
"""Pod annotation: JSON with the decision about it: its id, by which the Pod is known when it is

stored, where it goes, and why."""
CONFIG_CHECKSUM: Final = "berth.dev/config-checksum"
"""Annotation of our own Pods: new settings make new Pods."""
WEBHOOK: Final = "gpu.berth.dev"
WEBHOOK_OTHERS: Final = "others.berth.dev"
WEBHOOK_INJECT_SUFFIX: Final = "inject.berth.dev"
WEBHOOK_VALIDATE: Final = "validate.berth.dev"
WEBHOOK_ALLOCATIONS: Final = "allocations.berth.dev"
WEBHOOK_DEBUG: Final = "debug.berth.dev"
WEBHOOK_WORKLOADS: Final = "workloads.berth.dev"
FIELD_MANAGER: Final = "berth"

# HAMi's (docs/reference/differences.md says where we read them).
WEBHOOK_OPT_OUT: Final = "hami.io/webhook"
"""Label of a Pod or a namespace: with the value `ignore`, it is left alone."""
WEBHOOK_OPT_OUT_VALUE: Final = "ignore"
INJECT_LABEL: Final = "hami-webhook/inject"
"""Label of a namespace: `enabled`, where `registration.onlyLabelledNamespaces` asks for it."""
INJECT_LABEL_VALUE: Final = "enabled"
INJECTED: Final = "hami.io/injected"
"""Pod annotation: "true" where something was added that its author did not ask for."""
SCHEDULING_POLICY: Final = "hami.io/scheduling-policy"
"""Pod annotation: the placement policy, by name."""
CHOSEN_ENV: Final = "HAMI_VGPU_UUID"
"""Variable that tells a container which devices were chosen for it, and chooses none."""
HAMI_PATH: Final = "/webhook"
NODE_POLICY: Final = "hami.io/node-scheduler-policy"
"""Pod annotation: how HAMi's scheduler chooses among nodes, `binpack` or `spread`."""
DEVICE_POLICY: Final = "hami.io/gpu-scheduler-policy"
"""Pod annotation: how it chooses among the cards of a node, a list such as `mutex,binpack`."""
WEIGHTS: Final = "hami.io/device-scoring-weights"
"""Pod annotation: what counts how much in that, `slot=1,core=2,memory=3`, say."""
DEVICE_CORDON: Final = "hami.io/device-cordon"
"""Node annotation: a comma list of devices that get nothing new."""
ALLOCATED: Final = "hami.io/vgpu-devices-allocated"
"""Pod annotation of HAMi's scheduler: the NVIDIA devices given, "uuid,type,MiB,cores:…;…"."""
HAMI_ALLOCATIONS: Final = (
    "hami.io/vgpu-node",
    "hami.io/vgpu-time",
    "hami.io/bind-phase",
    "hami.io/bind-time",
)
"""Pod annotations in which HAMi's scheduler records what it did, whatever the accelerator."""
WORKLOAD_CLASS: Final = "berth.dev/workload-class"
"""Pod label or annotation: its class of workload, where settings have no other key."""
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
RACK_LABEL: Final = "topology.kubernetes.io/rack"
"""Node label that names the rack, where settings have no other: there is no standard one."""
HAMI_ANNOTATIONS: Final = (NODE_POLICY, DEVICE_POLICY, WEIGHTS)

KEPT_PREFIXES: Final = ("berth.dev/", "hami.io/")
"""Of annotations in memory: ours, and HAMi's, whose keys depend on its configuration."""
MIG_SLICES: Final = 8
"""The most slices of a card that partitions are laid on."""

# Kubernetes' own.
DEFAULT_SCHEDULER: Final = "default-scheduler"
QUOTA_LIMITS: Final = "limits."
"""How a ResourceQuota's entries begin that HAMi, and so we, hold to."""
MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"
NAMESPACE_NAME_LABEL: Final = "kubernetes.io/metadata.name"
NODE_USER: Final = "system:node:"
NAME_LABEL: Final = "app.kubernetes.io/name"
MUTATING: Final = "MutatingWebhookConfiguration"
VALIDATING: Final = "ValidatingWebhookConfiguration"
OS_LABEL: Final = "kubernetes.io/os"
HOST_LABEL: Final = "kubernetes.io/hostname"
"""Label of a Node by which Pods name it in affinity."""
REQUIRED_AFFINITY: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED_AFFINITY: Final = "preferredDuringSchedulingIgnoredDuringExecution"
NODE_TERMS: Final = "nodeSelectorTerms"

MUTATE_PATH: Final = "/mutate"
VALIDATE_PATH: Final = "/validate"
INJECT_PATH: Final = "/inject"
AUDIT_PATH: Final = "/audit"
"""Before one of these: decide and tell, and do nothing."""
