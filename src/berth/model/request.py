"""What one Pod wants of a node and of its cards, in the terms that placement counts in."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from berth import names
from berth.model.device import Number
from berth.model.eligibility import ANYWHERE, Eligibility

if TYPE_CHECKING:
    from berth.model.snapshot import Bools, Ints, Snapshot

WHOLE = 100
"""Cores (percent) that ask for a card alone."""


class CardTest(Protocol):
    """Something that a card must pass beside what is asked of it. Hashable, equal if alike."""

    @property
    def name(self) -> str:
        """What people call it."""

    def passing(self, snapshot: "Snapshot", rows: "Ints", good: "Bools") -> "Bools":
        """Return which of the good cards of these rows pass as they are now."""

    def lasting(self, snapshot: "Snapshot", rows: "Ints", good: "Bools") -> "Bools":
        """Return which of them would pass with nothing on them."""


class DeviceRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one container wants of each of `count` different cards of one vendor.

    Memory is MiB, else percent of the card, else all of it. `cores` is percent of a card's
    compute: 0 is a share without a limit, 100 the card alone.
    """

    vendor: str
    count: Number = 1
    memory_mib: Number | None = None
    memory_percent: Number | None = None
    cores: Number = 0
    slices: Number = 0
    """So many slices of a card that is cut into equal ones; 0: as memory and cores say."""
    models: tuple[str, ...] = ()
    """Words of which the card's model must contain one; empty is any."""
    models_not: tuple[str, ...] = ()
    uuids: tuple[str, ...] = ()
    uuids_not: tuple[str, ...] = ()
    mode: str = ""
    """How the card must be shared, such as "mig"; "" is any way."""
    stack: str = ""
    """Only cards that this sharing stack hands out, or of which it is not told; "" is any."""
    same_numa: bool = False
    linked: bool = False
    """Of several cards, the set with the best links is wanted; of one, the least linked card."""
    idle: bool = False
    """Only cards that nobody holds."""
    order: tuple[str, ...] = ()
    """How cards come, the first word first: binpack, spread, numa. None: as the policy has it."""
    weights: tuple[Number, Number, Number] = (1, 1, 1)
    """Of slots, cores and memory in how full a card is, for `order`."""
    beside_not: tuple[str, ...] = ()
    """Classes of workload that must not be on its cards."""
    where: tuple[CardTest, ...] = ()
    """What its cards must pass besides."""

    @property
    def whole(self) -> bool:
        """Whether it wants cards alone."""
        return self.cores >= WHOLE


class Shape(msgspec.Struct, frozen=True):
    """What decides how good a node is for a Pod: Pods of one shape get the same scores."""

    cpu_milli: int
    request: DeviceRequest | None


Named: TypeAlias = tuple[str, DeviceRequest]
"""The name of a container, and what it wants."""
Sidecars: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Init containers by name, each with the sidecars that run beside it already."""


class PodRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one Pod wants. CPU, memory and others are of the Pod: the sum or the init peak."""

    cpu_milli: Number = 0
    memory_mib: Number = 0
    other: dict[str, Number] = {}
    devices: tuple[Named, ...] = ()
    """One after another, each holding what it gets."""
    init_devices: tuple[Named, ...] = ()
    """The same for init containers, that run one by one before the others and give back."""
    sidecars: Sidecars = ()
    """Of those, such as have containers of `devices` beside them."""
    eligibility: Eligibility = ANYWHERE
    workload: str = ""
    """Its class, where some classes must not share a card; empty goes with all."""
    group: str = ""
    """The Job or the like that it is a part of: `topology` keeps its Pods together."""
    rack: str = names.RACK_LABEL
    """The node label that names the rack, for the same."""

    @property
    def requests(self) -> list[DeviceRequest]:
        """What each of its containers wants, init containers last."""
        return [request for _, request in (*self.devices, *self.init_devices)]

    @property
    def shape(self) -> Shape:
        """Its CPU beside the largest of its device requests."""
        return Shape(self.cpu_milli, max(self.requests, key=_size, default=None))

    def beside(self, container: str) -> tuple[str, ...]:
        """Return the containers of `devices` that run beside an init container already."""
        return next((names for name, names in self.sidecars if name == container), ())

    def each(self, read: Callable[[DeviceRequest], DeviceRequest]) -> "PodRequest":
        """Return the same with what each container wants as it is read."""
        devices, init = (
            tuple([(name, read(request)) for name, request in some])
            for some in (self.devices, self.init_devices)
        )
        return msgspec.structs.replace(self, devices=devices, init_devices=init)


def _size(request: DeviceRequest) -> tuple[int, int, int]:
    memory = request.memory_mib or 1 << 30
    return (request.count, request.cores, memory)
