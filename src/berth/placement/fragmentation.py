"""FGD, as published: place where the fragmentation that is expected grows least.

Weng, Yang et al., "Beware of Fragmentation", USENIX ATC 2023. A node's fragmentation is what is
left of its cards and cannot be used by a typical request, on average over them. The simulator of
the paper cuts the score to a whole number of 0 to 100, so most nodes tie and the lowest rank wins:
without the cut the same formula is 1 to 3 points worse. It also adds up in a certain order, by
category; a zero change must stay exactly zero, so this does the same.
"""

import numpy as np

from berth.model.request import PodRequest, Shape
from berth.model.snapshot import WHOLE, Bools, Floats, Ints, Snapshot
from berth.placement.board import Board, Score
from berth.placement.cards import need
from berth.placement.pick import Choice
from berth.placement.policy import Ranking
from berth.placement.trial import Trial
from berth.placement.typical import Typical, typical

LEARN_AFTER = 200
"""Arrivals after which the typical requests are taken anew at the soonest, where they are not
given; then after a tenth more."""
LEARN_EVERY = 2_000
"""The same at the latest: old arrivals fade by half in 16,384."""
IN_TURN = 25
"""Rows of an older list that are scored again with each decision: each card is tried, and costs."""


class Fragmentation:
    """FGD over typical requests that are given, or learned from what has arrived."""

    name = "fragmentation"

    def __init__(self, known: Typical | None = None) -> None:
        """Take the list of typical requests, or learn it."""
        self.choice = Choice(scored=self._card)
        self._known = known

    def rank(self, wanted: PodRequest, snapshot: Snapshot) -> Ranking:
        """Score all nodes for a Pod, by its shape."""
        shape = wanted.shape
        board, score, epoch = self._scoring(shape, snapshot)
        sheet = board.sheet(shape, snapshot, score, epoch)
        return Ranking(sheet.fits, sheet.scores[0], sheet.scored)

    def _card(self, shape: Shape, snapshot: Snapshot, rows: Ints) -> Ints:
        board, score, epoch = self._scoring(shape, snapshot)
        return board.cards(shape, snapshot, rows, score, epoch)

    def _scoring(self, shape: Shape, snapshot: Snapshot) -> tuple[Board, Score, int]:
        epoch, requests = self._typical(snapshot)

        def score(rows: Ints, good: Bools) -> tuple[Floats, Ints]:
            return _scores(shape, snapshot, (rows, good), requests)

        board = snapshot.keep(f"board/{self.name}", lambda _: Board(in_turn=IN_TURN))
        return board, score, epoch

    def _typical(self, snapshot: Snapshot) -> tuple[int, Typical]:
        if self._known is not None:
            return 0, self._known
        learned = snapshot.keep("typical", Learning)
        learned.refresh(snapshot)
        return learned.epoch, learned.requests


class Learning:
    """The typical requests as learned from arrivals; part of the snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Take what has arrived so far."""
        self.epoch = -1
        self._learn(snapshot)

    def refresh(self, snapshot: Snapshot) -> None:
        """Take them anew where it is time, or where there are new kinds of card."""
        if snapshot.mix.arrivals >= self._next or len(snapshot.kinds) != self._kinds:
            self._learn(snapshot)

    def _learn(self, snapshot: Snapshot) -> None:
        arrivals = snapshot.mix.arrivals
        self.epoch += 1
        self.requests = typical(snapshot.mix.counts, snapshot)
        self._kinds = len(snapshot.kinds)
        self._next = arrivals + min(LEARN_EVERY, max(LEARN_AFTER, arrivals // 10))


def fragmented(snapshot: Snapshot, requests: Typical) -> Floats:
    """Return each node's fragmentation in milli of a card."""
    rows = np.arange(len(snapshot))
    return _expected(requests, snapshot, rows, snapshot.left, snapshot.cpu)


def _scores(
    shape: Shape, snapshot: Snapshot, fitting: tuple[Ints, Bools], requests: Typical
) -> tuple[Floats, Ints]:
    """Return the score of the best card of each row, and that card, the lowest index of equals."""
    rows, good = fitting
    before = _expected(requests, snapshot, rows, snapshot.left[rows], snapshot.cpu[rows])
    if shape.request is None or shape.request.count > 1 or shape.request.whole:
        trial = Trial.of(shape, snapshot, rows, good)
        return _one_way(trial, snapshot, requests, before)
    at, card = np.nonzero(_different(good, snapshot.left[rows]))
    left = snapshot.left[rows[at]]
    each = np.arange(len(at))
    left[each, card] -= need(shape.request, snapshot).milli[snapshot.kind[rows[at], card]]
    cpu = snapshot.cpu[rows[at]] - shape.cpu_milli
    after = _expected(requests, snapshot, rows[at], left.clip(min=0), cpu)
    by_card = np.full((len(rows), left.shape[1]), -1.0)
    by_card[at, card] = _whole_numbers(before[at] - after)
    return by_card.max(axis=1), by_card.argmax(axis=1)


def _one_way(
    trial: Trial, snapshot: Snapshot, requests: Typical, before: Floats
) -> tuple[Floats, Ints]:
    left = trial.left.copy()
    np.put_along_axis(left, trial.cards, trial.new, axis=1)
    after = _expected(requests, snapshot, trial.rows, left, trial.cpu_after)
    first = trial.cards[:, 0] if trial.cards.shape[1] else np.zeros_like(trial.rows)
    return _whole_numbers(before - after), first


def _whole_numbers(gain: Floats) -> Floats:
    scores: Floats = np.trunc(100 * (1 / (1 + np.exp(-gain / WHOLE))))
    return scores


def _different(good: Bools, left: Ints) -> Bools:
    """Keep the first of each row's cards that have the same left."""
    same = (left[:, :, None] == left[:, None, :]) & good[:, None, :]
    earlier = np.tril(np.ones((left.shape[1], left.shape[1]), dtype=np.bool_), -1)
    kept: Bools = good & ~(same & earlier).any(axis=2)
    return kept


def _expected(requests: Typical, snapshot: Snapshot, rows: Ints, left: Ints, cpu: Ints) -> Floats:
    """Return the fragmentation of nodes in the state given, added up in the published order."""
    room = left.sum(axis=1)
    cards = requests.count > 0
    enough_cpu = cpu.clip(min=0) >= requests.cpu[:, None]
    takes = requests.accepted[:, snapshot.kind_of_node[rows]]
    wide = requests.milli[cards][:, snapshot.kind[rows]]
    small = left < wide
    enough_cards = (~small).sum(axis=2) >= requests.count[cards, None]
    rest = (left * small).sum(axis=2)
    fits = enough_cards & enough_cpu[cards]
    amount = requests.weight[cards, None] * np.where(fits, rest, room)
    every = requests.weight[:, None] * room
    cpu_only = ~cards[:, None]
    total: Floats = _added(amount, takes[cards] & ~enough_cards & ~enough_cpu[cards])
    total = total + _added(amount, takes[cards] & ((~enough_cards & enough_cpu[cards]) | fits))
    total = total + _added(amount, takes[cards] & enough_cards & ~enough_cpu[cards])
    total = total + _added(every, cpu_only & enough_cpu)
    total = total + _added(every, cpu_only & ~enough_cpu)
    return total + _added(every, ~cpu_only & ~takes)


def _added(amounts: Floats, where: Bools) -> Floats:
    """Add up one request after another: numpy's own sum goes by pairs where it can."""
    if not len(amounts):
        return np.zeros(amounts.shape[1])
    added: Floats = np.cumsum(np.where(where, amounts, 0.0), axis=0)[-1]
    return added
