"""What is kept between decisions is bounded, and what is learned fades."""

import msgspec
import numpy as np
import pytest

from berth.model import mix
from berth.model.mix import Mix
from berth.model.placement import Placement
from berth.model.request import Shape
from berth.model.snapshot import Bools, Floats, Ints, Snapshot
from berth.placement import board, uuids
from berth.placement.board import IN_TURN, PACE, Board
from berth.placement.decide import decide
from berth.placement.policies import POLICIES
from berth.placement.typical import AT_MOST, OF_SEVERAL, typical
from tests.placement.clusters import node, pod, share, whole


def test_old_arrivals_fade_and_rare_shapes_go() -> None:
    """A shape that is never seen again is forgotten; one that comes always stays."""
    learned = Mix()
    learned.arrived(Shape(1, None))
    for _ in range(2 * mix.MEMORY):
        learned.arrived(Shape(2, None))
    assert set(learned.counts) == {Shape(2, None)}
    assert learned.counts.total() <= mix.MEMORY
    assert learned.arrivals == 2 * mix.MEMORY + 1


def test_different_shapes_are_bounded() -> None:
    """Also where no Pod is like another."""
    learned = Mix()
    for cpu in range(3 * mix.SHAPES):
        learned.arrived(Shape(cpu, None))
    assert len(learned.counts) <= mix.SHAPES
    snapshot = Snapshot([node("a", 8)])
    counts = {Shape(cpu, whole(2)): 1 for cpu in range(2_000)}
    assert len(typical(counts, snapshot, several=True).shapes) <= AT_MOST + OF_SEVERAL


def test_churn_is_departures_per_arrival_lately() -> None:
    """Nought where nothing leaves, one where as many leave as come."""
    learned = Mix()
    for _ in range(100):
        learned.arrived(Shape(1, None))
    assert learned.churn == 0
    for _ in range(10_000):
        learned.departed()
        learned.arrived(Shape(1, None))
    assert learned.churn == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_sheets_are_bounded_and_one_that_is_made_again_says_the_same(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With room for few shapes, decisions are those of a snapshot with room for all."""
    nodes = [node(f"n{at}", 4) for at in range(8)]
    wanted = [pod(share(1_000 * at, count=1 + at % 2)) for at in range(1, 9)] * 2

    def places() -> list[str]:
        snapshot, went = Snapshot(nodes), []
        for one in wanted:
            decision = decide(one, snapshot, POLICIES[policy])
            assert isinstance(decision, Placement)
            snapshot.place(decision.allocation)
            went.append(decision.allocation.node)
        return went

    roomy = places()
    monkeypatch.setattr(board, "CELLS", 1)
    assert places() == roomy


def test_a_new_shape_on_many_nodes_is_scored_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fullest nodes at once, the others later; one that fits is never overlooked."""
    monkeypatch.setattr(board, "AT_ONCE", 4)
    monkeypatch.setattr(board, "IN_TURN", 3)
    snapshot = Snapshot(node(f"n{at:02}", 1, rank=at) for at in range(20))
    went = []
    for _ in range(20):
        decision = decide(pod(whole()), snapshot, POLICIES["scarcity"])
        assert isinstance(decision, Placement)
        snapshot.place(decision.allocation)
        went.append(decision.allocation.node)
    assert len(set(went)) == 20


def test_marks_of_named_cards_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a node has many cards, those of one Pod are as large as the whole fleet."""
    monkeypatch.setattr(uuids, "MARKS", 6_000)
    snapshot = Snapshot([node(f"n{at}", 64) for at in range(10)])
    most = uuids.MARKS // snapshot.kind.size
    for at in range(2 * most):
        wanted = msgspec.structs.replace(share(100), uuids=(f"u{at}",))
        assert not uuids.named(wanted, snapshot).any()
    known: dict[object, object] = snapshot.settled("named", lambda _: {})
    assert 0 < len(known) <= most


def scored_again(arrivals: int) -> int:
    """Return how many rows of older weights a shape gets when it comes after so many others."""
    snapshot, kept, shape = (
        Snapshot(node(f"n{at}", 1) for at in range(2_000)),
        Board(),
        Shape(1, None),
    )
    scored: list[int] = []

    def score(rows: Ints, _: Bools) -> tuple[Floats, None]:
        assert len(set(rows.tolist())) == len(rows)
        scored.append(len(rows))
        return np.zeros((1, len(rows))), None

    for _ in range(20):  # a new shape has all its rows scored some decisions later
        kept.sheet(shape, snapshot, score, epoch=1)
    assert sum(scored) == len(snapshot)
    for _ in range(arrivals):
        snapshot.mix.arrived(Shape(2, None))
    before = sum(scored)
    kept.sheet(shape, snapshot, score, epoch=2)
    return sum(scored) - before


def test_a_shape_that_seldom_comes_is_not_judged_by_weights_of_long_ago() -> None:
    """Its rows are scored again at the pace of all arrivals, and never too many at once."""
    assert scored_again(1) == scored_again(PACE) == IN_TURN
    assert scored_again(4 * PACE) == 4 * IN_TURN
    assert scored_again(40 * PACE) == board.AT_ONCE
