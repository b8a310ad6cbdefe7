"""One accelerator of a node, as its device plugin announces it."""

import msgspec


class Profile(msgspec.Struct, frozen=True, rename="camel"):
    """A partition that a card can be cut into."""

    name: str
    memory_mib: int
    cores: int
    size: int
    """How many of the card's slices it takes, and `starts` where it may begin."""
    starts: tuple[int, ...]


class Device(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A card, or a part of one that is handed out as a card."""

    uuid: str
    vendor: str
    model: str
    memory_mib: int
    cores: int = 100
    """Percent of compute that may be handed out; 100 is one card's worth."""
    slots: int = 10
    """How many containers may hold it at once."""
    numa: int = -1
    """NUMA node; -1 is not known."""
    healthy: bool = True
    """False also for a card that is cordoned: nothing new is placed there."""
    mode: str = ""
    """How it is shared, in its vendor's word such as "mig" or "hami-core"; "" is not told."""
    profiles: tuple[Profile, ...] = ()
    """The partitions that it can be cut into, where it is handed out in such alone."""
    links: tuple[int, ...] = ()
    """How well it is linked to each card of its node, in their order; higher is better."""

    @property
    def kind(self) -> "Kind":
        """What it is, apart from which one it is."""
        return Kind(self.vendor, self.model, self.memory_mib, self.cores, self.mode, self.profiles)


class Kind(msgspec.Struct, frozen=True):
    """Cards of one kind are alike to every request that names no UUID."""

    vendor: str
    model: str
    memory_mib: int
    cores: int
    mode: str = ""
    profiles: tuple[Profile, ...] = ()
