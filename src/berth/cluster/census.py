"""Which kinds of cards the fleet has, kept up node by node."""

from collections import Counter
from collections.abc import Sequence

from berth.model.card import Card, merged, on_node
from berth.model.device import Device


class Census:
    """Counts the nodes that have a kind of card; kinds are few, however many nodes there are."""

    def __init__(self) -> None:
        """Know of no card."""
        self.cards: tuple[Card, ...] = ()
        """What there is: the same object until it is something else, so that `is` tells."""
        self._nodes = Counter[Card]()

    def change(self, old: Sequence[Device], new: Sequence[Device]) -> None:
        """Take a node's devices in place of those that it had; none are of no node."""
        before, now = on_node(old), on_node(new)
        if before == now:
            return
        self._nodes.update(now)
        self._nodes.subtract(before)
        self._nodes = +self._nodes  # without what no node has any more
        cards = merged(self._nodes)
        if cards != self.cards:
            self.cards = cards
