"""Where a Pod goes: which nodes fit, which of them is best, and what it holds there."""

import msgspec
import numpy as np

from berth.model.placement import Allocation, Candidate, Placement, Refusal
from berth.model.request import DeviceRequest, PodRequest, Shape
from berth.model.snapshot import Floats, Ints, Snapshot
from berth.placement.cards import Choice
from berth.placement.explain import without
from berth.placement.fit import allocate
from berth.placement.nodes import node_part
from berth.placement.policy import Policy, Ranking

UNSCORED = -1e18
"""Below every score: of a node that a policy has not come to yet, it is known that it fits."""


def decide(
    wanted: PodRequest, snapshot: Snapshot, policy: Policy, limit: int = 1
) -> Placement | Refusal:
    """Decide where a Pod goes; `limit` is how many candidates are ranked.

    Nothing is placed: `snapshot.place(placement.allocation)` does that. The best score wins, and
    of equal ones the node of the lowest rank.
    """
    ranking = policy.rank(wanted.shape, snapshot)
    good = ranking.fits & node_part(wanted, snapshot)
    for request in _others(wanted):
        good &= policy.rank(Shape(wanted.cpu_milli, request), snapshot).fits
    scores = np.where(good, np.where(ranking.scored, ranking.scores, UNSCORED), -np.inf)
    while (best := scores.max(initial=-np.inf)) > -np.inf:
        rows = np.flatnonzero(scores == best)
        row = int(rows[snapshot.rank[rows].argmin()])
        allocation = allocate(wanted, snapshot, row, _choice(ranking, policy, row))
        if allocation is not None:
            return Placement(
                allocation=allocation,
                candidates=_candidates(scores, snapshot, row, limit),
                fitting=int(np.count_nonzero(good)),
                without=without(wanted, snapshot, good),
            )
        good[row], scores[row] = False, -np.inf
    return Refusal(without=without(wanted, snapshot, good))


def on_node(wanted: PodRequest, snapshot: Snapshot, policy: Policy, node: str) -> Allocation | None:
    """Return what a Pod would hold on a node under a policy, None if the cards do not carry it."""
    row = snapshot.row[node]
    choice = _choice(policy.rank(wanted.shape, snapshot), policy, row)
    return allocate(wanted, snapshot, row, choice)


def _others(wanted: PodRequest) -> list[DeviceRequest]:
    """Return the device requests beside the one that the shape stands for."""
    if len(wanted.devices) + len(wanted.init_devices) < 2:
        return []
    requests = [request for _, request in (*wanted.devices, *wanted.init_devices)]
    return [request for request in dict.fromkeys(requests) if request != wanted.shape.request]


def _choice(ranking: Ranking, policy: Policy, row: int) -> Choice:
    if ranking.card is None:
        return policy.choice
    return msgspec.structs.replace(policy.choice, card=int(ranking.card[row]))


def _candidates(scores: Floats, snapshot: Snapshot, best: int, limit: int) -> tuple[Candidate, ...]:
    rows: Ints = np.array([best])
    if limit > 1:
        fitting = np.flatnonzero(scores > -np.inf)
        rows = fitting[np.lexsort((snapshot.rank[fitting], -scores[fitting]))][:limit]
    return tuple(Candidate(snapshot.nodes[row].name, float(scores[row])) for row in rows)
