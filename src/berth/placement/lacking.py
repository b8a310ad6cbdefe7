"""What nodes lack whose cards would do if others left: for which reason, and what is nearest."""

from collections.abc import Iterator

import numpy as np

from berth.model.placement import Lack, Misfit, Without
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import NOTHING, Bools, Floats, Ints, Snapshot
from berth.placement.cards import able, apart, instances, need, of_one_numa
from berth.placement.uuids import named

FEW = 256
"""Nodes that are looked at first where many might be the nearest."""


def lacking(wanted: PodRequest, snapshot: Snapshot, rows: Ints) -> Iterator[Without]:
    """Give each of these rows the first reason that it has, and gather them."""
    requests = list(dict.fromkeys(wanted.requests))
    if len(wanted.requests) == 1 and _plain(requests[0]):
        yield _cards(requests[0], snapshot, rows)
        return
    for request in requests:
        for reason, resource, has in _steps(request, snapshot, rows):
            short = has[rows] < request.count
            if not short.any():
                continue
            here, rows = rows[short], rows[~short]
            if reason is Misfit.CARDS:
                yield _cards(request, snapshot, here)
                continue
            nearest = int(here[has[here].argmax()])
            name, most = snapshot.nodes[nearest].name, int(has[nearest])
            yield Without(reason, len(here), True, name, request.count, most, resource)  # noqa: FBT003
    if len(rows):
        name = snapshot.nodes[rows[snapshot.room[rows].argmax()]].name
        yield Without(Misfit.TOGETHER, len(rows), waiting_helps=True, nearest=name)


def _plain(request: DeviceRequest) -> bool:
    return not (request.beside_not or request.where or request.same_numa)


def _steps(
    request: DeviceRequest, snapshot: Snapshot, rows: Ints
) -> list[tuple[Misfit, str, Ints]]:
    """Return why cards fall away from step to step, and how many are left then, by row."""
    good = able(request, snapshot, rows)
    steps = [(Misfit.CARDS, "", good)]
    if request.beside_not:
        good = apart(request, snapshot, rows, good)
        steps.append((Misfit.APART, "", good))
    for test in request.where:
        good = test.passing(snapshot, rows, good)
        steps.append((Misfit.FILTERED, test.name, good))
    found = []
    for reason, resource, cards in steps:
        has = np.zeros(len(snapshot), dtype=np.int64)
        has[rows] = instances(request, cards, snapshot, rows).sum(axis=1)
        found.append((reason, resource, has))
    if request.same_numa and request.count > 1:
        has = np.zeros(len(snapshot), dtype=np.int64)
        has[rows] = of_one_numa(instances(request, good, snapshot, rows), snapshot.numa[rows])
        found.append((Misfit.NUMA, "", has))
    return found


def _cards(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> Without:
    """Say what the card that misses least lacks, or how many cards suffice where it is count."""
    if request.count > 1 or request.whole or request.idle:
        return _too_few(request, snapshot, rows)
    row, card = _nearest(request, snapshot, rows)
    wanted, has, resource = _lack(request, snapshot, (row, card))
    return Without(
        reason=Misfit.CARDS,
        nodes=len(rows),
        waiting_helps=True,
        nearest=snapshot.nodes[row].name,
        wanted=wanted,
        has=has,
        resource=resource,
    )


def _nearest(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> tuple[int, int]:
    """Return the card that misses the least part of what is wanted of it.

    Of nodes whose cards are all alike, the one with the most left is looked at, for each kind.
    """
    wants, some = need(request, snapshot), rows
    if not (request.uuids or request.uuids_not):
        kinds = np.where(snapshot.settled("mixed", _mixed), NOTHING, snapshot.kind_of_node)[rows]
        each = [rows[kinds == kind] for kind in np.flatnonzero(wants.possible[:-1])]
        alike = [one[snapshot.most[one].argmax()] for one in each if len(one)]
        some = np.append(rows[kinds == NOTHING], alike).astype(np.int64)
    short = _short(request, snapshot, some)
    at, card = np.unravel_index(short.argmin(), short.shape)
    return int(some[at]), int(card)


def _mixed(snapshot: Snapshot) -> Bools:
    """Say of which nodes not all cards are of one kind."""
    other = (snapshot.kind != snapshot.kind_of_node[:, None]) & (snapshot.kind != NOTHING)
    mixed: Bools = other.any(axis=1)
    return mixed


def _short(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> Floats:
    """Return which part of what is wanted each card lacks: more than all where it never does."""
    wants, kinds, cores = need(request, snapshot), snapshot.kind[rows], max(1, request.cores)
    memory = wants.memory[kinds].clip(min=1)
    short = np.maximum(
        (memory - snapshot.mem_left[rows]) / memory, (cores - snapshot.cores_left[rows]) / cores
    )
    no_place = snapshot.slots_left[rows] <= 0
    if wants.cut is not None:
        no_place |= wants.cut.slices[kinds, snapshot.slices[rows]] == 0
    possible = wants.possible[kinds]
    if request.uuids or request.uuids_not:
        possible &= named(request, snapshot)[rows]
    found: Floats = np.where(possible, np.where(no_place, short.clip(min=1), short), np.inf)
    return found


def _lack(request: DeviceRequest, snapshot: Snapshot, at: tuple[int, int]) -> tuple[int, int, str]:
    """Return what is wanted of this card, what it has of that, and what it is."""
    wants = need(request, snapshot)
    memory, cores = int(wants.memory[snapshot.kind[at]]), int(snapshot.cores_left[at])
    if snapshot.slots_left[at] <= 0:
        return 1, 0, Lack.SLOTS.value
    if snapshot.mem_left[at] < memory:
        return memory, max(0, int(snapshot.mem_left[at])), Lack.MEMORY.value
    if cores < max(1, request.cores):
        return max(1, request.cores), max(0, cores), Lack.CORES.value
    if wants.cut is not None and wants.cut.slices[snapshot.kind[at], snapshot.slices[at]] == 0:
        return 1, 0, Lack.PLACES.value
    return 1, 0, ""


def _too_few(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> Without:
    row, free = _most(request, snapshot, rows)
    return Without(
        reason=Misfit.CARDS,
        nodes=len(rows),
        waiting_helps=True,
        nearest=snapshot.nodes[row].name,
        wanted=request.count,
        has=free,
    )


def _most(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> tuple[int, int]:
    """Return the row of which most cards would do now, and how many.

    No node has more of them than cards with so much left, so mostly a few nodes tell.
    """
    if request.count == 1:  # then no node has one
        return int(rows[snapshot.room[rows].argmax()]), 0
    wants = need(request, snapshot)
    if wants.cut is not None or len(rows) <= FEW:
        return _counted(request, snapshot, rows)
    least = wants.milli[:-1][wants.possible[:-1]].min()
    most = (snapshot.left[rows] >= least).sum(axis=1)
    order = np.argpartition(-most, FEW)
    row, free = _counted(request, snapshot, rows[np.sort(order[:FEW])])
    return (row, free) if free >= most[order[FEW]] else _counted(request, snapshot, rows)


def _counted(request: DeviceRequest, snapshot: Snapshot, rows: Ints) -> tuple[int, int]:
    good = able(request, snapshot, rows)
    free = instances(request, good, snapshot, rows).sum(axis=1)
    at = int(free.argmax())
    return int(rows[at]), int(free[at])
