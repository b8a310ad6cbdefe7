"""A Node of the cluster as placement counts it: what is allocatable, and its devices."""

from collections.abc import Sequence
from itertools import islice

import msgspec

from berth import names
from berth.cluster import projections
from berth.dialects import counted, registered
from berth.model import holding
from berth.model.device import Device
from berth.model.node import Node, Taint
from berth.model.quantity import MIB
from berth.model.vendor import Vendor

MOST_CARDS = 256
"""Of one node: the ledger's tables are as wide as the node with the most, and 4,096 would take 2 GB
where there are 5,000 nodes. Eight cards that 32 Pods share by time-slicing are as many."""
_CORDON = Taint(names.UNSCHEDULABLE)


def read(node: projections.Node, vendors: Sequence[Vendor]) -> tuple[Node, tuple[str, ...]]:
    """Return a node and all that is wrong with it, which never costs the node.

    Memory is rounded down to MiB. What vendors count as cards is no resource beside them.
    """
    found, wrong = holding.read(node.status.allocatable)
    problems = [f"status.allocatable[{name}]: no quantity" for name in wrong]
    devices, more = _devices(node, found, vendors)
    owned = {name for vendor in vendors for name in vendor.resources}
    standing = {holding.CPU, holding.MEMORY, holding.PODS} | owned
    return Node(
        name=node.metadata.name,
        cpu_milli=found.get(holding.CPU, 0),
        memory_mib=found.get(holding.MEMORY, 0) // MIB,
        pods=found.get(holding.PODS, 0),
        other={name: amount for name, amount in found.items() if name not in standing},
        labels=dict(node.metadata.labels),
        taints=_taints(node),
        ready=_ready(node),
        devices=devices,
    ), (*problems, *more)


def _ready(node: projections.Node) -> bool:
    ready = any(one.type == "Ready" and one.status == "True" for one in node.status.conditions)
    return ready and node.metadata.deletion_timestamp is None


def _taints(node: projections.Node) -> tuple[Taint, ...]:
    """Return the taints, with that of a cordoned node also before Kubernetes has set it.

    Its scheduler judges `spec.unschedulable` so (the plugin NodeUnschedulable).
    """
    taints = [Taint(one.key, one.value, one.effect) for one in node.spec.taints]
    if node.spec.unschedulable and _CORDON not in taints:
        taints.append(_CORDON)
    return tuple(taints)


def _stopped(node: projections.Node, resources: dict[str, int], vendor: Vendor) -> bool:
    """Whether the device plugin has stopped that wrote the annotation, which it leaves behind.

    The kubelet then says that 0 devices are allocatable, and takes no Pod that asks for one (HAMi
    2.10 reads it so too). Volcano's resources and annotation are others.
    """
    first = vendor.records.register[0]
    return first in node.metadata.annotations and resources.get(vendor.count) == 0


def _devices(
    node: projections.Node, resources: dict[str, int], vendors: Sequence[Vendor]
) -> tuple[tuple[Device, ...], list[str]]:
    """Return the devices of all vendors; what an annotation lists is not counted once more."""
    devices: dict[str, Device] = {}
    problems: list[str] = []
    name, labels = node.metadata.name, node.metadata.labels
    for vendor in vendors:
        found = registered.devices(name, node.metadata.annotations, vendor)
        if found and _stopped(node, resources, vendor):
            cards = tuple(msgspec.structs.replace(one, healthy=False) for one in found[0])
            found = (
                cards,
                (*found[1], f"status.allocatable[{vendor.count}]: 0, so no card is given"),
            )
        if found is None:
            found = counted.devices(name, resources, labels, vendor)
        problems += found[1]
        for device in found[0]:
            if device.uuid in devices:
                other = devices[device.uuid].vendor
                problems.append(
                    f"{device.uuid} is of {other} and of {vendor.name}; the first counts"
                )
            else:
                devices[device.uuid] = device
    if len(devices) > MOST_CARDS:
        problems.append(f"{len(devices)} devices are announced; the first {MOST_CARDS} count")
    return tuple(islice(devices.values(), MOST_CARDS)), problems
