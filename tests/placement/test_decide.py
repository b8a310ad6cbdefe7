"""Decisions that a person would expect, one by one."""

from random import Random

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berth.model.node import Node
from berth.model.placement import Allocation, Hold, Misfit, Placement, Refusal
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import Extent, best, decide
from berth.placement.filters import Filter
from berth.placement.policies import POLICIES
from berth.placement.scarcity import State
from tests.placement.clusters import A100, T4, node, pod, share, whole

BINPACK, SPREAD = POLICIES["binpack"], POLICIES["spread"]


def placed(snapshot: Snapshot, wanted: PodRequest, policy: str = "binpack") -> tuple[str, ...]:
    """Place a Pod that must fit, and return its node and the numbers of its cards."""
    decision = decide(wanted, snapshot, POLICIES[policy])
    assert isinstance(decision, Placement)
    snapshot.place(decision.allocation)
    holds = decision.allocation.holds
    return decision.allocation.node, *(f"{hold.container}:{hold.device}" for hold in holds)


def refused(snapshot: Snapshot, wanted: PodRequest) -> Refusal:
    """Return why a Pod does not fit anywhere."""
    decision = decide(wanted, snapshot, BINPACK)
    assert isinstance(decision, Refusal)
    return decision


def test_shares_fill_a_card_and_a_whole_card_is_an_idle_one() -> None:
    """Binpack puts shares together; who wants a card alone gets one that nobody holds."""
    snapshot = Snapshot([node("a", 2), node("b", 2)])
    first = placed(snapshot, pod(share(20_000)))
    assert placed(snapshot, pod(share(20_000))) == first
    assert placed(snapshot, pod(whole()))[1] != first[1]
    assert placed(snapshot, pod(share(41_920))) == first, "81920 MiB in all"


def test_spread_takes_the_emptiest_node_and_card() -> None:
    """Four shares go to four cards, node by node in turn."""
    snapshot = Snapshot([node("a", 2, rank=1), node("b", 2, rank=2)])
    went = [placed(snapshot, pod(share(10_000)), "spread") for _ in range(4)]
    assert went == [("a", "c0:0"), ("b", "c0:0"), ("a", "c0:1"), ("b", "c0:1")]


def test_mutex_takes_only_cards_that_nobody_holds() -> None:
    """The second share does not join the first, and the third has no place."""
    snapshot = Snapshot([node("a", 2)])
    assert placed(snapshot, pod(share(10_000)), "mutex") == ("a", "c0:0")
    assert placed(snapshot, pod(share(10_000)), "mutex") == ("a", "c0:1")
    assert isinstance(decide(pod(share(10_000)), snapshot, POLICIES["mutex"]), Refusal)


def test_a_card_whose_cores_are_given_away_takes_no_share_without_cores() -> None:
    """HAMi's rule 13: such a share would starve."""
    snapshot = Snapshot([node("a", 1)])
    placed(snapshot, pod(share(1_000, cores=60)))
    placed(snapshot, pod(share(1_000, cores=40)))
    assert refused(snapshot, pod(share(1_000))).without[0].reason is Misfit.CARDS


@pytest.mark.parametrize(("cores", "others"), [(100, 0), (200, 1)])
def test_a_card_that_gives_out_more_than_its_own_cores_is_shared(cores: int, others: int) -> None:
    """HAMi's rule 12, by `deviceCoreScaling`: 100 of 200 percent leave as much to another."""
    made = node("a", 1)
    scaled = msgspec.structs.replace(made.devices[0], cores=cores)
    snapshot = Snapshot([msgspec.structs.replace(made, devices=(scaled,))])
    wanted = pod(share(1_000, cores=100))
    placed(snapshot, wanted)
    for _ in range(others):
        placed(snapshot, wanted)
    assert isinstance(decide(wanted, snapshot, POLICIES["binpack"]), Refusal)


