"""The fields of Kubernetes objects that are kept: read straight from the bytes, the rest skipped.

A whole Pod as dictionaries takes ten times the memory and the time. None of these values can be
in a cycle, nor hold what can, so the garbage collector need not look at them (`gc=False`, and
tuples for lists): however many there are, a collection takes no longer.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from berth import names
from berth.vendors import VENDORS

_KEPT = (
    *names.KEPT_PREFIXES,
    names.MIRROR_ANNOTATION,
    *(
        key
        for vendor in VENDORS
        for key in (
            *vendor.records.register,
            *vendor.records.allocated,
            *vendor.selectors.other,
        )
        if not key.startswith(names.KEPT_PREFIXES)
    ),
)


class Metadata(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """What every object has."""

    name: str
    namespace: str = ""
    """Empty for what is in no namespace."""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    """Those that we read; others may hold 256 KiB."""

    def __post_init__(self) -> None:
        """Forget the annotations that nobody here reads."""
        if self.annotations:
            kept = {key: text for key, text in self.annotations.items() if key.startswith(_KEPT)}
            msgspec.structs.force_setattr(self, "annotations", kept)


class Object(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What can be kept: add the fields that you need."""

    metadata: Metadata

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name: no two objects of a resource share them at one time."""
        return self.metadata.namespace, self.metadata.name


class Amounts(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Quantities by resource name, as the API server writes them."""

    limits: Mapping[str, str] = {}
    requests: Mapping[str, str] = {}


class Security(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a container may do on its node."""

    privileged: bool | None = None


class Container(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """An app container, an init container, or with `restart_policy` Always a sidecar."""

    name: str
    resources: Amounts = Amounts()
    restart_policy: str | None = None
    security_context: Security | None = None


class Os(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The operating system that a Pod is for."""

    name: str = ""


class PodSpec(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """Where a Pod is and what it asks for."""

    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""
    """Empty until it is scheduled."""
    scheduler_name: str = ""
    os: Os | None = None
    node_selector: Mapping[str, str] = {}
    resources: Amounts = Amounts()
    """Of the Pod as a whole (KEP-2837)."""
    overhead: Mapping[str, str] = {}
    """What its RuntimeClass adds (KEP-688)."""


class Ended(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """How a container ended."""

    exit_code: int


class State(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Whether a container has ended."""

    terminated: Ended | None = None


class Requests(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the kubelet has in force for a container."""

    requests: Mapping[str, str] = {}


class ContainerStatus(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """How far a container has come, and what it holds while it is resized in place (KEP-1287)."""

    name: str
    state: State = State()
    resources: Requests | None = None
    allocated_resources: Mapping[str, str] = {}
    """What the kubelet has granted."""

    def holds_as(self, asked: Mapping[str, str]) -> bool:
        """Whether it holds what it asks for, as nearly all do: nothing of it is resized."""
        held = self.resources.requests if self.resources else asked
        return held.items() <= asked.items() and self.allocated_resources.items() <= asked.items()


class Condition(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One thing that is so, is not so, or is not known."""

    type: str
    status: str = ""
    reason: str = ""


UNSCHEDULABLE = Condition("PodScheduled", "False")
"""The scheduler has looked for a node and found none, or may not look yet; the reason is left out.
"""
INFEASIBLE = Condition("PodResizePending", "True", "Infeasible")
"""Its node can never give what it asks for since it was resized."""


OVER = frozenset({"Succeeded", "Failed"})
"""Phases in which a Pod holds nothing more; one that is terminating holds all (HAMi#1719)."""


class PodStatus(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """How far a Pod has come."""

    phase: str = ""
    """Pending, Running, Succeeded, Failed or Unknown."""
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    """Only of containers that hold something else than they ask for."""
    conditions: tuple[Condition, ...] = ()
    """Only that no node was found for it, and that its resize is infeasible, where that is so."""

    def __post_init__(self) -> None:
        """Forget the conditions that nobody here reads."""
        if self.conditions:
            kept = [
                UNSCHEDULABLE
                for one in self.conditions
                if one.status == "False" and one.type == "PodScheduled"
            ]
            if INFEASIBLE in self.conditions:
                kept.append(INFEASIBLE)
            msgspec.structs.force_setattr(self, "conditions", tuple(kept))

    @property
    def over(self) -> bool:
        """Whether the Pod has ended."""
        return self.phase in OVER

    @property
    def init_ended(self) -> set[str]:
        """The init containers that have ended well: once all have, HAMi gives back theirs."""
        return {
            one.name
            for one in self.init_container_statuses
            if one.state.terminated and one.state.terminated.exit_code == 0
        }


class Pod(Object, frozen=True, gc=False, omit_defaults=True):
    """A Pod of the cluster."""

    spec: PodSpec
    status: PodStatus = PodStatus()

    def __post_init__(self) -> None:
        """Forget the statuses of containers that hold what they ask for.

        Where a resize is infeasible all are kept: what a container asks for and has not, it does
        not hold.
        """
        if self.status.container_statuses and INFEASIBLE not in self.status.conditions:
            asked = {one.name: one.resources.requests for one in self.spec.containers}
            kept = [
                one
                for one in self.status.container_statuses
                if not one.holds_as(asked.get(one.name, {}))
            ]
            msgspec.structs.force_setattr(self.status, "container_statuses", tuple(kept))


class Affinity(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What of a Pod's affinity is about nodes, as it came."""

    node_affinity: dict[str, Any] | None = None


class AskingSpec(PodSpec, frozen=True, gc=True, omit_defaults=True, rename="camel"):
    """The same with what it asks of nodes, for those who need that of every Pod."""

    affinity: Affinity | None = None
    tolerations: tuple[dict[str, Any], ...] = ()


class AskingPod(Pod, frozen=True, gc=True, omit_defaults=True):
    """A Pod of the cluster with what it asks of nodes."""

    spec: AskingSpec


class Taint(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What keeps Pods off a Node."""

    key: str
    value: str = ""
    effect: str = ""


class NodeSpec(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What an administrator says of a Node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the kubelet says of a Node."""

    allocatable: Mapping[str, str] = {}
    conditions: tuple[Condition, ...] = ()


class Node(Object, frozen=True, gc=False, omit_defaults=True):
    """A Node of the cluster."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class QuotaSpec(msgspec.Struct, frozen=True, gc=False):
    """What a namespace may use."""

    hard: Mapping[str, str] = {}


class ResourceQuota(Object, frozen=True, gc=False):
    """A ResourceQuota of the cluster."""

    spec: QuotaSpec = QuotaSpec()


class Range(msgspec.Struct, frozen=True, gc=False):
    """What one kind of thing may have in a namespace."""

    max: Mapping[str, str] = {}
    min: Mapping[str, str] = {}
    ratio: Mapping[str, str] = msgspec.field(default_factory=dict, name="maxLimitRequestRatio")


class RangeSpec(msgspec.Struct, frozen=True, gc=False):
    """What a LimitRange says of each kind."""

    limits: tuple[Range, ...] = ()


class LimitRange(Object, frozen=True, gc=False):
    """A LimitRange of the cluster."""

    spec: RangeSpec = RangeSpec()


class DeviceClassSpec(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a class of DRA's devices is for."""

    extended_resource_name: str | None = None
    """The extended resource that is mapped to claims of the class."""


class DeviceClass(Object, frozen=True, gc=False):
    """A DeviceClass of the cluster (resource.k8s.io/v1)."""

    spec: DeviceClassSpec = DeviceClassSpec()


class RuntimeClass(Object, frozen=True, gc=False):
    """A RuntimeClass of the cluster (node.k8s.io/v1): that it is there is all that counts."""
