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
    stack: str = ""
    """Which sharing stack hands it out, as of `Device.stack`."""

    def of(self, stack: str) -> bool:
        """Whether a Pod that is written for this stack may get one; "" is any."""
        return not (stack and self.stack) or self.stack == stack


def known(nodes: Iterable[Sequence[Device]]) -> tuple[Card, ...]:
    """Return what there is, in an order of its own; cards whose memory is not told are left out."""
    return merged(card for devices in nodes for card in on_node(devices))


def on_node(devices: Sequence[Device]) -> tuple[Card, ...]:
    """Return the cards of one node, each kind once: healthy or not, it has them."""
    counts: dict[str, int] = {}
    for device in devices:
        counts[device.vendor] = counts.get(device.vendor, 0) + 1
    kinds = {
        (one.vendor, one.model, one.memory_mib, one.stack) for one in devices if one.memory_mib > 1
    }
    return tuple(
        Card(vendor, model, memory, counts[vendor], stack)
        for vendor, model, memory, stack in sorted(kinds)
    )


def merged(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Return the cards of several nodes, each kind once, with the most that a node has."""
    found: dict[tuple[str, str, int, str], Card] = {}
    for card in cards:
        kind = (card.vendor, card.model, card.memory_mib, card.stack)
        if kind not in found or found[kind].most < card.most:
            found[kind] = card
    return tuple(card for _, card in sorted(found.items()))
