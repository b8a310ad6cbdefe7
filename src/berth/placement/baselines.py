"""Policies to compare with: what others do, and the baselines of the FGD paper.

Weng, Yang et al., "Beware of Fragmentation", USENIX ATC 2023, and its simulator: scores are whole
numbers there, and equal ones go to the node of the lowest rank.
"""

import numpy as np

from berth.model.request import PodRequest, Shape
from berth.model.snapshot import WHOLE, Floats, Ints, Snapshot
from berth.placement.cards import suitable
from berth.placement.pick import Choice
from berth.placement.policy import Ranking, Simple
from berth.placement.trial import Trial

CPU = 128_000
ROOM = 8_000
"""What the paper's scores take as the most that a node has, in milli."""


def _first_fit(trial: Trial, _: Snapshot) -> Floats:
    return np.zeros(len(trial.rows))


def _best_fit(trial: Trial, _: Snapshot) -> Floats:
    """Least left of CPU and cards. The published stretching to 0 to 100 keeps the order."""
    return np.trunc(100.0 * (1 - 0.5 * trial.cpu_after / CPU - 0.5 * trial.room_after / ROOM))


def _dot_product(trial: Trial, _: Snapshot) -> Floats:
    """Smallest product of what is left and what is wanted: the reverse of Tetris' alignment."""
    cpu = (trial.cpu / CPU) * ((trial.cpu - trial.cpu_after) / CPU)
    room = (trial.room / ROOM) * ((trial.room - trial.room_after) / ROOM)
    return np.trunc(100 * (1 - (cpu + room) / 2))


def _packing(trial: Trial, snapshot: Snapshot) -> Floats:
    """Cards in use first, then idle ones of nodes in use, then untouched nodes."""
    if not trial.cards.shape[1]:
        return np.zeros(len(trial.rows))
    cards = np.count_nonzero(snapshot.kind[trial.rows] >= 0, axis=1)
    untouched = trial.room == cards * WHOLE
    idle = np.count_nonzero(trial.old == WHOLE, axis=1)
    left = (trial.old * 100 // WHOLE).sum(axis=1) // 10
    used = np.where(idle > 0, np.maximum(50 - idle, 33), np.maximum(100 - left, 50))
    score: Floats = np.where(untouched, np.maximum(33 - cards, cards), used).astype(np.float64)
    return score


class Random:
    """A node drawn from all that fit, and a card of it. The generator is an argument."""

    name = "random"

    def __init__(self, generator: np.random.Generator) -> None:
        """Draw from this generator."""
        self._generator = generator
        self.choice = Choice(scored=self._draw)

    def rank(self, wanted: PodRequest, snapshot: Snapshot) -> Ranking:
        """Give each node a random score."""
        fits = FIRST_FIT.rank(wanted, snapshot).fits
        return Ranking(fits, self._generator.random(len(fits)), fits)

    def _draw(self, shape: Shape, snapshot: Snapshot, rows: Ints) -> Ints:
        if shape.request is None:
            return np.zeros_like(rows)
        good = suitable(shape.request, snapshot, rows)
        card: Ints = np.where(good, self._generator.random(good.shape), -1.0).argmax(axis=1)
        return card


FIRST_FIT = Simple("first-fit", _first_fit)
BEST_FIT = Simple("best-fit", _best_fit)
DOT_PRODUCT = Simple("dot-product", _dot_product)
PACKING = Simple("packing", _packing)
