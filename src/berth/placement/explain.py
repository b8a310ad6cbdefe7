"""Why nodes do not fit: by reason, with the one that misses least, and whether waiting helps."""

from collections.abc import Iterator

import msgspec
import numpy as np

from berth.model.eligibility import Eligibility
from berth.model.placement import Lack, Misfit, Without
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import NOTHING, Bools, Ints, Snapshot
from berth.placement.cards import most_memory, named, need, of_one_numa, sizes
from berth.placement.eligible import eligible
from berth.placement.lacking import lacking


class _Question(msgspec.Struct, frozen=True):
    """Something of which a node must have enough: now, and at all."""

    reason: Misfit
    wanted: int
    has: Ints
    total: Ints
    resource: str = ""


def without(wanted: PodRequest, snapshot: Snapshot, good: Bools) -> tuple[Without, ...]:
    """Give each node that is not good the first reason that it has, and gather them."""
    requests = tuple(request for _, request in (*wanted.devices, *wanted.init_devices))
    never = _never((wanted.eligibility, requests), snapshot)
    found = list(never.why)
    rows = np.flatnonzero(~(good | snapshot.gone | never.rows))
    for question in _questions(wanted, snapshot):
        has = question.has[rows]
        if len(rows) and has.min() < question.wanted:
            short = has < question.wanted
            found += _gathered(question, snapshot, rows[short])
            rows = rows[~short]
    if len(rows):
        found += lacking(wanted, snapshot, rows)
    return tuple(found)


def _questions(wanted: PodRequest, snapshot: Snapshot) -> Iterator[_Question]:
    """Ask for what changes, in the order of `Misfit`; without CPU wanted all have enough."""
    nothing = np.zeros_like(snapshot.cpu)
    if not snapshot.ready.all():
        yield _Question(Misfit.NOT_READY, 1, snapshot.ready.astype(np.int64), nothing + 1)
    if wanted.cpu_milli:
        yield _Question(Misfit.CPU, wanted.cpu_milli, snapshot.cpu, snapshot.cpu_total)
    if wanted.memory_mib:
        yield _Question(Misfit.MEMORY, wanted.memory_mib, snapshot.memory, snapshot.memory_total)
    yield _Question(Misfit.PODS, 1, snapshot.pods, snapshot.pods_total)
    for name, amount in wanted.other.items():
        has, total = snapshot.other.get(name, nothing), snapshot.other_total.get(name, nothing)
        yield _Question(Misfit.OTHER, amount, has, total, name)


_Asked = tuple[Eligibility, tuple[DeviceRequest, ...]]
KEPT = 256
"""Different wishes of which the answer is remembered."""


class _Never(msgspec.Struct, frozen=True):
    """The nodes that would not do if they were empty: the same until nodes change."""

    rows: Bools
    why: tuple[Without, ...]


def _never(asked: _Asked, snapshot: Snapshot) -> _Never:
    known: dict[_Asked, _Never] = snapshot.settled("never", lambda _: {})
    found = known.get(asked)
    if found is None:
        if len(known) > KEPT:
            known.clear()
        found = known[asked] = _unable(asked, snapshot)
    return found


def _unable(asked: _Asked, snapshot: Snapshot) -> _Never:
    rows, why = np.flatnonzero(~snapshot.gone), list[Without]()
    never = np.zeros(len(snapshot), dtype=np.bool_)
    for question in _lasting(asked, snapshot):
        short = question.has[rows] < question.wanted
        why += _gathered(question, snapshot, rows[short])
        never[rows[short]] = True
        rows = rows[~short]
    return _Never(never, tuple(why))


def _lasting(asked: _Asked, snapshot: Snapshot) -> Iterator[_Question]:
    """Ask for what no Pod that leaves can change."""
    eligibility, requests = asked
    may = eligible(eligibility, snapshot)
    selected, tolerated = may.selected.astype(np.int64), may.tolerated.astype(np.int64)
    yield _Question(Misfit.NOT_SELECTED, 1, selected, selected)
    yield _Question(Misfit.TAINTED, 1, tolerated, tolerated)
    for request in dict.fromkeys(requests):
        yield from _of_cards(request, snapshot)


def _of_cards(request: DeviceRequest, snapshot: Snapshot) -> Iterator[_Question]:
    """Ask what a node could carry with nothing on it, now and once all its cards are healthy."""
    sound = snapshot.settled("sound", _sound)
    now = _carried(request, snapshot, snapshot.kind)
    if sound is snapshot.kind:
        yield from now
        return
    for question, healed in zip(now, _carried(request, snapshot, sound), strict=True):
        yield msgspec.structs.replace(question, total=healed.has)


def _sound(snapshot: Snapshot) -> Ints:
    """Return `kind` as if every card were healthy: the same grid where all are."""
    kind = snapshot.kind
    for row in snapshot.row.values():
        for card, device in enumerate(snapshot.nodes[row].devices):
            if not device.healthy:
                kind = kind.copy() if kind is snapshot.kind else kind
                kind[row, card] = snapshot.kinds.index(device.kind)
    return kind


def _carried(request: DeviceRequest, snapshot: Snapshot, kind: Ints) -> Iterator[_Question]:
    """Ask it of cards of these kinds."""
    wants, rows = need(request, snapshot), np.arange(len(snapshot))
    cards = wants.accepted[kind]
    if request.uuids or request.uuids_not:
        cards &= named(request, snapshot)
    accepted = cards.sum(axis=1)
    yield _Question(Misfit.NO_SUCH_CARD, 1, accepted, accepted)
    wanted = request.memory_mib or 0, request.cores
    largest_of, lacks = (most_memory(snapshot), sizes(snapshot)[1]), (Lack.MEMORY, Lack.CORES)
    for amount, size, lack in zip(wanted, largest_of, lacks, strict=True):
        largest = np.where(cards, size[kind], 0).max(axis=1, initial=0)
        yield _Question(Misfit.CARDS_TOO_SMALL, amount, largest, largest, lack.value)
    able = (cards & wants.possible[kind]).astype(np.int64)
    if wants.cut is not None and request.count > 1:
        able = able * wants.cut.instances[kind, 0]
    counts = able.sum(axis=1)
    yield _Question(Misfit.TOO_FEW_CARDS, request.count, counts, counts)
    healthy = snapshot.kind != NOTHING  # of the others, a test would see no state
    for test in request.where:
        able = able * (test.lasting(snapshot, rows, (able > 0) & healthy) | ~healthy)
        counts = able.sum(axis=1)
        yield _Question(Misfit.FILTERED, request.count, counts, counts, test.name)
    if request.same_numa and request.count > 1:
        most = of_one_numa(able, snapshot.numa)
        yield _Question(Misfit.NUMA, request.count, most, most)


def _gathered(question: _Question, snapshot: Snapshot, rows: Ints) -> Iterator[Without]:
    never = question.total[rows] < question.wanted
    for waits, some in ((False, rows[never]), (True, rows[~never])):
        if len(some):
            nearest = some[question.has[some].argmax()]
            yield Without(
                reason=question.reason,
                nodes=len(some),
                waiting_helps=waits,
                nearest=snapshot.nodes[nearest].name,
                wanted=question.wanted,
                has=max(0, int(question.has[nearest])),
                resource=question.resource,
            )
