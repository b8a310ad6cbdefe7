"""Which cards each container of a Pod gets, on many nodes at once.

Containers hold their cards side by side, one after another. Each init container runs before them,
beside the sidecars that have started, so it may take the same cards again; where it needs more of
a card than is held of it anyway, the rest is held too (KEP-753).
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from berth.model.placement import Hold
from berth.model.request import DeviceRequest, Named, PodRequest
from berth.model.snapshot import Bools, Ints, Snapshot
from berth.placement.cards import able, enough, instances, lefts, need, suitable
from berth.placement.pick import Choice, of_fullest_numa, pick
from berth.placement.slices import Cut


class Part(msgspec.Struct, frozen=True):
    """What one container gets on each row: its cards, and how much of each."""

    container: str
    request: DeviceRequest
    cards: Ints
    memory: Ints
    cut: Cut | None
    """None where no card of the cluster is cut into partitions."""

    @property
    def cores(self) -> Ints | int:
        """What it gets of each card's cores."""
        return self.request.cores if self.cut is None else self.cut.cores

    def holds(self, snapshot: Snapshot, rows: Ints) -> list[list[Hold]]:
        """Return what is held on each row."""
        pairs = zip(self.cards.tolist(), self.memory.tolist(), strict=True)
        name, cores = self.container, self.request.cores
        if self.cut is None:
            return [
                [Hold(name, card, memory, cores) for card, memory in zip(*of_row, strict=True)]
                for of_row in pairs
            ]
        return [
            [self._cut(self.cut, snapshot, row, (at, one)) for one in range(len(cards))]
            for at, (row, (cards, _)) in enumerate(zip(rows.tolist(), pairs, strict=True))
        ]

    def _cut(self, cut: Cut, snapshot: Snapshot, row: int, at: tuple[int, int]) -> Hold:
        card, cores = int(self.cards[at]), int(cut.cores[at])
        hold = Hold(self.container, card, int(self.memory[at]), cores)
        if cut.profile[at] < 0:
            return hold
        kind = snapshot.kinds[snapshot.kind[row, card]]
        name = kind.profiles[cut.profile[at]].name
        return msgspec.structs.replace(hold, profile=name, slices=int(cut.slices[at]))


class Fitted(msgspec.Struct, frozen=True):
    """What a Pod gets on each of some rows, and which of them carry all of it."""

    rows: Ints
    fits: Bools
    parts: tuple[Part, ...]
    before: tuple[Part, ...]
    """Of init containers."""


def fit(wanted: PodRequest, snapshot: Snapshot, rows: Ints, choice: Choice) -> Fitted:
    """Try a Pod on these rows.

    Init containers that run alone come first, and the others take their cards where they can, so
    that the Pod holds no more cards than it must.
    """
    fits = np.ones(len(rows), dtype=np.bool_)
    before, mine = dict[str, Part](), _marked(snapshot, rows, choice.best(wanted, snapshot, rows))
    for name, request in wanted.init_devices:
        if not wanted.beside(name):
            before[name], good = _part((name, request), snapshot, rows, choice, mine)
            mine, fits = _marked(snapshot, rows, before[name].cards, mine), fits & good
    where, at = snapshot, rows
    if len(wanted.devices) > 1:
        where, at = snapshot.only(rows), np.arange(len(rows))
    parts = list[Part]()
    for named in wanted.devices:
        part, good = _part(named, where, at, choice, mine)
        parts.append(part)
        fits &= good
        if where is not snapshot:
            _hold(part, where)
    for name, request in wanted.init_devices:
        if name not in before:
            some = _holding(snapshot, rows, parts, wanted.beside(name))
            before[name], good = _part((name, request), some, np.arange(len(rows)), choice, mine)
            fits &= good
    return Fitted(rows, fits, tuple(parts), tuple(before[name] for name, _ in wanted.init_devices))


def _marked(
    snapshot: Snapshot, rows: Ints, cards: Ints | None, before: Bools | None = None
) -> Bools | None:
    """Return a mark at these cards of each row, beside those that there are."""
    if cards is None:
        return None
    marks = np.zeros((len(rows), snapshot.kind.shape[1]), dtype=np.bool_)
    np.put_along_axis(marks, cards.reshape(len(rows), -1), values=True, axis=1)
    return marks if before is None else marks | before


def _holding(
    snapshot: Snapshot, rows: Ints, parts: Sequence[Part], names: tuple[str, ...]
) -> Snapshot:
    """Return these rows with nothing of the Pod on them but these sidecars."""
    some = snapshot.only(rows)
    for part in parts:
        if part.container in names:
            _hold(part, some)
    return some


def _part(
    named: Named, snapshot: Snapshot, rows: Ints, choice: Choice, wished: Bools | None
) -> tuple[Part, Bools]:
    request = named[1]
    good = suitable(request, snapshot, rows)
    fits = enough(request, good, snapshot, rows)
    if request.count > 1 and need(request, snapshot).cut is not None:
        return _one_by_one(named, snapshot, rows, choice), fits
    if wished is not None:
        suffices = enough(request, good & wished, snapshot, rows)
        good = np.where(suffices[:, None], good & wished, good)
    return _of_cards(named, snapshot, rows, pick(request, snapshot, rows, good, choice)), fits


def _of_cards(named: Named, snapshot: Snapshot, rows: Ints, cards: Ints) -> Part:
    wants, at = need(named[1], snapshot), (rows[:, None], cards)
    kinds = snapshot.kind[at]
    if wants.cut is None:
        return Part(*named, cards, wants.memory[kinds], None)
    cut = wants.cut.at(kinds, snapshot.slices[at])
    return Part(*named, cards, cut.memory, cut)


def _one_by_one(named: Named, snapshot: Snapshot, rows: Ints, choice: Choice) -> Part:
    """Take card after card: one that is cut may be taken again, for another partition.

    What a card must be before the first, such as idle, it need not be before the next (HAMi too).
    """
    container, request = named
    some, at = snapshot.only(rows), np.arange(len(rows))
    one = msgspec.structs.replace(request, count=1, linked=False, same_numa=False)
    again = msgspec.structs.replace(one, cores=0, idle=False)
    free = suitable(one, some, at)
    if request.same_numa:
        free &= of_fullest_numa(instances(request, free, some, at), some.numa)
    taken = list[Part]()
    for _ in range(request.count):
        cards = pick(one, some, at, able(again, some, at) & free, choice)
        part = _of_cards((container, one), some, at, cards)
        _hold(part, some)
        if part.cut is not None:
            free[at, cards[:, 0]] &= part.cut.slices[:, 0] > 0
        taken.append(part)
    cuts = [msgspec.structs.astuple(part.cut) for part in taken if part.cut is not None]
    cut = Cut(*(np.hstack(each) for each in zip(*cuts, strict=True)))
    return Part(container, request, np.hstack([part.cards for part in taken]), cut.memory, cut)


def _hold(part: Part, some: Snapshot) -> None:
    """Charge what a container gets, to a snapshot of these rows alone.

    It may have several partitions of one card, so of that each number changes as often.
    """
    at = np.arange(len(part.cards))[:, None], part.cards
    np.subtract.at(some.mem_left, at, part.memory)
    np.subtract.at(some.cores_left, at, part.cores)
    np.subtract.at(some.slots_left, at, 1)
    np.add.at(some.holders, at, 1)
    if part.cut is not None:
        np.bitwise_or.at(some.slices, at, part.cut.slices.clip(min=0))
    some.left[at] = lefts(some, at)
