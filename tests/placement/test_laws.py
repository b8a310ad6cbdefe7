"""Laws of snapshots and decisions, over random clusters and random sequences of Pods."""

from collections import Counter
from itertools import product
from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berth.model.node import Node
from berth.model.placement import Allocation, Placement
from berth.model.request import PodRequest
from berth.model.snapshot import Snapshot
from berth.placement import baselines
from berth.placement.decide import Extent, decide
from berth.placement.fragmentation import Fragmentation
from berth.placement.held import allocate
from berth.placement.nodes import node_part
from berth.placement.policies import POLICIES
from berth.placement.policy import Policy
from berth.placement.scarcity import FIRST, State
from berth.placement.stock import Stock
from berth.placement.typical import typical
from tests.placement.clusters import NODES, PODS, node, pod, share
from tests.placement.test_slices import mig

EVERY_POLICY = [*POLICIES.values(), baselines.Random(np.random.default_rng(7))]
by_policy = pytest.mark.parametrize("policy", EVERY_POLICY, ids=lambda policy: policy.name)


def columns(snapshot: Snapshot) -> dict[str, list[object]]:
    """Return all that a snapshot says of its nodes, without when it was last changed."""
    return {
        name: column.tolist()
        for name, column in vars(snapshot).items()
        if isinstance(column, np.ndarray) and name != "version"
    }


def run(
    snapshot: Snapshot, pods: list[PodRequest], policy: Policy, leaving: Random
) -> list[Allocation]:
    """Place Pods one by one, let some leave, and return who is left."""
    running: list[Allocation] = []
    for wanted in pods:
        snapshot.mix.arrived(wanted.shape)
        decision = decide(wanted, snapshot, policy)
        if isinstance(decision, Placement):
            snapshot.place(decision.allocation)
            running.append(decision.allocation)
        if running and leaving.random() < 0.3:
            snapshot.undo(running.pop(leaving.randrange(len(running))))
            snapshot.mix.departed()
    return running


@settings(max_examples=25, deadline=None)
@given(NODES, st.lists(PODS, max_size=12), st.randoms(use_true_random=False))
def test_undo_in_any_order_gives_back_all(
    nodes: list[Node], pods: list[PodRequest], order: Random
) -> None:
    """Place, then undo, is nothing at all."""
    snapshot = Snapshot(nodes)
    before = columns(snapshot)
    running = run(snapshot, pods, POLICIES["binpack"], order)
    order.shuffle(running)
    for allocation in running:
        snapshot.undo(allocation)
    assert columns(snapshot) == before


@by_policy
@settings(max_examples=15, deadline=None)
@given(nodes=NODES, pods=st.lists(PODS, max_size=30), order=st.randoms(use_true_random=False))
def test_nothing_is_ever_given_twice(
    policy: Policy, nodes: list[Node], pods: list[PodRequest], order: Random
) -> None:
    """No card, CPU or memory is overcommitted, and who wants a card alone has it alone."""
    snapshot = Snapshot(nodes)
    running = run(snapshot, pods, policy, order)
    for column in (snapshot.cpu, snapshot.memory, snapshot.pods, snapshot.mem_left):
        assert (column >= 0).all()
    assert (snapshot.cores_left >= 0).all()
    assert (snapshot.slots_left >= 0).all()
    on = [{(one.node, hold.device) for hold in one.holds} for one in running]
    for one in running:
        for hold in one.holds:
            alone = sum((one.node, hold.device) in cards for cards in on) == 1
            assert hold.cores < 100 or alone


@by_policy
@settings(max_examples=15, deadline=None)
@given(
    nodes=NODES,
    pods=st.lists(PODS, max_size=20),
    wanted=PODS,
    order=st.randoms(use_true_random=False),
)
def test_a_decision_changes_nothing_and_a_refusal_is_right(
    policy: Policy, nodes: list[Node], pods: list[PodRequest], wanted: PodRequest, order: Random
) -> None:
    """Deciding leaves the snapshot as it was; the reasons count every node that does not fit."""
    snapshot = Snapshot(nodes)
    run(snapshot, pods, policy, order)
    before, clock = columns(snapshot), snapshot.clock
    decision = decide(wanted, snapshot, policy)
    assert columns(snapshot) == before
    assert snapshot.clock == clock
    counted = sum(some.nodes for some in decision.without)
    fitting = decision.fitting if isinstance(decision, Placement) else 0
    assert counted + fitting == len(nodes)
    has_rest = node_part(wanted, snapshot)
    one_by_one = [
        has_rest[row] and allocate(wanted, snapshot, row, policy.choice) is not None
        for row in range(len(nodes))
    ]
    assert fitting == one_by_one.count(True)


