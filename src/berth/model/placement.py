"""What placement answers: where a Pod goes and what it holds there, or why it goes nowhere."""

from enum import Enum

import msgspec


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


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """All that one Pod holds on a node: what a snapshot charges and gives back."""

    node: str
    cpu_milli: int = 0
    memory_mib: int = 0
    other: dict[str, int] = {}
    holds: tuple[Hold, ...] = ()


class Misfit(Enum):
    """Why a node does not fit; the order is the order in which it is asked."""

    NOT_READY = "not ready, or cordoned"
    NOT_SELECTED = "not selected by the Pod's node selector or affinity"
    TAINTED = "a taint that the Pod does not tolerate"
    NO_SUCH_CARD = "no healthy card that it accepts"
    CARDS_TOO_SMALL = "its cards are too small"
    TOO_FEW_CARDS = "cards large enough"
    CPU = "milli CPU"
    MEMORY = "MiB of memory"
    PODS = "Pods"
    OTHER = "another resource"
    CARDS = "free cards"


AMOUNTS = frozenset(Misfit) - {
    Misfit.NOT_READY,
    Misfit.NOT_SELECTED,
    Misfit.TAINTED,
    Misfit.NO_SUCH_CARD,
    Misfit.CARDS_TOO_SMALL,
}
"""The reasons of which a node has more or less."""


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
    """What the nearest has of what is wanted: milli CPU, MiB, Pods, or cards that suffice."""
    resource: str = ""

    def __str__(self) -> str:
        nodes = "1 node" if self.nodes == 1 else f"{self.nodes} nodes"
        later = "may fit later" if self.waiting_helps else "will never fit"
        what = self.resource or self.reason.value
        if self.reason not in AMOUNTS and not self.resource:
            return f"{nodes}: {what}; {later}"
        return f"{nodes}: {self.wanted} {what} wanted, {self.nearest} has {self.has}; {later}"


class Candidate(msgspec.Struct, frozen=True):
    """A node that fits, and how good it is: higher is better, within one policy."""

    node: str
    score: float


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """Where a Pod goes: the best node with its cards, and the next ones, best first."""

    allocation: Allocation
    candidates: tuple[Candidate, ...]
    """The best first; at most as many as were asked for."""
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
