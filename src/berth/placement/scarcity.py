"""The default policy: keep what is scarce for those who can use nothing else.

Each request that has come often is asked what a node is still worth to it: what it could use of
the node's cards, its first place there for the most part, the second for half of that, and so on
(vanishing returns). A request that can use little of what is free in the whole cluster, because
it wants a rare card, many cards or much CPU, counts for more. A Pod goes where it takes the least
of that. On top come prices for groups of whole cards and for kinds of card that are about to run
short, and for cards left without CPU to use them. All of it is learned from arrivals; nothing is
given. docs/decisions/0019-placement.md has the reasons and docs/reference/placement.md the results.
"""

from itertools import chain

import numpy as np

from berth.model.request import PodRequest
from berth.model.snapshot import WHOLE, Bools, Floats, Ints, Snapshot
from berth.placement.board import Board
from berth.placement.cards import need
from berth.placement.pick import FULLEST
from berth.placement.policy import Ranking
from berth.placement.prices import (
    group_price,
    kind_loads,
    kind_prices,
    own_shortness,
    prospect_price,
)
from berth.placement.stock import Stock, Table
from berth.placement.trial import Trial
from berth.placement.typical import typical
from berth.placement.weights import SIZES, Demand, Weights, columns_of, demand, weigh

FIRST = 20
"""Arrivals before anything is learned."""
EVERY = 200
"""Arrivals after which weights are taken anew at the latest; before, after each 15% more."""
STEP = 100.0
"""Milli by which scores must differ to count: of those within, the lowest rank wins."""
LEFT = 0.3 / 8
"""Price of a milli that is left on the node: a slight wish to fill nodes up."""
KINDS_EVERY = 10
"""Arrivals after which the prices of kinds are taken anew."""
VANISHING = (2 - np.exp2(1 - np.arange(64))).astype(np.float32)
"""What n places are worth, the first being 1 and each further one half of the one before."""