def test_slots_end() -> None:
    """A card with two slots carries two containers, however small."""
    snapshot = Snapshot([node("a", 1, slots=2)])
    placed(snapshot, pod(share(100)))
    placed(snapshot, pod(share(100)))
    refused(snapshot, pod(share(100)))


def test_containers_hold_side_by_side_and_an_init_container_before_them() -> None:
    """Two containers need two halves; an init container may take what they hold later."""
    snapshot = Snapshot([node("a", 1)])
    wanted = msgspec.structs.replace(
        pod(share(40_000), share(40_000)), init_devices=(("init", share(81_920)),)
    )
    decision = decide(wanted, snapshot, BINPACK)
    assert isinstance(decision, Placement)
    assert [(hold.container, hold.memory_mib) for hold in decision.allocation.holds] == [
        ("c0", 40_000),
        ("c1", 40_000),
        ("init", 1_920),
    ], "the init container needs 1920 MiB more than the others together"
    refused(snapshot, pod(share(41_000), share(41_000)))


def test_a_sidecar_holds_its_card_beside_the_init_containers_after_it() -> None:
    """The init container gets what is left beside it, and only the rest is held in the end."""
    snapshot = Snapshot([node("a", 1)])
    wanted = msgspec.structs.replace(
        pod(share(10_000), share(20_000)),  # c0 is the sidecar
        init_devices=(("init", share(50_000)),),
        sidecars=(("init", ("c0",)),),
    )
    decision = decide(wanted, snapshot, BINPACK)
    assert isinstance(decision, Placement)
    held = [(hold.container, hold.memory_mib, hold.slots) for hold in decision.allocation.holds]
    assert held == [("c0", 10_000, 1), ("c1", 20_000, 1), ("init", 30_000, 0)]
    too_much = msgspec.structs.replace(wanted, init_devices=(("init", share(75_000)),))
    (why,) = refused(snapshot, too_much).without
    assert (why.reason, why.waiting_helps) == (Misfit.TOGETHER, False)


def test_containers_that_fit_one_by_one_must_fit_together() -> None:
    """A node with one idle card is none for two containers that want one each."""
    snapshot = Snapshot([node("a", 1, rank=0), node("b", 2, rank=1)])
    assert placed(snapshot, pod(whole(), whole())) == ("b", "c0:0", "c1:1")
    decision = decide(pod(whole(), whole()), snapshot, BINPACK)
    assert [str(some) for some in decision.without if some.nearest == "a"] == [
        "nodes that take its containers one by one, not side by side: 1; will never fit"
    ]
    placed(snapshot, pod(share(1_000), share(1_000)))
    why = next(
        one for one in refused(snapshot, pod(whole(), whole())).without if one.nearest == "b"
    )
    assert why.waiting_helps


def test_models_vendors_and_uuids() -> None:
    """What a request accepts, and what it does not."""
    snapshot = Snapshot([node("a", 2), node("t", 2, T4)])
    t4 = DeviceRequest(vendor="nvidia", memory_mib=1_000, models=("t4",))
    assert placed(snapshot, pod(t4))[0] == "t"
    not_t4 = DeviceRequest(vendor="nvidia", memory_mib=1_000, models_not=("T4",))
    assert placed(snapshot, pod(not_t4))[0] == "a"
    that = DeviceRequest(vendor="nvidia", memory_mib=1_000, uuids=("t-1",))
    assert placed(snapshot, pod(that)) == ("t", "c0:1")
    rest = DeviceRequest(vendor="nvidia", memory_mib=1_000, uuids_not=("t-0", "t-1", "a-0"))
    assert placed(snapshot, pod(rest)) == ("a", "c0:1")
    other = DeviceRequest(vendor="ascend", memory_mib=1_000)
    assert not refused(snapshot, pod(other)).waiting_helps
    nowhere = DeviceRequest(vendor="nvidia", memory_mib=1_000, uuids=("x-0",))
    assert not refused(snapshot, pod(nowhere)).waiting_helps, "no node has that card"


