"""Cards that are linked best for a Pod of several; then near the Pods of its Job; then the fullest.

Near is the same node, then the same rack: a label of the nodes says which that is.
"""

import numpy as np

from berth.model.request import PodRequest
from berth.model.snapshot import Bools, Floats, Ints, Snapshot
from berth.placement.binpack import fullness
from berth.placement.board import Board
from berth.placement.eligible import label
from berth.placement.links import best_sets
from berth.placement.pick import Choice
from berth.placement.policy import Ranking
from berth.placement.trial import Trial

LINKS = 10.0
"""What a step of a link counts. How full a node is counts 1 at most."""
SAME_NODE = 4.0
SAME_RACK = 2.0
"""At most: where all Pods of the Job are in one rack."""


class Topology:
    """Links first, then the Job's other Pods, then how full a node is."""

    name = "topology"
    choice = Choice(linked=True)

    def rank(self, wanted: PodRequest, snapshot: Snapshot) -> Ranking:
        """Score all nodes for a Pod, by its shape and its group."""
        shape = wanted.shape
        several = shape.request is not None and shape.request.count > 1

        def score(rows: Ints, good: Bools) -> tuple[Floats, None]:
            scores = fullness(Trial.of(shape, snapshot, rows, good), snapshot)
            if several and shape.request is not None:
                scores += LINKS * best_sets(snapshot, rows, good, shape.request.count)[1]
            return scores, None

        board = snapshot.keep(f"board/{self.name}", lambda _: Board())
        sheet = board.sheet(shape, snapshot, score)
        scores: Floats = sheet.scores[0]
        if wanted.group in snapshot.groups:
            scores = scores + _near(wanted, snapshot)
        return Ranking(sheet.fits, scores, sheet.scored)


def _near(wanted: PodRequest, snapshot: Snapshot) -> Floats:
    """Return how near each node is to the Pods of the same group that are placed."""
    racks, codes = label(wanted.rack, snapshot)
    there = np.zeros(len(snapshot))
    for row, pods in snapshot.groups[wanted.group].items():
        there[row] = pods
    by_rack = np.bincount(codes, weights=there, minlength=len(racks)) / there.sum()
    by_rack[[at for at, rack in enumerate(racks) if rack is None]] = 0.0
    near: Floats = SAME_NODE * (there > 0) + SAME_RACK * by_rack[codes]
    return near