@settings(max_examples=12, deadline=None)
@given(others=PODS, dice=st.randoms(use_true_random=True))
def test_a_node_asked_alone_gives_the_cards_that_a_decision_takes_there(
    others: PodRequest, dice: Random
) -> None:
    """Under every policy, whether asked before the decision or after; cards are filled anyhow."""
    snapshot = Snapshot([node(f"n{at}", 4) for at in range(4)])
    shares = [pod(share(dice.choice([4_000, 11_000, 23_000, 37_000]))) for _ in range(40)]
    anyhow = baselines.Random(np.random.default_rng(dice.getrandbits(32)))
    run(snapshot, [*shares, others], anyhow, dice)
    for policy, wanted in product(POLICIES.values(), (others, shares[0])):
        before = [allocate(wanted, snapshot, row, policy.choice) for row in range(4)]
        decision = decide(wanted, snapshot, policy, Extent(candidates=4, why=False))
        after = [allocate(wanted, snapshot, row, policy.choice) for row in range(4)]
        assert before == after
        for one in decision.candidates if isinstance(decision, Placement) else ():
            assert one.allocation == before[snapshot.row[one.allocation.node]], policy.name


@pytest.mark.parametrize("name", sorted(set(POLICIES) - {"scarcity", "fragmentation"}))
@settings(max_examples=10, deadline=None)
@given(
    nodes=NODES,
    pods=st.lists(PODS, max_size=25),
    wanted=PODS,
    order=st.randoms(use_true_random=False),
)
def test_kept_scores_equal_those_computed_anew(
    name: str, nodes: list[Node], pods: list[PodRequest], wanted: PodRequest, order: Random
) -> None:
    """A snapshot that has lived through events decides as one that is made of what is left."""
    lived = Snapshot(nodes)
    running = run(lived, pods, POLICIES[name], order)
    fresh = Snapshot(nodes)
    for allocation in running:
        fresh.place(allocation)
    assert decide(wanted, lived, POLICIES[name]) == decide(wanted, fresh, POLICIES[name])


@settings(max_examples=25, deadline=None)
@given(NODES, st.lists(PODS, max_size=25), PODS, st.randoms(use_true_random=False))
def test_kept_scores_of_fragmentation_equal_those_computed_anew(
    nodes: list[Node], pods: list[PodRequest], wanted: PodRequest, order: Random
) -> None:
    """The same, with the list of typical requests known beforehand."""
    lived, fresh = Snapshot(nodes), Snapshot(nodes)
    counts = Counter(pod.shape for pod in [*pods, wanted])
    policy = Fragmentation(typical(counts, lived))
    for allocation in run(lived, pods, policy, order):
        fresh.place(allocation)
    assert decide(wanted, lived, policy) == decide(wanted, fresh, policy)


@settings(max_examples=25, deadline=None)
@given(NODES, st.lists(PODS, min_size=FIRST, max_size=60), st.randoms(use_true_random=False))
def test_the_tables_of_scarcity_equal_those_computed_anew(
    nodes: list[Node], pods: list[PodRequest], order: Random
) -> None:
    """Events and new weights leave no trace in the tables but the right numbers."""
    snapshot = Snapshot(nodes)
    run(snapshot, pods, POLICIES["scarcity"], order)
    state = snapshot.keep("scarcity", State)
    state.refresh(snapshot)
    fresh = Stock(state.stock.columns, snapshot)
    assert np.array_equal(state.stock.times, fresh.times)
    assert np.array_equal(state.stock.usable, fresh.usable)
    slots = fresh.columns.slots(fresh.times, snapshot.cpu)
    assert np.allclose(state.groups_total, (slots @ state.weights.groups).sum(axis=0))


def standing(made: Node, random: Random) -> Node:
    """Return a node that is perhaps not ready, with cards that are perhaps ill."""
    cards = [msgspec.structs.replace(card, healthy=random.random() < 0.9) for card in made.devices]
    return msgspec.structs.replace(made, ready=random.random() < 0.9, devices=tuple(cards))


@pytest.mark.parametrize("policy", [POLICIES[one] for one in ("binpack", "scarcity", "topology")])
@settings(max_examples=12, deadline=None)
@given(NODES, st.lists(PODS, min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_waiting_helps_where_the_node_would_take_the_pod_alone(
    policy: Policy, nodes: list[Node], pods: list[PodRequest], random: Random
) -> None:
    """Ready, with all cards healthy and nobody on it; each node is told of once, and why."""
    nodes = [standing(one, random) for one in (*nodes, mig(2))]
    snapshot = Snapshot(nodes)
    run(snapshot, pods[:-1], policy, random)
    found = decide(pods[-1], snapshot, policy, Extent(candidates=len(nodes)))
    fitting = {one.node for one in found.candidates} if isinstance(found, Placement) else set()
    assert sum(one.nodes for one in found.without) == len(nodes) - len(fitting)
    may = sum(
        isinstance(decide(pods[-1], Snapshot([sound(one)]), policy), Placement)
        for one in nodes
        if one.name not in fitting
    )
    assert sum(one.nodes for one in found.without if one.waiting_helps) == may
    assert all(0 <= one.has < max(1, one.wanted) for one in found.without)


def sound(made: Node) -> Node:
    """Return the node as it would be at its best."""
    cards = [msgspec.structs.replace(card, healthy=True) for card in made.devices]
    return msgspec.structs.replace(made, ready=True, devices=tuple(cards))