@pytest.mark.parametrize(
    ("held", "wanted", "said"),
    [
        (share(80_000), share(2_000), "2000 MiB of one card wanted, a has 1920 free"),
        (
            share(1_000, 90),
            share(1_000, 20),
            "20 percent of one card's cores wanted, a has 10 free",
        ),
        (share(1_000, 100), share(1_000), "1 percent of one card's cores wanted, a has 0 free"),
        (share(1_000), whole(), "1 free cards wanted, a has 0"),
    ],
)
def test_the_nearest_miss_is_what_the_card_lacks(
    held: DeviceRequest, wanted: DeviceRequest, said: str
) -> None:
    """Memory, cores or slots: of the card with the most left."""
    snapshot = Snapshot([node("a", 1)])
    placed(snapshot, pod(held))
    (why,) = refused(snapshot, pod(wanted)).without
    assert str(why) == f"{said} (nodes: 1); may fit later"


def mixed(name: str, *kinds: tuple[str, int]) -> Node:
    """Return a node with one card of each kind."""
    cards = (node(f"{name}{at}", 1, kind).devices[0] for at, kind in enumerate(kinds))
    return msgspec.structs.replace(node(name, 0), devices=tuple(cards))


@pytest.mark.parametrize(
    ("nodes", "held", "wanted", "said"),
    [
        (
            [mixed("a", T4, A100)],
            [("a", 1, 40_960)],
            share(50_000),
            "50000 MiB of one card wanted, a has 40960 free (nodes: 1)",
        ),
        (
            [node("small", 1, ("A", 40_960)), node("large", 1, A100)],
            [("small", 0, 3_277), ("large", 0, 43_418)],
            share(39_000),
            "39000 MiB of one card wanted, large has 38502 free (nodes: 2)",
        ),
        (
            [node("three", 4), node("half", 8)],
            [("three", 0, 1), *(("half", card, 1) for card in range(8))],
            whole(4),
            "4 free cards wanted, three has 3 (nodes: 2)",
        ),
        (
            [node("a", 2)],
            [("a", 0, 80_000), ("a", 1, 79_000)],
            msgspec.structs.replace(share(3_000), uuids=("a-0",)),
            "3000 MiB of one card wanted, a has 1920 free (nodes: 1)",
        ),
        (
            [node("a", 1)],
            [("a", 0, 90_000)],
            share(1_000),
            "1000 MiB of one card wanted, a has 0 free (nodes: 1)",
        ),
    ],
    ids=["models on one node", "models of the fleet", "cards", "named", "overcommitted"],
)
def test_the_nearest_miss_is_the_nearest(
    nodes: list[Node], held: list[tuple[str, int, int]], wanted: DeviceRequest, said: str
) -> None:
    """Of cards that would do, by what each lacks itself, however large it is and whatever else."""
    snapshot = Snapshot(nodes)
    for name, card, memory in held:
        snapshot.place(Allocation(node=name, holds=(Hold("c", card, memory, 0),)))
    (why,) = refused(snapshot, pod(wanted)).without
    assert str(why) == f"{said}; may fit later"


@pytest.mark.parametrize("free", [0, 2, 3])
def test_of_very_many_nodes_the_nearest_is_found(free: int) -> None:
    """All but one have room on every card, and so no idle one, or fewer."""
    snapshot = Snapshot([node(f"n{at}", 4) for at in range(600)])
    for at in range(600):
        for card in range(free if at == 431 else max(0, free - 1), 4):
            snapshot.place(Allocation(node=f"n{at}", holds=(Hold("c", card, 1, 0),)))
    (why,) = refused(snapshot, pod(whole(4))).without
    assert (why.nodes, why.has) == (600, free)
    assert why.nearest == "n431" or not free


def test_a_share_in_percent_is_of_each_card_its_own() -> None:
    """Half of a T4 is not half of an A100."""
    half = DeviceRequest(vendor="nvidia", memory_percent=50)
    snapshot = Snapshot([node("t", 1, T4)])
    decision = decide(pod(half), snapshot, BINPACK)
    assert isinstance(decision, Placement)
    assert decision.allocation.holds[0].memory_mib == 7_680


