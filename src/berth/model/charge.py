"""What a Pod that is bound holds of its node, apart from how that node lists its cards now."""

from collections.abc import Iterable, Sequence
from enum import Enum

import msgspec

from berth.model.device import Device, Number, Slices
from berth.model.placement import Allocation, Hold
from berth.model.request import Sidecars


class Claim(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A part of one card that a container holds, by the card's UUID."""

    container: str
    """Empty where the record has more containers than the Pod."""
    uuid: str
    memory_mib: Number | None = None
    """None, as for cores: not known, and all of the card is held."""
    cores: Number | None = None
    own_units: bool = False
    """Whether the cores are in the card's own units, and not percent."""
    profile: str = ""
    slices: Slices = 0


class Source(Enum):
    """How we know which cards a Pod holds."""

    NONE = "none"
    """It asks for none."""
    RECORDED = "recorded"
    """The scheduler's allocation annotation says so."""
    DECIDED = "decided"
    """Our decision names its node: it holds those until the annotation comes."""
    GUESSED = "guessed"
    """Nothing says so: those that placement would take there."""


class Charge(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one Pod holds of its node."""

    namespace: str
    name: str
    uid: str
    node: str
    cpu_milli: Number = 0
    memory_mib: Number = 0
    other: dict[str, Number] = {}
    claims: tuple[Claim, ...] = ()
    source: Source = Source.NONE
    init: tuple[str, ...] = ()
    """Init containers that hold something; each ends before the app containers start."""
    sidecars: Sidecars = ()
    workload: str = ""
    """Its class, where some classes must not share a card."""
    group: str = ""
    """The Job or the like that it is of."""


def roles(init: Iterable[tuple[str, bool]]) -> tuple[tuple[str, ...], Sidecars]:
    """Return the init containers that end, and for each the sidecars that run beside it.

    `init` are all init containers in their order, each name with whether it is a sidecar.
    """
    ending: list[str] = []
    beside: list[tuple[str, tuple[str, ...]]] = []
    sidecars: tuple[str, ...] = ()
    for name, sidecar in init:
        if sidecar:
            sidecars = (*sidecars, name)
        else:
            ending.append(name)
            if sidecars:
                beside.append((name, sidecars))
    return tuple(ending), tuple(beside)


class _Held(msgspec.Struct):
    memory: int = 0
    cores: int = 0
    slots: int = 0
    slices: int = 0

    def add(self, hold: Hold) -> None:
        self.memory += hold.memory_mib
        self.cores += hold.cores
        self.slots += hold.slots
        self.slices |= hold.slices

    def top(self, other: "_Held") -> None:
        self.memory, self.cores = max(self.memory, other.memory), max(self.cores, other.cores)
        self.slots, self.slices = max(self.slots, other.slots), self.slices | other.slices


def allocation(charge: Charge, devices: Sequence[Device]) -> tuple[Allocation, tuple[str, ...]]:
    """Return what a node with these cards is charged, and the UUIDs that it does not have.

    A card bears what the containers hold that run side by side, or what an init container holds
    beside the sidecars before it, whichever is more, number by number (KEP-753; HAMi the same).
    """
    wanted = dict.fromkeys([claim.uuid for claim in charge.claims])
    place = {device.uuid: at for at, device in enumerate(devices) if device.uuid in wanted}
    unknown = tuple([uuid for uuid in wanted if uuid not in place])
    each = [
        _hold(claim, place[claim.uuid], devices[place[claim.uuid]])
        for claim in charge.claims
        if claim.uuid in place
    ]
    holds = tuple(each)
    if charge.init:
        holds = tuple([hold for hold in each if hold.container not in charge.init])
        holds += _peaks(charge, each, holds)
    return Allocation(
        node=charge.node,
        cpu_milli=charge.cpu_milli,
        memory_mib=charge.memory_mib,
        other=charge.other,
        holds=holds,
        workload=charge.workload,
        group=charge.group,
    ), unknown


def _hold(claim: Claim, at: int, device: Device) -> Hold:
    memory = device.memory_mib if claim.memory_mib is None else claim.memory_mib
    cores = device.cores if claim.cores is None else claim.cores
    if claim.own_units and claim.cores is not None:
        cores = -(-cores * 100 // max(1, device.core_units))
    return Hold(claim.container, at, memory, cores, claim.profile, claim.slices)


def _peaks(charge: Charge, each: Sequence[Hold], running: Sequence[Hold]) -> tuple[Hold, ...]:
    """Return what init containers need of each card beyond what is held of it anyway."""
    beside = dict(charge.sidecars)
    peaks: dict[int, _Held] = {}
    who: dict[int, str] = {}
    for name in charge.init:
        alone: dict[int, _Held] = {}
        mine = {hold.device for hold in each if hold.container == name}
        for hold in each:
            if hold.device in mine and hold.container in {name, *beside.get(name, ())}:
                alone.setdefault(hold.device, _Held()).add(hold)
        for at, held in alone.items():
            peaks.setdefault(at, _Held()).top(held)
            who.setdefault(at, name)
    rests = [
        _beyond(who[at], at, peak, [one for one in running if one.device == at])
        for at, peak in peaks.items()
    ]
    return tuple(rest for rest in rests if rest is not None)


def _beyond(name: str, at: int, peak: _Held, running: Sequence[Hold]) -> Hold | None:
    held = _Held()
    for hold in running:
        held.add(hold)
    rest = Hold(
        container=name,
        device=at,
        memory_mib=max(0, peak.memory - held.memory),
        cores=max(0, peak.cores - held.cores),
        slices=peak.slices & ~held.slices,
        slots=max(0, peak.slots - held.slots),
    )
    return rest if rest.memory_mib or rest.cores or rest.slices or rest.slots else None
