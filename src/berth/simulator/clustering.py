"""GPU clustering, a baseline of the FGD paper: Pods of one size together. For the simulator alone.

It needs to know which sizes are on a node, which no snapshot says. It finds out by itself: what has
changed when a Pod comes is where the one before was placed, as nothing leaves in that experiment.
"""

import numpy as np

from berth.model.request import PodRequest, Shape
from berth.model.snapshot import Bools, Floats, Ints, Snapshot
from berth.placement.board import Board
from berth.placement.pick import FULLEST
from berth.placement.policy import Ranking
from berth.placement.trial import Trial

ROOM = 8_000
"""Milli of the cards of the largest node."""
SHARE = 0
TAGS = 17
"""A share, or so many cards."""


class Clustering:
    """Nodes with this size alone first, then with others too, then empty ones, then the rest."""

    name = "clustering"
    choice = FULLEST

    def __init__(self) -> None:
        """Know of no Pod yet."""
        self._tags: Bools = np.zeros((0, TAGS), dtype=np.bool_)
        self._seen = 0
        self._last: int | None = None
        self._board = Board()

    def rank(self, wanted: PodRequest, snapshot: Snapshot) -> Ranking:
        """Score all nodes for a Pod, by its shape."""
        shape = wanted.shape
        if len(self._tags) != len(snapshot):
            self._tags, self._seen = np.zeros((len(snapshot), TAGS), dtype=np.bool_), snapshot.clock
        if self._last is not None:
            self._tags[snapshot.changed_since(self._seen), self._last] = True
        self._seen, self._last = snapshot.clock, tag_of(shape)

        def score(rows: Ints, good: Bools) -> tuple[Floats, None]:
            return self._scores(Trial.of(shape, snapshot, rows, good)), None

        sheet = self._board.sheet(shape, snapshot, score)
        return Ranking(sheet.fits, sheet.scores[0], sheet.scored)

    def _scores(self, trial: Trial) -> Floats:
        if self._last is None:
            return np.zeros(len(trial.rows))
        tags = self._tags[trial.rows]
        same, several = tags[:, self._last], tags.sum(axis=1) > 1
        bonus = np.where(same, np.where(several, 50, 75), np.where(tags.any(axis=1), 0, 25))
        score: Floats = (25 * (ROOM - trial.room) // ROOM + bonus).astype(np.float64)
        return score


def tag_of(shape: Shape) -> int | None:
    """Return the size of a Pod: `SHARE`, a number of cards, or None for no card."""
    if shape.request is None:
        return None
    whole = shape.request.whole or shape.request.count > 1
    return min(shape.request.count, TAGS - 1) if whole else SHARE
