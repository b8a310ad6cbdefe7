"""Why nodes do not fit: by reason, with the one that misses least, and whether waiting helps."""

from collections.abc import Iterator

import msgspec
import numpy as np

from berth.model.eligibility import Eligibility
from berth.model.placement import Lack, Misfit, Without
from berth.model.request import DeviceRequest, Named, PodRequest, Sidecars
from berth.model.snapshot import Bools, Ints, Snapshot
from berth.placement.cards import most_memory, need, of_one_numa, partitions, sizes
from berth.placement.eligible import eligible
from berth.placement.lacking import lacking
from berth.placement.pick import Choice
from berth.placement.uuids import named
from berth.placement.whole import all_healthy, carried


class _Question(msgspec.Struct, frozen=True):
    """Something of which a node must have enough: now, and at all."""

    reason: Misfit
    wanted: int
    has: Ints
    total: Ints
    resource: str = ""


class _Short(msgspec.Struct, frozen=True):
    """The nodes that have too little of it."""

    question: _Question
    rows: Ints
    ever: bool
    """Whether they always have, whoever leaves."""

    def told(self, snapshot: Snapshot) -> Without:
        """Name the one that misses least: of what it has now, or of what it has at all."""
        has = self.question.total if self.ever else self.question.has
        nearest = self.rows[has[self.rows].argmax()]
        return Without(
            reason=self.question.reason,
            nodes=len(self.rows),
            waiting_helps=not self.ever,
            nearest=snapshot.nodes[nearest].name,
            wanted=self.question.wanted,
            has=max(0, int(has[nearest])),
            resource=self.question.resource,
        )


def without(
    wanted: PodRequest, snapshot: Snapshot, good: Bools, choice: Choice
) -> tuple[Without, ...]:
    """Give each node that is not good the first reason that it has, and gather them.

    What lasts comes first: else a node would seem to be worth waiting for that is not.
    """
    standing = _standing(wanted, snapshot, choice)
    found = [*standing.never]
    rows = np.flatnonzero(~(good | snapshot.gone | standing.rows))
    questions = tuple(_questions(wanted, snapshot))
    for question in questions:
        rows = _taken(found, question, rows, ever=True)
    for ill in standing.ill:
        there = np.isin(ill.rows, rows, assume_unique=True)
        if there.any():
            found.append(msgspec.structs.replace(ill, rows=ill.rows[there]))
            rows = np.setdiff1d(rows, ill.rows, assume_unique=True)
    for question in questions:
        rows = _taken(found, question, rows, ever=False)
    told = [one.told(snapshot) for one in found]
    return (*told, *lacking(wanted, snapshot, rows)) if len(rows) else tuple(told)


def _taken(found: list[_Short], question: _Question, rows: Ints, *, ever: bool) -> Ints:
    """Put those of these rows into `found` that are short, and return the others."""
    has = (question.total if ever else question.has)[rows]
    if not len(rows) or has.min() >= question.wanted:
        return rows
    short = has < question.wanted
    found.append(_Short(question, rows[short], ever))
    return rows[~short]


def _questions(wanted: PodRequest, snapshot: Snapshot) -> Iterator[_Question]:
    """Ask for what changes, in the order of `Misfit`; without CPU wanted all have enough."""
    nothing = np.zeros_like(snapshot.cpu)
    ready = snapshot.ready & eligible(wanted.eligibility, snapshot).now
    if not ready.all():
        yield _Question(Misfit.NOT_READY, 1, ready.astype(np.int64), nothing + 1)
    if wanted.cpu_milli:
        yield _Question(Misfit.CPU, wanted.cpu_milli, snapshot.cpu, snapshot.cpu_total)
    if wanted.memory_mib:
        yield _Question(Misfit.MEMORY, wanted.memory_mib, snapshot.memory, snapshot.memory_total)
    yield _Question(Misfit.PODS, 1, snapshot.pods, snapshot.pods_total)
    for name, amount in wanted.other.items():
        yield _Question(Misfit.OTHER, amount, *snapshot.of_other(name), name)


