"""Which cards may carry a request: one rule for all vendors.

HAMi's rules (its NVIDIA fit, the numbers 1 to 14 of its loop): healthy, accepted mode, model and
UUID, a free slot, enough memory, enough cores; the card alone where all its cores are wanted; no
share without cores on a card whose cores are all given away; and a partition with memory enough
where cards are given out in such. Then what is ours: no class of workload on it that must not be
beside this one, and whatever else it is to pass.
"""

import msgspec
import numpy as np

from berth.model.device import SLICED, Kind
from berth.model.request import DeviceRequest
from berth.model.snapshot import NOTHING, WHOLE, Bools, Ints, Snapshot
from berth.placement.slices import Cut, cut, place, uncut
from berth.placement.uuids import named

NEVER = 1 << 40
"""More than any card has: what a card wants of which a request accepts nothing."""
ALL_CORES = 100
"""Percent of compute that a card has of its own."""
KEPT = 4_096
"""Different requests that are remembered."""


class Need(msgspec.Struct, frozen=True):
    """What a request takes of a card, by kind of card; the last is for no card at all."""

    memory: Ints
    """MiB, or NEVER."""
    milli: Ints
    """In the measure of `Snapshot.left`, or NEVER: rounded down, at least 1."""
    accepted: Bools
    """Whether vendor and model will do."""
    possible: Bools
    """Whether an idle card of the kind suffices."""
    alone: Bools
    """Whether nobody else may hold the card."""
    cut: Cut | None
    """What it gets of a card by kind and slices in use; None where no card is cut."""


def need(request: DeviceRequest, snapshot: Snapshot) -> Need:
    """Say what a request takes of each kind of card."""
    last: list[tuple[DeviceRequest, Need]] = snapshot.of_kinds("need/last", lambda _: [])
    if last and last[0][0] is request:  # a hash of a request takes its time
        return last[0][1]
    known: dict[DeviceRequest, Need] = snapshot.of_kinds("need", lambda _: {})
    found = known.get(request)
    if found is None:
        memory = [memory_of(request, kind) for kind in snapshot.kinds]
        pairs = zip(memory, snapshot.kinds, strict=True)
        milli = [_milli(request, mib, kind) for mib, kind in pairs]
        if len(known) > KEPT:
            known.clear()
        memories, millis = np.array([*memory, NEVER]), np.array([*milli, NEVER])
        found = known[request] = Need(
            memory=memories,
            milli=millis,
            accepted=memories < NEVER,
            possible=millis < NEVER,
            alone=np.array(
                [*(request.idle or _alone(request, one) for one in snapshot.kinds), True]
            ),
            cut=_cut(request, snapshot, memory),
        )
    last[:] = [(request, found)]
    return found


def memory_of(request: DeviceRequest, kind: Kind) -> int:
    """Return the MiB that a request takes of such a card, NEVER if it is not accepted.

    It is more than the card has where no partition of it suffices.
    """
    if request.vendor != kind.vendor or not _accepts(request, kind):
        return NEVER
    wanted = wanted_of(request, kind)
    if kind.profiles:
        found = place(kind.profiles, wanted, 0)
        return found[0].memory_mib if found else max(wanted, kind.memory_mib + 1)
    return wanted


def wanted_of(request: DeviceRequest, kind: Kind) -> int:
    """Return the MiB that are asked for of such a card, apart from how it is cut."""
    if kind.mode == SLICED:
        return _of_slices(request, kind)
    if request.memory_mib is not None:
        return request.memory_mib
    return kind.memory_mib * (request.memory_percent or 100) // 100


