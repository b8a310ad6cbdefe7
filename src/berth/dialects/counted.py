"""The devices of a Node that no annotation lists: counted from its resources and its labels.

HAMi's GetNodeDevices of each accelerator without a register annotation, and for plain device
plugins the labels of NVIDIA's GPU feature discovery. Ids are made up: `<node>-<word>-<index>`.
"""

from collections.abc import Mapping

from berth import names
from berth.dialects.encodings import NO_MEMORY
from berth.dialects.registered import Found
from berth.model.device import Device
from berth.model.records import Counted
from berth.model.vendor import Vendor

MOST = 4096
"""More cards than any node has: a larger count is a mistake of whoever wrote it."""
_SLICE = "-MIG-"
"""In a product label: the devices are partitions, all alike (MIG strategy `single`)."""


def devices(
    node: str, resources: Mapping[str, int], labels: Mapping[str, str], vendor: Vendor
) -> Found:
    """Return a vendor's devices by what a Node can give, and what is wrong with its labels.

    `resources` are whole numbers by name. Partitions of the MIG strategy `mixed` have resources
    of their own (nvidia.com/mig-1g.5gb): Kubernetes counts them, and they are no cards here.
    """
    rule = vendor.records.counted
    if rule is None or not resources.get(vendor.count):
        return (), ()
    whole = vendor.core_unit if rule.by_cores else 1
    total = resources.get(vendor.cores if rule.by_cores else vendor.count, 0)
    cards = -(-total // whole)
    if vendor.records.labels:
        return _labelled(node, cards, labels, vendor)
    if cards > MOST:
        return (), (_too_many(vendor, cards),)
    memory = _memory(rule, vendor, resources, max(1, total) / whole)
    return tuple(
        Device(
            uuid=f"{node}-{vendor.records.word}-{index}",
            vendor=vendor.name,
            model=vendor.name,
            memory_mib=memory,
            slots=rule.slots,
            numa=int(index >= cards // 2) if rule.numa_halves else -1,
        )
        for index in range(cards)
    ), ()


def _too_many(vendor: Vendor, cards: int) -> str:
    return f"status.allocatable[{vendor.count}]: {cards} are more cards than a node has"


def _memory(rule: Counted, vendor: Vendor, resources: Mapping[str, int], cards: float) -> int:
    if rule.memory_mib:
        return rule.memory_mib
    return int(vendor.mib(resources.get(vendor.memory, 0)) / cards) or NO_MEMORY


def _labelled(node: str, count: int, labels: Mapping[str, str], vendor: Vendor) -> Found:
    """Return what product, memory (MiB), count and replicas say: one label set for all cards.

    With time-slicing or MPS a card is announced once for each of its replicas. A Pod that asks for
    one device gets one of those, so each is a device here, with its part of the card's memory.
    """
    prefix, problems = vendor.records.labels, list[str]()

    def number(name: str, default: int) -> int:
        text = labels.get(prefix + name)
        if text is None:
            return default
        if text.isascii() and text.isdigit() and len(text) < 10:
            return int(text)
        problems.append(f"metadata.labels[{prefix}{name}]: {text[:40]} is no number")
        return default

    replicas = max(1, number("replicas", 1))
    announced = min(count, (number("count", count) or count) * replicas)
    memory = number("memory", 0) // replicas or NO_MEMORY
    if announced > MOST:
        return (), (*problems, _too_many(vendor, announced))
    product = labels.get(f"{prefix}product", vendor.name)
    found = tuple(
        Device(
            uuid=f"{node}-{vendor.records.word}-{_index(at, replicas)}",
            vendor=vendor.name,
            model=product,
            memory_mib=memory,
            slots=1,
            mode="mig" if _SLICE in product else "",
            stack=names.PLAIN_STACK,
        )
        for at in range(announced)
    )
    return found, tuple(problems)


def _index(at: int, replicas: int) -> str:
    """Name a card, or a replica of one as NVIDIA's plugin does: `0::3`."""
    return str(at) if replicas == 1 else f"{at // replicas}::{at % replicas}"