LINKS = ((0, 1, 9, 1), (1, 0, 1, 9), (9, 1, 0, 1), (1, 9, 1, 0))


def test_linked_cards_and_cards_of_one_numa_node() -> None:
    """Two linked cards are 0 and 2; two of one NUMA node are 0 and 1, or 2 and 3."""
    two = msgspec.structs.replace(whole(2), linked=True)
    snapshot = Snapshot([node("a", 4, links=LINKS, numa=(0, 0, 1, 1))])
    assert placed(snapshot, pod(two)) == ("a", "c0:0", "c0:2")
    near = msgspec.structs.replace(whole(2), same_numa=True)
    refused(snapshot, pod(near))
    snapshot = Snapshot([node("a", 4, links=LINKS, numa=(0, 0, 1, 1))])
    placed(snapshot, pod(share(1)))
    assert placed(snapshot, pod(near)) == ("a", "c0:2", "c0:3")
    (why,) = refused(snapshot, pod(near)).without
    assert why.waiting_helps
    never = msgspec.structs.replace(whole(3), same_numa=True)
    (why,) = refused(snapshot, pod(never)).without
    assert (why.reason, why.has, why.waiting_helps) == (Misfit.NUMA, 2, False)


def test_a_node_of_very_many_cards_gives_each_once() -> None:
    """Eight cards of ten replicas each are eighty where no label says that they are replicas."""
    snapshot = Snapshot([node("a", 80)])
    taken = [
        card
        for _ in range(40)
        for card in placed(snapshot, pod(whole(2), cpu=1, memory=1), "topology")[1:]
    ]
    assert len(set(taken)) == 80
    assert refused(snapshot, pod(whole(2), cpu=1, memory=1)).waiting_helps


def test_of_two_numa_nodes_the_one_that_the_policy_prefers() -> None:
    """Binpack the fuller one, spread the other."""
    near = share(1_000, count=2)
    near = msgspec.structs.replace(near, same_numa=True)
    for policy, cards in (("binpack", ("c0:3", "c0:2")), ("spread", ("c0:0", "c0:1"))):
        snapshot = Snapshot([node("a", 4, numa=(0, 0, 1, 1))])
        placed(snapshot, pod(msgspec.structs.replace(share(9_000), uuids=("a-3",))))
        assert placed(snapshot, pod(near), policy) == ("a", *cards)


def test_topology_goes_where_the_links_are() -> None:
    """A node with linked cards beats one without, for a Pod of two."""
    plain = tuple(tuple(0 for _ in range(4)) for _ in range(4))
    snapshot = Snapshot([node("plain", 4, links=plain), node("linked", 4, links=LINKS)])
    assert placed(snapshot, pod(whole(2)), "topology") == ("linked", "c0:0", "c0:2")


def test_least_utilised_goes_where_cards_are_idle() -> None:
    """Measured load comes first; without it, the emptiest."""
    snapshot = Snapshot([node("a", 1, rank=0), node("b", 1, rank=1)])
    snapshot.measured("a", 80)
    assert placed(snapshot, pod(share(1_000)), "least-utilised")[0] == "b"
    snapshot.measured("b", 90)
    assert placed(snapshot, pod(share(1_000)), "least-utilised")[0] == "a"


