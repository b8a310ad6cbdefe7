"""Which cards of one node each container of a Pod gets."""

import numpy as np

from berth.model.placement import Allocation, Hold
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import WHOLE, Bools, Ints, Snapshot
from berth.placement.cards import Choice, enough, first, memory_of, suitable
from berth.placement.links import best_set, links_of, of_one_numa
from berth.placement.slices import place


def allocate(wanted: PodRequest, snapshot: Snapshot, row: int, choice: Choice) -> Allocation | None:
    """Return what the Pod would hold on this node, None if its cards do not carry all of it.

    Containers hold their cards side by side. Each init container runs alone before them, so it
    may take the same cards again; where it needs more of a card than they, the rest is held too.
    """
    name, holds = snapshot.nodes[row].name, list[Hold]()
    several = len(wanted.devices) > 1
    where, at = (snapshot.alone(row), 0) if several else (snapshot, row)
    for container, request in wanted.devices:
        got = _holds(container, request, where, at, choice)
        if got is None:
            return None
        holds += got
        if several:
            where.place(Allocation(node=name, holds=got))
    for container, request in wanted.init_devices:
        got = _holds(container, request, snapshot, row, choice)
        if got is None:
            return None
        holds += _beyond(got, holds)
    return Allocation(
        node=name,
        cpu_milli=wanted.cpu_milli,
        memory_mib=wanted.memory_mib,
        other=wanted.other,
        holds=tuple(holds),
    )


def _holds(
    container: str, request: DeviceRequest, snapshot: Snapshot, row: int, choice: Choice
) -> tuple[Hold, ...] | None:
    devices = snapshot.nodes[row].devices
    good = suitable(request, snapshot, np.array([row]))
    if choice.idle:
        good &= snapshot.holders[row] == 0
    if request.same_numa and request.count > 1:
        good = of_one_numa(devices, good[0], request.count)[None, :]
    if not enough(request, good)[0]:
        return None
    if request.count > 1 and (request.linked or choice.linked):
        cards, _ = best_set(links_of(devices), good[0], request.count)
    else:
        cards = _in_order(request, good, snapshot.left[row], choice)
    return tuple(_hold(container, request, snapshot, row, int(card)) for card in cards)


def _hold(container: str, request: DeviceRequest, snapshot: Snapshot, row: int, card: int) -> Hold:
    kind = snapshot.kinds[snapshot.kind[row, card]]
    memory = memory_of(request, kind)
    if kind.profiles:
        found = place(kind.profiles, memory, request.cores, int(snapshot.slices[row, card]))
        if found is not None:
            profile, slices = found
            return Hold(container, card, profile.memory_mib, profile.cores, profile.name, slices)
    return Hold(container, card, memory, request.cores)


def _in_order(request: DeviceRequest, good: Bools, left: Ints, choice: Choice) -> Ints:
    keys = left if choice.fullest else -left
    if choice.card is not None and good[0, choice.card]:
        keys = keys.copy()
        keys[choice.card] = -WHOLE - 1
    cards: Ints = first(good, keys[None, :], request.count)[0]
    return cards


def _beyond(alone: tuple[Hold, ...], holds: list[Hold]) -> list[Hold]:
    """Return what an init container holds of cards beyond what is held of them anyway."""
    more = []
    for hold in alone:
        same = [other for other in holds if other.device == hold.device]
        memory = hold.memory_mib - sum(other.memory_mib for other in same)
        cores = hold.cores - sum(other.cores for other in same)
        if not same:
            more.append(hold)
        elif memory > 0 or cores > 0:
            rest = Hold(hold.container, hold.device, max(0, memory), max(0, cores), slots=0)
            more.append(rest)
    return more
