"""A node: what it can give, and what it asks of the Pods that come."""

import msgspec

from berth.model.device import Device, Number


class Taint(msgspec.Struct, frozen=True, rename="camel"):
    """A taint of a node; `effect` is Kubernetes' word."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


class Node(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is allocatable on a node, before anything runs there."""

    name: str
    cpu_milli: Number
    memory_mib: Number
    pods: Number = 110
    other: dict[str, Number] = {}
    """Other resources by name, in Kubernetes' whole units: ephemeral storage, RDMA, ..."""
    labels: dict[str, str] = {}
    taints: tuple[Taint, ...] = ()
    ready: bool = True
    """Whether it is up; one that is cordoned has a taint, which Pods may tolerate."""
    devices: tuple[Device, ...] = ()
    rank: Number | None = None
    """Breaks ties, lowest first; None is one made from the name, the same everywhere."""
