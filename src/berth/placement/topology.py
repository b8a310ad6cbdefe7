"""The node whose free cards are linked best for a Pod of several, the fullest of equals."""

import numpy as np

from berth.model.request import Shape
from berth.model.snapshot import Bools, Floats, Ints, Snapshot
from berth.placement.binpack import fullness
from berth.placement.board import Board
from berth.placement.cards import Choice
from berth.placement.links import best_set, links_of
from berth.placement.policy import Ranking
from berth.placement.trial import Trial


class Topology:
    """Links first, then how full a node is; for one card the latter alone."""

    name = "topology"
    choice = Choice(linked=True)

    def rank(self, shape: Shape, snapshot: Snapshot) -> Ranking:
        """Score all nodes for a shape."""

        def score(rows: Ints, good: Bools) -> tuple[Floats, None]:
            trial = Trial.of(shape, snapshot, rows, good)
            return fullness(trial, snapshot) + 10 * _linked(shape, snapshot, rows, good), None

        board = snapshot.keep(f"board/{self.name}", lambda _: Board())
        sheet = board.sheet(shape, snapshot, score)
        return Ranking(sheet.fits, sheet.scores[0], sheet.scored)


def _linked(shape: Shape, snapshot: Snapshot, rows: Ints, good: Bools) -> Floats:
    if shape.request is None or shape.request.count < 2:
        return np.zeros(len(rows))
    count = shape.request.count
    return np.array(
        [
            best_set(links_of(snapshot.nodes[row].devices), good[at], count)[1]
            for at, row in enumerate(rows)
        ]
    )
