"""What placement answers: where a Pod goes and what it holds there, or why it goes nowhere."""

from collections.abc import Mapping
from enum import Enum

import msgspec

from berth.model.said import Facts, Said


class Hold(msgspec.Struct, frozen=True):
    """A part of one card that a container holds. `device` counts within the node, from 0."""

    container: str
    device: int
    memory_mib: int
    cores: int
    profile: str = ""
    """The partition, where the card is cut into such, and its `slices` as bits."""
    slices: int = 0
    slots: int = 1
    """0 for what an init container needs beyond what is held of the card anyway."""
    own: tuple["Hold", ...] = ()
    """All that such an init container itself gets there, of which this is the rest."""


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """All that one Pod holds on a node: what a snapshot charges and gives back."""

    node: str
    cpu_milli: int = 0
    memory_mib: int = 0
    other: dict[str, int] = {}
    holds: tuple[Hold, ...] = ()
    workload: str = ""
    """Its class, which its cards then carry; `group` is the Job or the like that it is of."""
    group: str = ""


class Misfit(Enum):
    """Why a node does not fit; the order is the order in which it is asked."""

    NOT_READY = "not ready, or cordoned"
    NOT_SELECTED = "not selected by the Pod's node selector or affinity"
    TAINTED = "a taint that the Pod does not tolerate"
    NO_SUCH_CARD = "no healthy card that it accepts"
    CARDS_TOO_SMALL = "a large enough card"
    TOO_FEW_CARDS = "cards large enough"
    CPU = "milli CPU"
    MEMORY = "MiB of memory"
    PODS = "Pods"
    OTHER = "another resource"
    NUMA = "free cards of one NUMA node"
    APART = "beside a class of workload that it must not be beside"
    FILTERED = "no free card passes a filter"
    TOGETHER = "its containers fit one by one, not side by side"
    CARDS = "free cards"


class Lack(Enum):
    """What one card has too little of: `Without.resource` where the reason is about one card."""

    MEMORY = "MiB of one card"
    CORES = "percent of one card's cores"
    SLOTS = "free slots of one card"
    PLACES = "places for such a partition of one card"


_LACKS: Mapping[Misfit, str] = {
    Misfit.NOT_READY: "part.not-ready",
    Misfit.NOT_SELECTED: "part.not-selected",
    Misfit.TAINTED: "part.tainted",
    Misfit.NO_SUCH_CARD: "part.no-such-card",
    Misfit.TOO_FEW_CARDS: "part.too-few",
    Misfit.CPU: "part.cpu",
    Misfit.MEMORY: "part.memory",
    Misfit.PODS: "part.pods",
    Misfit.OTHER: "part.resource",
    Misfit.NUMA: "part.numa",
    Misfit.APART: "part.apart",
    Misfit.FILTERED: "part.filtered",
    Misfit.TOGETHER: "part.together",
    Misfit.CARDS: "part.cards",
}
_LACKS_FOR_GOOD: Mapping[Misfit, str] = {
    Misfit.CPU: "part.cpu-in-all",
    Misfit.MEMORY: "part.memory-in-all",
    Misfit.OTHER: "part.resource-in-all",
}
_OF_ONE_CARD: Mapping[str, str] = {
    Lack.MEMORY.value: "part.card",
    Lack.CORES.value: "part.card-cores",
    Lack.SLOTS.value: "part.card-slots",
    Lack.PLACES.value: "part.card-places",
}


class Without(msgspec.Struct, frozen=True):
    """A class of nodes that do not fit, for one reason, and the one that misses least."""

    reason: Misfit
    nodes: int
    waiting_helps: bool
    """Whether it could fit once others have left; else no such node ever fits."""
    nearest: str
    """The name of the node that misses least."""
    wanted: int = 0
    has: int = 0
    """What the nearest has of what is wanted: milli CPU, MiB, Pods, or cards that suffice. Where
    waiting is vain, it is what that has in all, else what of it is free."""
    resource: str = ""
    """What there is too little of where the reason alone does not say it: another resource by its
    name, or a `Lack`; or which filter."""

    def lack(self) -> Said:
        """Say what they lack, how many they are, and how near the nearest of them is."""
        facts: Facts = {
            "nodes": self.nodes,
            "nearest": self.nearest,
            "wanted": self.wanted,
            "has": self.has,
            "resource": self.resource,
        }
        if self.reason is Misfit.CARDS and self.resource:
            return Said(_OF_ONE_CARD[self.resource], facts)
        if self.reason is Misfit.CARDS_TOO_SMALL:
            cores = self.resource == Lack.CORES.value
            return Said("part.too-few-cores" if cores else "part.too-small", facts)
        if not self.waiting_helps and self.reason in _LACKS_FOR_GOOD:
            return Said(_LACKS_FOR_GOOD[self.reason], facts)
        return Said(_LACKS[self.reason], facts)

    @property
    def said(self) -> Said:
        """The same, and whether waiting can help."""
        return Said("place.later" if self.waiting_helps else "place.never", {"why": self.lack()})

    def __str__(self) -> str:
        return self.said.text()


class Candidate(msgspec.Struct, frozen=True):
    """A node that fits, what would be held there, and how good it is.

    A higher score is better, within one policy; -1e18 is of a node that it has not come to yet.
    """

    allocation: Allocation
    score: float

    @property
    def node(self) -> str:
        """Its name."""
        return self.allocation.node


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """Where a Pod goes: the best node with its cards, and the next ones, best first."""

    allocation: Allocation
    candidates: tuple[Candidate, ...]
    """The best first; at most as many as were asked for."""
    nodes: tuple[str, ...]
    """The same by name alone, of which more may be asked for."""
    fitting: int
    """How many nodes fit in all."""
    without: tuple[Without, ...]


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """No node fits now."""

    without: tuple[Without, ...]

    @property
    def waiting_helps(self) -> bool:
        """Whether it may fit once others have left."""
        return any(some.waiting_helps for some in self.without)
