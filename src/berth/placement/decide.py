"""Where a Pod goes: which nodes fit, which of them is best, and what it holds there."""

import msgspec
import numpy as np

from berth.model.placement import Candidate, Placement, Refusal
from berth.model.request import PodRequest
from berth.model.snapshot import Floats, Ints, Snapshot
from berth.placement.explain import without
from berth.placement.fit import fit
from berth.placement.held import allocations
from berth.placement.nodes import node_part
from berth.placement.policy import Policy, Ranking
from berth.placement.together import together

UNSCORED = -1e18
"""Below every score: of a node that a policy has not come to yet, it is known that it fits."""


class Extent(msgspec.Struct, frozen=True):
    """How much of an answer is wanted beside the best node: each part takes its time."""

    candidates: int = 1
    """Nodes that are ranked, each with what the Pod would hold there."""
    nodes: int = 1
    """Nodes that are ranked by name alone."""
    why: bool = True
    """Whether a placement says why the other nodes do not fit; a refusal always does."""


BEST = Extent()


def decide(
    wanted: PodRequest, snapshot: Snapshot, policy: Policy, extent: Extent = BEST
) -> Placement | Refusal:
    """Decide where a Pod goes.

    Nothing is placed: `snapshot.place(placement.allocation)` does that. The best score wins, and
    of equal ones the node of the lowest rank.
    """
    wanted = policy.choice.applied(wanted)
    ranking = policy.rank(wanted, snapshot)
    good = ranking.fits & node_part(wanted, snapshot)
    if len(wanted.requests) > 1:
        good &= together(wanted, snapshot, policy.choice)
    scores = np.where(good, np.where(ranking.scored, ranking.scores, UNSCORED), -np.inf)
    rows = best(scores, snapshot, max(extent.candidates, extent.nodes))
    first = rows[: extent.candidates]
    candidates = _candidates(wanted, snapshot, policy, ranking, first)
    if not candidates:
        return Refusal(without=without(wanted, snapshot, good, policy.choice))
    return Placement(
        allocation=candidates[0].allocation,
        candidates=candidates,
        nodes=tuple([snapshot.nodes[row].name for row in rows[: extent.nodes].tolist()]),
        fitting=int(np.count_nonzero(good)),
        without=without(wanted, snapshot, good, policy.choice) if extent.why else (),
    )


def _candidates(
    wanted: PodRequest, snapshot: Snapshot, policy: Policy, ranking: Ranking, rows: Ints
) -> tuple[Candidate, ...]:
    """Return these rows, on all of which the Pod fits, with what it would hold there."""
    if not len(rows):
        return ()
    fitted = fit(wanted, snapshot, rows, policy.choice)
    scores = np.where(ranking.scored[rows], ranking.scores[rows], UNSCORED).tolist()
    each = zip(allocations(wanted, fitted, snapshot), scores, strict=True)
    return tuple(Candidate(held, score) for held, score in each if held is not None)


def best(scores: Floats, snapshot: Snapshot, limit: int) -> Ints:
    """Return the rows of the best scores, the best first, of equal ones the lowest rank."""
    if limit > 1:
        rows = _among_best(scores, snapshot, limit)
        return rows[np.lexsort((snapshot.rank[rows], -scores[rows]))]
    best = scores.max(initial=-np.inf)
    if best == -np.inf:
        return np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(scores == best)
    return rows[[snapshot.rank[rows].argmin()]]


def _among_best(scores: Floats, snapshot: Snapshot, limit: int) -> Ints:
    """Return the same in any order: cheaper than to sort all, of which most are often equal."""
    fitting = np.flatnonzero(scores > -np.inf)
    if len(fitting) <= limit:
        return fitting
    some = scores[fitting]
    last = np.partition(some, -limit)[-limit]
    better, equal = fitting[some > last], fitting[some == last]
    lowest = np.argpartition(snapshot.rank[equal], limit - len(better) - 1)
    return np.concatenate([better, equal[lowest[: limit - len(better)]]])
