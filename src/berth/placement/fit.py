"""Which cards of one node each container of a Pod gets."""

import numpy as np

from berth.model.placement import Allocation, Hold
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Ints, Snapshot
from berth.placement.cards import enough, first, memory_of, suitable

Wanted = tuple[str, DeviceRequest]


def allocate(
    wanted: PodRequest, snapshot: Snapshot, row: int, keys: Ints | None, *, fullest: bool
) -> Allocation | None:
    """Return what the Pod would hold on this node, None if its cards do not carry all of it.

    Containers hold their cards side by side. Each init container runs alone before them, so it
    may take the same cards again; where it needs more of a card than they, the rest is held too.
    `keys` says which cards come first, lowest first; without them the fullest do, or the emptiest.
    """
    several = len(wanted.devices) + len(wanted.init_devices) > 1
    where, at = (snapshot.alone(row), 0) if several else (snapshot, row)
    holds: list[Hold] = []
    for container, request in wanted.devices:
        got = _holds(container, request, where, at, _keys(where, at, keys, fullest=fullest))
        if got is None:
            return None
        holds += got
        if several:
            where.place(Allocation(node=snapshot.nodes[row].name, holds=got))
    for container, request in wanted.init_devices:
        where, at = snapshot, row
        got = _holds(container, request, where, at, _keys(where, at, keys, fullest=fullest))
        if got is None:
            return None
        holds += _beyond(got, holds)
    return Allocation(
        node=snapshot.nodes[row].name,
        cpu_milli=wanted.cpu_milli,
        memory_mib=wanted.memory_mib,
        other=wanted.other,
        holds=tuple(holds),
    )


def _keys(snapshot: Snapshot, row: int, keys: Ints | None, *, fullest: bool) -> Ints:
    if keys is not None:
        return keys
    left: Ints = snapshot.left[row]
    return left if fullest else -left


def _holds(
    container: str, request: DeviceRequest, snapshot: Snapshot, row: int, keys: Ints
) -> tuple[Hold, ...] | None:
    good = suitable(request, snapshot, np.array([row]))
    if not enough(request, good)[0]:
        return None
    cards = first(good, keys[None, :], request.count)[0]
    kinds = [snapshot.kinds[snapshot.kind[row, card]] for card in cards]
    return tuple(
        Hold(container, int(card), memory_of(request, kind), request.cores)
        for card, kind in zip(cards, kinds, strict=True)
    )


def _beyond(alone: tuple[Hold, ...], holds: list[Hold]) -> list[Hold]:
    """Return what an init container holds of cards beyond what is held of them anyway."""
    more = []
    for hold in alone:
        same = [other for other in holds if other.device == hold.device]
        memory = hold.memory_mib - sum(other.memory_mib for other in same)
        cores = hold.cores - sum(other.cores for other in same)
        if memory > 0 or cores > 0 or not same:
            more.append(Hold(hold.container, hold.device, max(0, memory), max(0, cores)))
    return more