class _Asked(msgspec.Struct, frozen=True):
    """What of a Pod decides which nodes would do if they were empty."""

    eligibility: Eligibility
    devices: tuple[Named, ...]
    init_devices: tuple[Named, ...]
    sidecars: Sidecars
    choice: Choice


KEPT = 256
"""Different wishes of which the answer is remembered."""


class _Standing(msgspec.Struct, frozen=True):
    """The nodes that would not do if they were empty: the same until nodes change."""

    rows: Bools
    never: tuple[_Short, ...]
    ill: tuple[_Short, ...]
    """Those that would once all their cards are healthy."""


def _standing(wanted: PodRequest, snapshot: Snapshot, choice: Choice) -> _Standing:
    known: dict[_Asked, _Standing] = snapshot.settled("never", lambda _: {})
    each = wanted.devices, wanted.init_devices, wanted.sidecars
    asked = _Asked(wanted.eligibility, *each, choice)
    found = known.get(asked)
    if found is None:
        if len(known) > KEPT:
            known.clear()
        found = known[asked] = _unable(wanted, snapshot, choice)
    return found


def _unable(wanted: PodRequest, snapshot: Snapshot, choice: Choice) -> _Standing:
    rows, never, ill = np.flatnonzero(~snapshot.gone), list[_Short](), list[_Short]()
    questions = tuple(_lasting(wanted, snapshot))
    for question in questions:
        rows = _taken(never, question, rows, ever=True)
    if len(wanted.requests) > 1 and len(rows):
        whole = np.zeros_like(snapshot.cpu)
        whole[rows] = carried(wanted, snapshot, rows, choice)
        rows = _taken(never, _Question(Misfit.TOGETHER, 1, whole, whole), rows, ever=True)
    for question in questions:
        rows = _taken(ill, question, rows, ever=False)
    marks = np.zeros(len(snapshot), dtype=np.bool_)
    for short in never:
        marks[short.rows] = True
    return _Standing(marks, tuple(never), tuple(ill))


def _lasting(wanted: PodRequest, snapshot: Snapshot) -> Iterator[_Question]:
    """Ask for what no Pod that leaves can change."""
    may = eligible(wanted.eligibility, snapshot)
    selected, tolerated = may.selected.astype(np.int64), may.tolerated.astype(np.int64)
    yield _Question(Misfit.NOT_SELECTED, 1, selected, selected)
    yield _Question(Misfit.TAINTED, 1, tolerated, tolerated)
    for request in dict.fromkeys(wanted.requests):
        yield from _of_cards(request, snapshot)


def _of_cards(request: DeviceRequest, snapshot: Snapshot) -> Iterator[_Question]:
    """Ask what a node could carry with nothing on it, now and once all its cards are healthy."""
    healthy = snapshot.settled("healthy", all_healthy)
    now = _carried(request, snapshot, snapshot)
    if healthy is snapshot:
        yield from now
        return
    for question, healed in zip(now, _carried(request, snapshot, healthy), strict=True):
        yield msgspec.structs.replace(question, total=healed.has)


def _carried(request: DeviceRequest, snapshot: Snapshot, of: Snapshot) -> Iterator[_Question]:
    """Ask it of the cards of this snapshot: the same, or as they may be."""
    wants, rows, kind = need(request, snapshot), np.arange(len(snapshot)), of.kind
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
        idle = snapshot.slots_total, sizes(snapshot)[0][kind]
        able = able * partitions(request, snapshot, kind, np.zeros_like(kind), idle)
    counts = able.sum(axis=1)
    yield _Question(Misfit.TOO_FEW_CARDS, request.count, counts, counts)
    for test in request.where:
        able = able * test.lasting(of, rows, able > 0)
        counts = able.sum(axis=1)
        yield _Question(Misfit.FILTERED, request.count, counts, counts, test.name)
    if request.same_numa and request.count > 1:
        most = of_one_numa(able, snapshot.numa)
        yield _Question(Misfit.NUMA, request.count, most, most)
