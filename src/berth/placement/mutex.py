"""Only cards that nobody holds, on the fullest node that has them."""

import numpy as np

from berth.model.request import Shape
from berth.model.snapshot import Floats, Snapshot
from berth.placement.binpack import fullness
from berth.placement.cards import Choice
from berth.placement.policy import Ranking, Simple
from berth.placement.trial import Trial


def _score(trial: Trial, snapshot: Snapshot) -> Floats:
    held = np.take_along_axis(snapshot.holders[trial.rows], trial.cards, axis=1)
    score: Floats = np.where((held > 0).any(axis=1), -np.inf, fullness(trial, snapshot))
    return score


class Mutex(Simple):
    """The emptiest cards are taken, and a node where those are held does not fit."""

    def __init__(self) -> None:
        """Score nodes by how full they are."""
        super().__init__("mutex", _score, Choice(fullest=False, idle=True))

    def rank(self, shape: Shape, snapshot: Snapshot) -> Ranking:
        """Score all nodes for a shape."""
        ranking = super().rank(shape, snapshot)
        idle = ~ranking.scored | (ranking.scores > -np.inf)
        return Ranking(ranking.fits & idle, ranking.scores, ranking.scored & idle)


MUTEX = Mutex()
