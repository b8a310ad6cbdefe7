"""Which cards may carry a request: one rule for all vendors.

HAMi's rules (its NVIDIA fit, the numbers 1 to 13 of its loop): healthy, accepted model and UUID,
a free slot, enough memory, enough cores; the card alone where all its cores are wanted; and no
share without cores on a card whose cores are all given away.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from berth.model.device import Kind
from berth.model.request import DeviceRequest
from berth.model.snapshot import SLICES, WHOLE, Bools, Ints, Snapshot
from berth.placement.slices import place, placeable

NEVER = 1 << 40
"""More than any card has: what a card wants of which a request accepts nothing."""


class Choice(msgspec.Struct, frozen=True):
    """Which of several suitable cards are taken."""

    fullest: bool = True
    """Those with the least left first, else those with the most; the lower index of equals."""
    linked: bool = False
    """Of several, the set with the best links, also where a request does not say so."""
    idle: bool = False
    """Only those that nobody holds."""
    card: int | None = None
    """This one before all others."""


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
    placeable: Bools | None
    """By kind and by slices in use: whether a partition still has a place; None without any."""


def need(request: DeviceRequest, snapshot: Snapshot) -> Need:
    """Say what a request takes of each kind of card."""
    known: dict[DeviceRequest, Need] = snapshot.settled("need", lambda _: {})
    found = known.get(request)
    if found is None:
        memory = [memory_of(request, kind) for kind in snapshot.kinds]
        pairs = zip(memory, snapshot.kinds, strict=True)
        milli = [_milli(request, mib, kind) for mib, kind in pairs]
        if len(known) > 4096:
            known.clear()
        memories, millis = np.array([*memory, NEVER]), np.array([*milli, NEVER])
        found = Need(
            memories, millis, memories < NEVER, millis < NEVER, _placeable(request, snapshot)
        )
        known[request] = found
    return found


def memory_of(request: DeviceRequest, kind: Kind) -> int:
    """Return the MiB that a request takes of such a card, NEVER if it is not accepted."""
    if request.vendor != kind.vendor or request.mode not in {"", kind.mode}:
        return NEVER
    if not _accepts(request, kind.model):
        return NEVER
    wanted = _memory(request, kind)
    if kind.profiles and wanted <= kind.memory_mib:
        found = place(kind.profiles, wanted, request.cores, 0)
        return found[0].memory_mib if found else NEVER
    return wanted


def _memory(request: DeviceRequest, kind: Kind) -> int:
    if request.memory_mib is not None:
        return request.memory_mib
    return kind.memory_mib * (request.memory_percent or 100) // 100


def _placeable(request: DeviceRequest, snapshot: Snapshot) -> Bools | None:
    if not any(kind.profiles for kind in snapshot.kinds):
        return None
    table = np.ones((len(snapshot.kinds) + 1, 1 << SLICES), dtype=np.bool_)
    for row, kind in enumerate(snapshot.kinds):
        if kind.profiles:
            table[row] = placeable(kind.profiles, _memory(request, kind), request.cores)
    return table


def _accepts(request: DeviceRequest, model: str) -> bool:
    model = model.lower()
    if any(word.lower() in model for word in request.models_not):
        return False
    return not request.models or any(word.lower() in model for word in request.models)


def _milli(request: DeviceRequest, memory_mib: int, kind: Kind) -> int:
    if memory_mib > kind.memory_mib or request.cores > kind.cores:
        return NEVER
    if request.whole:
        return WHOLE
    share = memory_mib * WHOLE // max(1, kind.memory_mib)
    return max(1, share, request.cores * WHOLE // max(1, kind.cores))


def suitable(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> Bools:
    """Say of each card of these rows whether it may carry the request now."""
    wants, kinds = need(request, snapshot), snapshot.kind[rows]
    good: Bools = (snapshot.mem_left[rows] >= wants.memory[kinds]) & (snapshot.left[rows] > 0)
    if wants.placeable is not None:
        good &= wants.placeable[kinds, snapshot.slices[rows]]
    if request.cores:
        good &= snapshot.cores_left[rows] >= request.cores
    if request.whole:
        good &= snapshot.holders[rows] == 0
    if request.uuids or request.uuids_not:
        good &= _named(request, snapshot, rows)
    return good


def _named(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> Bools:
    named = np.zeros((len(rows), snapshot.kind.shape[1]), dtype=np.bool_)
    for at, row in enumerate(rows):
        for card, device in enumerate(snapshot.nodes[row].devices):
            wanted = not request.uuids or device.uuid in request.uuids
            named[at, card] = wanted and device.uuid not in request.uuids_not
    return named


def enough(request: DeviceRequest, good: Bools) -> Bools:
    """Say of each row whether it has as many suitable cards as wanted."""
    counts: Ints = good.sum(axis=1)
    return counts >= request.count


def first(good: Bools, keys: NDArray[np.int64], count: int) -> Ints:
    """Return, for each row, its `count` suitable cards of the lowest keys, the lower index first.

    Rows without enough of them get cards that are not suitable.
    """
    ordered = np.where(good, keys * good.shape[1] + np.arange(good.shape[1]), NEVER)
    cards: Ints = np.argsort(ordered, axis=1)[:, :count] if count > 1 else _lowest(ordered)
    return cards


def _lowest(ordered: Ints) -> Ints:
    lowest: Ints = ordered.argmin(axis=1)[:, None]
    return lowest