class State:
    """What the policy has learned, and its tables; part of the snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Know nothing."""
        self.epoch = 0
        self.next = 0
        self.board = Board(columns=1 + 2 * SIZES)
        self._learn(snapshot, None)

    def refresh(self, snapshot: Snapshot) -> None:
        """Bring the tables up to date, and the weights where it is time."""
        arrivals = snapshot.mix.arrivals
        if arrivals >= self.next or not self.stock.fits(snapshot):
            self._learn(snapshot, self.stock)
            grown = max(10, arrivals * 15 // 100) if arrivals >= FIRST else FIRST - arrivals
            self.next = arrivals + min(EVERY, grown)
            return
        rows = self.stock.catch_up(snapshot)
        if len(rows):
            times = self.stock.times[rows]
            groups = self.stock.columns.slots(times, snapshot.cpu[rows]) @ self.weights.groups
            self.groups_total += (groups - self.groups[rows]).sum(axis=0)
            self.groups[rows] = groups
        if len(self.demand.accepts) and arrivals // KINDS_EVERY != self._kinds_at:
            self._price_kinds(snapshot)

    def _learn(self, snapshot: Snapshot, before: Stock | None) -> None:
        self.epoch += 1
        learning = snapshot.mix.arrivals >= FIRST
        sizes = self.demand.sizes if before else (0,) * SIZES
        self.demand: Demand = demand(snapshot.mix, snapshot, sizes)
        counted = typical(snapshot.mix.counts if learning else {}, snapshot, several=True)
        columns = columns_of(counted, snapshot)
        self.stock = Stock(columns, snapshot, before)
        slots = columns.slots(self.stock.times, snapshot.cpu)
        self.weights: Weights = weigh(counted, columns, slots, snapshot, self.demand.sizes)
        self.groups: Floats = slots @ self.weights.groups
        self.groups_total: Floats = self.groups.sum(axis=0)
        self.prospects: Floats = self._shortness(slots.sum(axis=0, dtype=float), snapshot)
        self._price_kinds(snapshot)

    def _shortness(self, own: Floats, snapshot: Snapshot) -> Floats:
        """Weigh each shape's prospects by its part of its size, and by how short its own are."""
        several = self.stock.columns.several
        sizes = zip(self._expected(snapshot), self.groups_total.tolist(), strict=True)
        short = [own_shortness(*size, own[several]) for size in sizes]
        weighed: Floats = self.weights.groups[several] * np.array(short).T
        return weighed

    def _price_kinds(self, snapshot: Snapshot) -> None:
        self._kinds_at = snapshot.mix.arrivals // KINDS_EVERY
        kinds = range(len(snapshot.kinds))
        free = np.array([snapshot.room[snapshot.kind_of_node == kind].sum() for kind in kinds])
        wanted = self.demand.bound_share * free.sum()
        prices = kind_prices(kind_loads(wanted, self.demand.accepts, free))
        self.kind_prices: Floats = np.append(prices, 0.0)

    def _expected(self, snapshot: Snapshot) -> list[float]:
        free = float(snapshot.room.sum())
        shares = zip(self.demand.sizes, self.demand.size_share, strict=True)
        return [share * free / (WHOLE * size) if size else 0.0 for size, share in shares]

    def group_prices(self, snapshot: Snapshot) -> tuple[list[float], list[float]]:
        """Return the price of a group of each size now, and that of a prospect of one."""
        expected, groups = self._expected(snapshot), self.groups_total.tolist()
        each = list(zip(self.demand.sizes, expected, groups, strict=True))
        churn = snapshot.mix.churn
        return (
            [group_price(*one) for one in each],
            [prospect_price(*one, churn) for one in each],
        )


class Scarcity:
    """Scarcity-weighted, vanishing-returns fragmentation, learned from arrivals."""

    name = "scarcity"
    choice = FULLEST

    def rank(self, wanted: PodRequest, snapshot: Snapshot) -> Ranking:
        """Score all nodes for a Pod, by its shape."""
        shape = wanted.shape
        state = snapshot.keep(self.name, State)
        state.refresh(snapshot)

        def score(rows: Ints, good: Bools) -> tuple[Floats, None]:
            trial = Trial.of(shape, snapshot, rows, good)
            return _scores(trial, snapshot.kind[rows], state), None

        sheet = state.board.sheet(shape, snapshot, score, state.epoch)
        scores = sheet.scores[0].copy()
        prices = chain(*state.group_prices(snapshot))
        for price, broken in zip(prices, sheet.scores[1:], strict=True):
            if price:
                scores -= price * broken
        if shape.request is not None and len(state.demand.accepts):
            milli = shape.request.count * need(shape.request, snapshot).milli
            scores -= (milli * state.kind_prices)[snapshot.kind_of_node]
        return Ranking(sheet.fits, np.floor(scores / STEP + 1e-9), sheet.scored)


def _scores(trial: Trial, kinds: Ints, state: State) -> Floats:
    """Return what placing a shape leaves better or worse, in milli, and the groups it breaks.

    Of each size first those that are there, then the prospects. `kinds` are of all cards.
    """
    columns, weights, rows = state.stock.columns, state.weights, trial.rows
    times, usable = state.stock.times[rows], state.stock.usable[rows]
    times_old, usable_old = columns.of_cards(trial.old, trial.kind)
    times_new, usable_new = columns.of_cards(trial.new, trial.kind)
    slots = columns.slots(times, trial.cpu)
    times_after = times - times_old + times_new
    slots_after = columns.slots(times_after, trial.cpu_after)
    usable_after = usable - usable_old + usable_new
    lost = _worth(slots, usable, state, trial) - _worth(slots_after, usable_after, state, trial)
    score = 2 * weights.total * (trial.room - trial.room_after) - lost
    score -= LEFT * trial.room_after
    score += _stranded(trial.room, trial.cpu, state) - _stranded(
        trial.room_after, trial.cpu_after, state
    )
    broken = (slots - slots_after) @ weights.groups
    most = columns.most_of_several(kinds)
    prospects = columns.prospects(times, trial.cpu, most)
    prospects -= columns.prospects(times_after, trial.cpu_after, most)
    return np.vstack([score, broken.T, (prospects @ state.prospects).T])


def _worth(slots: Table, usable: Table, state: State, trial: Trial) -> Floats:
    """Return what rows are worth to all requests: what is usable, and the places on it."""
    places = VANISHING.take(slots.astype(np.int64), mode="clip")
    worth = usable * (slots > 0) + places * state.stock.columns.takes[trial.kind_of_node]
    total: Floats = (worth * state.weights.by_kind[trial.kind_of_node]).sum(
        axis=1, dtype=np.float64
    )
    return total


def _stranded(room: Ints, cpu: Ints, state: State) -> Floats:
    """Return the milli of cards that are left without the CPU that a Pod brings along."""
    return np.maximum(0.0, room - cpu / state.demand.cpu_per_card)