def test_a_refusal_says_for_each_class_of_nodes_why_and_how_near() -> None:
    """What can never be, what others hold, and which node misses least."""
    snapshot = Snapshot(
        [
            node("cpu-only", 0),
            node("small", 2, T4),
            node("one-card", 1),
            node("busy", 4),
            node("weak", 4, cpu=500),
            node("gone", 4),
        ]
    )
    busy = msgspec.structs.replace(whole(), uuids=("busy-0",))
    placed(snapshot, pod(busy))
    placed(snapshot, msgspec.structs.replace(pod(), cpu_milli=32_000), "spread")
    snapshot.remove("gone")
    wanted = share(40_000, count=4)
    why = {some.reason: some for some in refused(snapshot, pod(wanted)).without}
    assert why[Misfit.NO_SUCH_CARD].nearest == "cpu-only"
    small = why[Misfit.CARDS_TOO_SMALL]
    assert str(small) == (
        "40000 MiB of one card wanted, small has 15360 (nodes: 1); will never fit"
    )
    assert (why[Misfit.TOO_FEW_CARDS].wanted, why[Misfit.TOO_FEW_CARDS].has) == (4, 1)
    assert (why[Misfit.CARDS].wanted, why[Misfit.CARDS].has) == (4, 3)
    assert why[Misfit.CPU].nearest == "weak"
    assert {some.reason for some in why.values() if some.waiting_helps} == {Misfit.CARDS}
    assert str(why[Misfit.CARDS]) == "4 free cards wanted, busy has 3 (nodes: 1); may fit later"


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (whole(2), Misfit.TOO_FEW_CARDS),
        (msgspec.structs.replace(share(1_000), uuids=("a-1",)), Misfit.NO_SUCH_CARD),
        (msgspec.structs.replace(share(1_000), models=("A100",)), Misfit.NO_SUCH_CARD),
        (share(50_000), Misfit.CARDS_TOO_SMALL),
        (
            msgspec.structs.replace(
                whole(2),
                where=(Filter("roomy", 'device.memory.free.isGreaterThan(quantity("1Gi"))'),),
            ),
            Misfit.TOO_FEW_CARDS,
        ),
    ],
)
def test_a_card_that_is_not_healthy_may_be_so_again(
    request_: DeviceRequest, reason: Misfit
) -> None:
    """Nothing is placed on it, and a node that is cordoned or not ready may do later as well."""
    t4, a100 = node("a", 1, T4).devices[0], node("a", 2).devices[1]
    devices = (t4, msgspec.structs.replace(a100, healthy=False))
    snapshot = Snapshot([msgspec.structs.replace(node("a"), devices=devices)])
    (why,) = refused(snapshot, pod(request_)).without
    assert (why.reason, why.waiting_helps) == (reason, True)
    snapshot.put(msgspec.structs.replace(node("a"), devices=(t4,)))
    (why,) = refused(snapshot, pod(request_)).without
    assert (why.reason, why.waiting_helps) == (reason, False)


@pytest.mark.parametrize(
    ("wanted", "reason", "waits"),
    [
        (pod(cpu=33_000), Misfit.CPU, False),
        (pod(cpu=32_000), Misfit.CPU, True),
        (pod(memory=200_000), Misfit.MEMORY, False),
        (pod(memory=131_072), Misfit.MEMORY, True),
        (PodRequest(other={"rdma": 1}), Misfit.OTHER, False),
    ],
)
def test_nodes_are_judged_whole(wanted: PodRequest, reason: Misfit, *, waits: bool) -> None:
    """CPU, memory and other resources, now and at all."""
    snapshot = Snapshot([node("a", 1)])
    placed(snapshot, pod())
    (why,) = refused(snapshot, wanted).without
    assert (why.reason, why.waiting_helps) == (reason, waits)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_node_with_less_than_nothing_left_takes_who_wants_nothing_of_it(policy: str) -> None:
    """As in Kubernetes: its kubelet was given less, or it runs Pods that no scheduler sent."""
    snapshot = Snapshot([node("a", 1, cpu=1_000, memory=1_024)])
    snapshot.place(Allocation(node="a", cpu_milli=8_000, memory_mib=4_096))
    for _ in range(30):  # some more than are needed to learn from
        snapshot.mix.arrived(pod(share(1_000), cpu=0).shape)
    assert placed(snapshot, pod(share(1_000), cpu=0, memory=0), policy) == ("a", "c0:0")
    assert [
        refused(snapshot, wanted).without[0].reason
        for wanted in (
            pod(share(1_000), cpu=1, memory=0),
            pod(share(1_000), cpu=0, memory=1),
        )
    ] == [Misfit.CPU, Misfit.MEMORY]


