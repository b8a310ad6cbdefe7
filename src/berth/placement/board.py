"""Scores of each shape of demand on each node, kept and brought up to date a few rows at a time.

A decision looks at all nodes but computes only the rows that have changed since this shape last
came. Scores also age, where they depend on weights that are learned: each decision computes some
rows of an older epoch as well, in turn, so that new weights cost no decision much. They are more
for a shape that seldom comes, which would else be judged by the weights of many epochs, mixed.
"""

from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from berth.model.request import Shape
from berth.model.snapshot import Bools, Floats, Ints, Snapshot
from berth.placement.cards import enough, suitable

CELLS = 3_000_000
"""Numbers that are kept in all, 8 bytes each; beyond, the shape that came longest ago goes."""
AT_ONCE = 1_536
"""Rows that a new shape gets scored at once: the fullest that fit. The others follow in turn."""
IN_TURN = 100
"""Rows of an older epoch that are scored again with each decision of a shape."""
PACE = 25
"""Arrivals for which a shape that has not come meanwhile gets as many, up to `AT_ONCE`."""
UNSCORED = -1

Score = Callable[[Ints, Bools], tuple[Floats, Ints | None]]
"""From rows that fit, and which of their cards are suitable, to their scores: one column, and one
more for each price that is put on them later; and the card to take, where the score says that."""


class Sheet:
    """What is kept of one shape."""

    def __init__(self, rows: int, columns: int, arrivals: int) -> None:
        """Know nothing of any row."""
        self.fits: Bools = np.zeros(rows, dtype=np.bool_)
        self.scores: Floats = np.zeros((columns, rows))
        self.card: Ints = np.zeros(rows, dtype=np.int64)
        self.epoch: Ints = np.full(rows, UNSCORED)
        """The epoch of the weights by which each row was scored."""
        self.seen = -1
        self.came = arrivals
        self.turn = 0

    @property
    def scored(self) -> Bools:
        """The rows that fit and have a score."""
        scored: Bools = self.fits & (self.epoch != UNSCORED)
        return scored


class Board:
    """The sheets of one policy."""

    def __init__(self, columns: int = 1, in_turn: int | None = None) -> None:
        """Keep so many columns per row, and score so many rows in turn with each decision."""
        self.columns = columns
        self.in_turn = in_turn or IN_TURN
        self._sheets: OrderedDict[Shape, Sheet] = OrderedDict()

    def sheet(self, shape: Shape, snapshot: Snapshot, score: Score, epoch: int = 0) -> Sheet:
        """Return a shape's sheet, brought up to date."""
        sheet = self._find(shape, snapshot)
        rows = snapshot.changed_since(sheet.seen)
        sheet.seen = snapshot.clock
        if len(rows) > AT_ONCE:
            sheet.epoch[rows] = UNSCORED
            sheet.fits[rows], _ = _fits(shape, snapshot, rows)
            rows = _fullest(rows[sheet.fits[rows]], snapshot)
        sheet.epoch[rows] = epoch
        aged = self._aged(sheet, snapshot, epoch)
        rows = np.concatenate([rows, aged]) if len(aged) else rows
        if len(rows):
            fits, good = _fits(shape, snapshot, rows)
            sheet.fits[rows] = fits
            rows, good = rows[fits], good[fits]
        if len(rows):
            sheet.scores[:, rows], cards = score(rows, good)
            if cards is not None:
                sheet.card[rows] = cards
        return sheet

    def cards(self, shape: Shape, snapshot: Snapshot, rows: Ints, score: Score, epoch: int) -> Ints:
        """Return the card that the score of each of some rows is given for, as it is now."""
        cards, old = np.zeros_like(rows), np.arange(len(rows))
        sheet = self._sheets.get(shape)
        if sheet is not None and len(sheet.fits) == len(snapshot):
            kept = sheet.fits[rows] & (sheet.epoch[rows] == epoch)
            kept &= snapshot.version[rows] <= sheet.seen
            cards, old = sheet.card[rows], np.flatnonzero(~kept)
        if len(old):
            good = _fits(shape, snapshot, rows[old])[1]
            some = good.any(axis=1)
            found = score(rows[old[some]], good[some])[1] if some.any() else None
            cards[old[some]] = 0 if found is None else found
        return cards

    def _aged(self, sheet: Sheet, snapshot: Snapshot, epoch: int) -> Ints:
        """Take the rows of an older epoch out of those whose turn it is."""
        rows, arrivals = len(snapshot), snapshot.mix.arrivals
        missed = self.in_turn * (arrivals - sheet.came) // PACE
        turns = min(max(self.in_turn, missed), AT_ONCE, rows)
        these = (sheet.turn + np.arange(turns)) % max(1, rows)
        aged: Ints = these[sheet.epoch[these] != epoch]
        sheet.epoch[aged] = epoch
        sheet.came, sheet.turn = arrivals, (sheet.turn + turns) % max(1, rows)
        return aged

    def _find(self, shape: Shape, snapshot: Snapshot) -> Sheet:
        sheet, rows = self._sheets.get(shape), len(snapshot)
        if sheet is None or len(sheet.fits) != rows:
            sheet = self._sheets[shape] = Sheet(rows, self.columns, snapshot.mix.arrivals)
            most = max(1, CELLS // (max(1, rows) * (self.columns + 2)))
            while len(self._sheets) > most:
                self._sheets.popitem(last=False)
        self._sheets.move_to_end(shape)
        return sheet


def _fits(shape: Shape, snapshot: Snapshot, rows: Ints) -> tuple[Bools, Bools]:
    cpu = snapshot.cpu[rows].clip(min=0)  # a node may have less than none, and who wants none fits
    fits: Bools = snapshot.ready[rows] & (cpu >= shape.cpu_milli)
    if shape.request is None:
        return fits, np.zeros((len(rows), 0), dtype=np.bool_)
    good = suitable(shape.request, snapshot, rows)
    return fits & enough(shape.request, good, snapshot, rows), good


def _fullest(rows: Ints, snapshot: Snapshot) -> Ints:
    if len(rows) <= AT_ONCE:
        return rows
    return rows[np.argpartition(snapshot.room[rows], AT_ONCE)[:AT_ONCE]]
