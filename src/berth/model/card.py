"""The kinds of cards that a cluster has, as far as a request can be held against them."""

from collections.abc import Iterable, Sequence

import msgspec

from berth.model.device import Device


class Card(msgspec.Struct, frozen=True):
    """One model of one accelerator."""

    vendor: str
    model: str
    memory_mib: int
    most: int = 0
    """How many cards of its vendor the largest node with one of it has; 0: not known."""


def known(nodes: Iterable[Sequence[Device]]) -> tuple[Card, ...]:
    """Return what there is, in an order of its own; cards whose memory is not told are left out."""
    found: dict[tuple[str, str, int], int] = {}
    for devices in nodes:
        counts: dict[str, int] = {}
        for device in devices:
            counts[device.vendor] = counts.get(device.vendor, 0) + 1
        for device in devices:
            if device.memory_mib > 1:
                kind = (device.vendor, device.model, device.memory_mib)
                found[kind] = max(found.get(kind, 0), counts[device.vendor])
    return tuple(Card(*kind, most) for kind, most in sorted(found.items()))
