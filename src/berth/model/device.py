"""One accelerator of a node, as its device plugin announces it."""

from typing import Annotated

import msgspec

Number = Annotated[int, msgspec.Meta(ge=0, le=2**52)]
"""An amount as a document may say it: sums of many still are whole numbers of 64 bits."""
SLICES = 8
"""The most slices of a card that partitions are laid on."""
SLICED = "sliced"
"""The mode of a card that is cut into equal slices."""
Slices = Annotated[int, msgspec.Meta(ge=0, lt=1 << SLICES)]
"""Slices of a card, as bits."""


class Profile(msgspec.Struct, frozen=True, rename="camel"):
    """A partition that a card can be cut into."""

    name: str
    memory_mib: Number
    cores: Number
    size: Number
    """How many of the card's slices it takes, and `starts` where it may begin."""
    starts: tuple[Number, ...]

    def __post_init__(self) -> None:
        """Refuse what lies on no slices. Raises ValueError."""
        if not 0 < self.size <= SLICES - max(self.starts, default=0):
            raise ValueError(f"a partition does not lie on {SLICES} slices")


class Device(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A card, or a part of one that is handed out as a card."""

    uuid: str
    vendor: str
    model: str
    memory_mib: Number
    cores: Number = 100
    """Percent of compute that may be handed out; 100 is one card's worth."""
    core_units: Number = 100
    """In how many units of its own those are counted in allocations of some vendors."""
    slots: Number = 10
    """How many containers may hold it at once."""
    numa: Annotated[int, msgspec.Meta(ge=-1, lt=2**31)] = -1
    """NUMA node; -1 is not known."""
    healthy: bool = True
    """False also for a card that is cordoned: nothing new is placed there."""
    mode: str = ""
    """How it is shared, in its vendor's word such as "mig" or "hami-core"; "" is not told."""
    stack: str = ""
    """The sharing stack whose device plugin hands it out: "hami", "volcano" or "plain"; "" is not
    told."""
    profiles: tuple[Profile, ...] = ()
    """The partitions that it can be cut into, where it is handed out in such alone."""
    links: tuple[Annotated[int, msgspec.Meta(ge=0, lt=2**31)], ...] = ()
    """How well it is linked to each card of its node, in their order; higher is better."""

    @property
    def kind(self) -> "Kind":
        """What it is, apart from which one it is."""
        sizes = self.memory_mib, self.cores
        return Kind(self.vendor, self.model, *sizes, self.mode, self.profiles, self.stack)


class Kind(msgspec.Struct, frozen=True):
    """Cards of one kind are alike to every request that names no UUID."""

    vendor: str
    model: str
    memory_mib: int
    cores: int
    mode: str = ""
    profiles: tuple[Profile, ...] = ()
    stack: str = ""