def test_what_lacks_cpu_carries_no_request_rather_than_fewer_than_none() -> None:
    """The groups of whole cards that scarcity counts in the cluster are at least those there."""
    snapshot = Snapshot([node("a", 4, cpu=1_000), node("b", 4)])
    snapshot.place(Allocation(node="a", cpu_milli=8_000))
    for _ in range(30):
        snapshot.mix.arrived(pod(whole(2), cpu=0).shape)
    decide(pod(whole(2), cpu=0), snapshot, POLICIES["scarcity"])
    state = snapshot.keep("scarcity", State)
    assert state.groups_total[state.demand.sizes.index(2)] == 4


def test_the_best_candidates_come_first_and_ties_go_by_rank() -> None:
    """As many as were asked for; of equal nodes the lower rank."""
    snapshot = Snapshot([node("a", 1, rank=3), node("b", 1, rank=1), node("c", 2, rank=2)])
    decision = decide(pod(share(1_000)), snapshot, BINPACK, Extent(candidates=2))
    assert isinstance(decision, Placement)
    assert [candidate.node for candidate in decision.candidates] == ["b", "a"]
    assert decision.fitting == 3
    assert decision.allocation == decision.candidates[0].allocation
    named = decide(pod(share(1_000)), snapshot, BINPACK, Extent(nodes=2, why=False))
    assert isinstance(named, Placement)
    assert (named.nodes, len(named.candidates)) == (("b", "a"), 1)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_each_candidate_has_the_devices_that_it_would_give(policy: str) -> None:
    """All of them are what the Pod would get there if the others were gone."""
    snapshot = Snapshot([node("a", 2), node("b", 4), node("c", 1)])
    placed(snapshot, pod(share(20_000)), policy)
    wanted = pod(share(70_000), share(10_000))
    decision = decide(wanted, snapshot, POLICIES[policy], Extent(candidates=100, nodes=100))
    assert isinstance(decision, Placement)
    assert len(decision.candidates) == decision.fitting
    assert decision.nodes == tuple(candidate.node for candidate in decision.candidates)
    scores = [candidate.score for candidate in decision.candidates]
    assert scores == sorted(scores, reverse=True)
    for candidate in decision.candidates:
        fit = snapshot.only(np.array([snapshot.row[candidate.node]]))
        alone = decide(wanted, fit, POLICIES[policy])
        assert isinstance(alone, Placement)
        assert candidate.allocation == alone.allocation


def test_nodes_come_and_go() -> None:
    """New nodes and new kinds of card are seen by every policy; gone ones are not chosen."""
    for policy in POLICIES:
        snapshot = Snapshot([node("a", 1)])
        assert placed(snapshot, pod(whole()), policy)[0] == "a"
        assert isinstance(decide(pod(whole()), snapshot, POLICIES[policy]), Refusal)
        snapshot.extend([node("t", 4, T4)])
        assert placed(snapshot, pod(whole()), policy)[0] == "t"
        snapshot.remove("t")
        assert isinstance(decide(pod(whole()), snapshot, POLICIES[policy]), Refusal)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from([-np.inf, 0.0, 1.0, 2.5]), max_size=30),
    st.integers(1, 32),
    st.randoms(use_true_random=False),
)
def test_the_best_few_are_those_of_a_whole_sort(
    scores: list[float], limit: int, order: Random
) -> None:
    """By score, then by rank, however many are equal."""
    ranks = list(range(len(scores)))
    order.shuffle(ranks)
    snapshot = Snapshot(node(f"n{at}", 0, rank=rank) for at, rank in enumerate(ranks))
    fitting = [row for row, score in enumerate(scores) if score > -np.inf]
    fitting.sort(key=lambda row: (-scores[row], ranks[row]))
    assert best(np.array(scores), snapshot, limit).tolist() == fitting[:limit]
