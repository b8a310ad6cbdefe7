"""What a policy is, and the simple ones: a score for each node, and which cards come first."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from berth.model.request import PodRequest
from berth.model.snapshot import Bools, Floats, Ints, Snapshot
from berth.placement.board import Board
from berth.placement.pick import FULLEST, Choice
from berth.placement.trial import Trial

EMPTIEST = Choice(fullest=False)


class Ranking(msgspec.Struct, frozen=True):
    """What a policy thinks of all nodes: the higher the better, where one fits."""

    fits: Bools
    """CPU and cards suffice for the shape, and nothing in the policy forbids the node."""
    scores: Floats
    scored: Bools
    """The rows that fit and have a score already: a new shape gets its scores in turn."""


class Policy(Protocol):
    """How good each node is, and which cards come first inside one."""

    @property
    def name(self) -> str:
        """The word by which it is chosen."""

    @property
    def choice(self) -> Choice:
        """Which cards of a node are taken."""

    def rank(self, wanted: PodRequest, snapshot: Snapshot) -> Ranking:
        """Score all nodes for a Pod, by its shape."""


class Simple:
    """A policy whose score depends on the node alone, and is the same until the node changes."""

    def __init__(
        self, name: str, score: Callable[[Trial, Snapshot], Floats], choice: Choice = FULLEST
    ) -> None:
        """Score nodes by this function, of nodes with the shape on their first cards."""
        self.name = name
        self.choice = choice
        self._score = score

    def rank(self, wanted: PodRequest, snapshot: Snapshot) -> Ranking:
        """Score all nodes for a Pod, by its shape."""
        shape = wanted.shape

        def score(rows: Ints, good: Bools) -> tuple[Floats, None]:
            trial = Trial.of(shape, snapshot, rows, good, self.choice)
            return self._score(trial, snapshot), None

        board = snapshot.keep(f"board/{self.name}", lambda _: Board())
        sheet = board.sheet(shape, snapshot, score)
        return Ranking(sheet.fits, sheet.scores[0], sheet.scored)