def _of_slices(request: DeviceRequest, kind: Kind) -> int:
    """Return the MiB of the smallest shape that is right, more than the card has if none is.

    So many slices exactly, or memory and cores enough, of which each slice has its part.
    """
    most = max((one.size for one in kind.profiles), default=1)
    right = (
        one.memory_mib
        for one in kind.profiles
        if one.size == (request.slices or one.size)
        and one.memory_mib >= (request.memory_mib or 0)
        and -(-100 * one.size // most) >= request.cores
    )
    return min(right, default=kind.memory_mib + 1)


def _cut(request: DeviceRequest, snapshot: Snapshot, memory: list[int]) -> Cut | None:
    if not any(kind.profiles for kind in snapshot.kinds):
        return None
    each = [
        cut(kind.profiles, wanted_of(request, kind)) if kind.profiles else uncut(mib, request.cores)
        for kind, mib in zip(snapshot.kinds, memory, strict=True)
    ]
    each.append(uncut(NEVER, 0))
    tables = zip(*map(msgspec.structs.astuple, each), strict=True)
    return Cut(*(np.array(table) for table in tables))


def _accepts(request: DeviceRequest, kind: Kind) -> bool:
    """Whether stack, mode and model will do.

    HAMi looks for the card's mode inside what is asked for.
    """
    if request.stack and kind.stack and request.stack != kind.stack:
        return False
    if request.mode and kind.mode not in request.mode:
        return False
    model = kind.model.lower()
    if any(word.lower() in model for word in request.models_not):
        return False
    return not request.models or any(word.lower() in model for word in request.models)


def _milli(request: DeviceRequest, memory_mib: int, kind: Kind) -> int:
    if memory_mib > kind.memory_mib or request.cores > kind.cores:
        return NEVER
    if _alone(request, kind):
        return WHOLE
    share = memory_mib * WHOLE // max(1, kind.memory_mib)
    return max(1, share, request.cores * WHOLE // max(1, kind.cores))


def _alone(request: DeviceRequest, kind: Kind) -> bool:
    """Whether all cores are those of the whole card: HAMi may give out more than a card's own."""
    return request.whole and kind.cores == ALL_CORES


def suitable(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> Bools:
    """Say of each card of these rows whether it may carry the request now."""
    good = apart(request, snapshot, rows, able(request, snapshot, rows))
    for test in request.where:
        good = test.passing(snapshot, rows, good)
    return good


def apart(request: DeviceRequest, snapshot: Snapshot, rows: Ints, good: Bools) -> Bools:
    """Keep the good cards that carry no class of workload which must not be beside it."""
    for other in request.beside_not:
        if other in snapshot.classes:
            good = good & (snapshot.classes[other][rows] == 0)
    return good


def able(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> Bools:
    """Say the same, apart from who is on the card and what else it is to pass."""
    wants, kinds = need(request, snapshot), snapshot.kind[rows]
    good: Bools = (snapshot.mem_left[rows] >= wants.memory[kinds]) & (snapshot.left[rows] > 0)
    if wants.cut is not None:
        good &= wants.cut.slices[kinds, snapshot.slices[rows]] != 0
    if request.cores:
        good &= snapshot.cores_left[rows] >= request.cores
    if request.whole or request.idle:
        good &= (snapshot.holders[rows] == 0) | ~wants.alone[kinds]
    if request.uuids or request.uuids_not:
        good &= named(request, snapshot)[rows]
    return good


def enough(request: DeviceRequest, good: Bools, snapshot: Snapshot, rows: Ints) -> Bools:
    """Say of each row whether it has as many suitable cards, or partitions of cards, as wanted."""
    counts: Ints = instances(request, good, snapshot, rows)
    if request.same_numa and request.count > 1:
        return of_one_numa(counts, snapshot.numa[rows]) >= request.count
    enough: Bools = counts.sum(axis=1) >= request.count
    return enough


def instances(request: DeviceRequest, good: Bools, snapshot: Snapshot, rows: Ints) -> Ints:
    """Return how often each good card counts: one that is cut, for each partition in turn."""
    if request.count == 1 or need(request, snapshot).cut is None:
        return good.astype(np.int64)
    kinds, free = snapshot.kind[rows], (snapshot.slots_left[rows], snapshot.mem_left[rows])
    return good * partitions(request, snapshot, kinds, snapshot.slices[rows], free)


def partitions(
    request: DeviceRequest, snapshot: Snapshot, kinds: Ints, slices: Ints, free: tuple[Ints, Ints]
) -> Ints:
    """Return how many such requests cards of these kinds take, with so many slots and MiB free."""
    wants = need(request, snapshot)
    if wants.cut is None:
        return np.ones_like(kinds)
    each, memory = wants.cut.instances[kinds, slices], wants.memory[kinds].clip(min=1)
    found: Ints = np.minimum(each, np.minimum(free[0], free[1] // memory)).clip(min=0)
    return found


def of_one_numa(counts: Ints, numa: Ints) -> Ints:
    """Return how much the cards of one NUMA node count in sum, at most, for each row."""
    each = [np.where(numa == node, counts, 0).sum(axis=1) for node in np.unique(numa)]
    most: Ints = np.max(each, axis=0) if each else np.zeros(len(numa), dtype=np.int64)
    return most


Sizes = tuple[Ints, Ints]


def most_memory(snapshot: Snapshot) -> Ints:
    """Return the most MiB that one request may get of each kind of card: of a partition's."""
    return snapshot.of_kinds("most memory", _most_memory)


def _most_memory(snapshot: Snapshot) -> Ints:
    each = [
        max((one.memory_mib for one in kind.profiles), default=kind.memory_mib)
        for kind in snapshot.kinds
    ]
    return np.array([*each, 0])


def sizes(snapshot: Snapshot) -> Sizes:
    """Return MiB and cores by kind of card, the last for none."""
    return snapshot.of_kinds("sizes", _sizes)


def _sizes(snapshot: Snapshot) -> Sizes:
    memory = [kind.memory_mib for kind in snapshot.kinds]
    cores = [kind.cores for kind in snapshot.kinds]
    return np.array([*memory, 0]), np.array([*cores, 0])


def lefts(snapshot: Snapshot, at: tuple[Ints, Ints]) -> Ints:
    """Return what is left of these cards in milli, as `left_of` does for one."""
    kinds = snapshot.kind[at]
    memory, cores = (size[kinds].clip(min=1) for size in sizes(snapshot))
    left = np.minimum(
        -(-snapshot.mem_left[at] * WHOLE // memory), snapshot.cores_left[at] * WHOLE // cores
    )
    some = (snapshot.slots_left[at] > 0) & (kinds != NOTHING)
    found: Ints = np.where(some, left.clip(min=0), 0)
    return found
