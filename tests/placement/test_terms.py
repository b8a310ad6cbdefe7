"""Words that order cards, classes that must not share one, and Pods that belong together."""

import msgspec
import pytest

from berth.model.placement import Misfit, Placement, Refusal
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.model.terms import Scoped, Terms, group
from berth.placement.decide import decide
from berth.placement.filters import Filter
from berth.placement.policies import POLICIES
from tests.placement.clusters import node, pod, share, whole

APART = Terms(apart=(("inference", "training"), ("inference", "batch")))


def of_class(workload: str, request: DeviceRequest | None = None) -> PodRequest:
    """Return a Pod of a class, as its label says it."""
    labels = {"berth.dev/workload-class": workload}
    return APART.applied(pod(request or share(1_000)), "ns", labels, {})


def placed(snapshot: Snapshot, wanted: PodRequest, policy: str = "binpack") -> tuple[str, ...]:
    """Place a Pod that must fit, and return its node and the numbers of its cards."""
    decision = decide(wanted, snapshot, POLICIES[policy])
    assert isinstance(decision, Placement)
    snapshot.place(decision.allocation)
    return decision.allocation.node, *(str(hold.device) for hold in decision.allocation.holds)


@pytest.mark.parametrize("policy", sorted(POLICIES.keys() - {"mutex"}))
def test_classes_that_are_kept_apart_share_no_card(policy: str) -> None:
    """Training beside inference, whoever came first; what has no class goes with both."""
    snapshot = Snapshot([node("a", 2)])
    (_, first) = placed(snapshot, of_class("inference"), policy)
    (_, second) = placed(snapshot, of_class("training"), policy)
    assert first != second
    assert placed(snapshot, of_class("inference"), policy) == ("a", first)
    assert placed(snapshot, of_class("batch"), policy) == ("a", second)
    held = decide(pod(share(1_000)), snapshot, POLICIES["binpack"])
    assert isinstance(held, Placement)
    assert held.allocation.workload == ""


def test_a_card_is_free_for_the_others_once_the_last_has_left() -> None:
    """Until then the refusal says why, and that waiting helps."""
    snapshot = Snapshot([node("a", 1)])
    running = [decide(of_class("training"), snapshot, POLICIES["binpack"]) for _ in range(2)]
    for one in running:
        assert isinstance(one, Placement)
        snapshot.place(one.allocation)
    for one in running:
        refusal = decide(of_class("inference"), snapshot, POLICIES["binpack"])
        assert isinstance(refusal, Refusal)
        (why,) = refusal.without
        assert (why.reason, why.waiting_helps) == (Misfit.APART, True)
        assert isinstance(one, Placement)
        snapshot.undo(one.allocation)
    placed(snapshot, of_class("inference"))


def test_a_class_is_a_label_or_else_an_annotation_and_only_one_that_is_kept_apart() -> None:
    """Others cost nothing, however many there are."""
    key = APART.workload_key
    assert APART.workload({}, {key: "training"}) == "training"
    assert APART.workload({key: "batch"}, {key: "training"}) == "batch"
    assert APART.workload({key: "anything"}, {}) == ""
    assert APART.workload({}, {key: 1}) == ""
    assert APART.beside_not("inference") == ("batch", "training")
    assert APART.beside_not("training") == ("inference",)


def test_a_class_may_be_kept_apart_from_itself() -> None:
    """One of a kind per card."""
    alone = Terms(apart=(("noisy", "noisy"),))
    wanted = alone.applied(pod(share(1_000)), "ns", {alone.workload_key: "noisy"}, {})
    snapshot = Snapshot([node("a", 2)])
    assert placed(snapshot, wanted) != placed(snapshot, wanted)


def test_tests_of_cards_are_for_the_namespaces_that_are_named() -> None:
    """All that begin so, with a star."""
    terms = Terms(tests=(Scoped(Filter("mine", "true"), ("team-*", "x")),))
    for namespace, there in (("team-a", True), ("x", True), ("xx", False)):
        ((_, request),) = terms.applied(pod(share(1)), namespace, {}, {}).devices
        assert bool(request.where) is there


FULL = (0, 30_000, 10_000, 20_000)
"""What is held of each of four cards, the last two of another NUMA node."""


def used() -> Snapshot:
    """Return a node whose cards are held so; card 1 by six, so it has the fewest slots."""
    snapshot = Snapshot([node("a", 4, numa=(1, 1, 0, 0))])
    for card, memory in enumerate(FULL):
        for _ in range(6 if card == 1 else bool(memory)):
            one = share(memory // (6 if card == 1 else 1))
            placed(snapshot, pod(msgspec.structs.replace(one, uuids=(f"a-{card}",))))
    return snapshot


@pytest.mark.parametrize(
    ("words", "card"),
    [
        (("binpack",), "1"),
        (("spread",), "0"),
        (("numa", "binpack"), "3"),
        (("numa", "spread"), "2"),
        (("binpack", "numa"), "1"),
    ],
)
def test_the_words_of_a_pod_order_its_cards_under_every_policy(
    words: tuple[str, ...], card: str
) -> None:
    """As HAMi's `gpu-scheduler-policy` has them, whatever the policy of nodes."""
    wanted = msgspec.structs.replace(share(1_000), order=words)
    for policy in POLICIES.keys() - {"mutex"}:  # which takes idle cards alone
        assert placed(used(), pod(wanted), policy) == ("a", card), policy


def test_weights_say_what_a_full_card_is() -> None:
    """Card 3 has more memory held than card 2, which has more containers on it."""
    snapshot = Snapshot([node("a", 4)])
    for at, memory in ((2, 2_000), (2, 2_000), (3, 40_000)):
        placed(snapshot, pod(msgspec.structs.replace(share(memory), uuids=(f"a-{at}",))))
    for weights, card in (((1, 0, 0), 2), ((0, 0, 1), 3)):
        wanted = msgspec.structs.replace(share(1_000), order=("binpack",), weights=weights)
        decision = decide(pod(wanted), snapshot, POLICIES["spread"])
        assert isinstance(decision, Placement)
        assert decision.allocation.holds[0].device == card


def test_mutex_and_topology_aware_leave_cards_out() -> None:
    """Idle cards alone; of one card the least linked, of two the best linked."""
    links = ((0, 1, 9, 1), (1, 0, 1, 1), (9, 1, 0, 1), (1, 1, 1, 0))
    snapshot = Snapshot([node("a", 4, links=links)])
    placed(snapshot, pod(msgspec.structs.replace(share(1_000), uuids=("a-1",))))
    idle = msgspec.structs.replace(share(1_000), idle=True, order=("binpack",))
    assert placed(snapshot, pod(idle)) == ("a", "0")
    snapshot = Snapshot([node("a", 4, links=links)])
    one = msgspec.structs.replace(whole(), linked=True)
    two = msgspec.structs.replace(whole(2), linked=True)
    assert placed(snapshot, pod(one)) == ("a", "1")
    assert placed(snapshot, pod(two)) == ("a", "0", "2")


def in_racks() -> Snapshot:
    """Return two racks of two nodes, and a node in none, which comes first by rank."""
    made = [node(name, 2, rank=at) for at, name in enumerate(("z", "a1", "b1", "a2", "b2"))]
    racks = {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}
    return Snapshot(
        msgspec.structs.replace(
            one,
            labels={"topology.kubernetes.io/rack": racks[one.name]} if one.name in racks else {},
        )
        for one in made
    )


def test_topology_keeps_the_pods_of_a_job_together() -> None:
    """On one node while that has room, then in its rack, then anywhere; one of none is apart."""
    snapshot = in_racks()
    first = msgspec.structs.replace(pod(whole()), group="j", eligibility=pod().eligibility)
    there = msgspec.structs.replace(
        pod(msgspec.structs.replace(whole(), uuids=("b2-0",))), group="j"
    )
    assert placed(snapshot, there, "topology")[0] == "b2"
    went = [placed(snapshot, first, "topology")[0] for _ in range(4)]
    assert went == ["b2", "b1", "b1", "z"]
    assert placed(snapshot, pod(whole()), "topology")[0] == "z"


def test_a_group_is_forgotten_when_its_last_pod_has_left_or_its_node() -> None:
    """What is kept is bounded by what runs."""
    snapshot = in_racks()
    member = msgspec.structs.replace(pod(whole()), group="j")
    decision = decide(member, snapshot, POLICIES["topology"])
    assert isinstance(decision, Placement)
    snapshot.place(decision.allocation)
    snapshot.undo(decision.allocation)
    assert snapshot.groups == {}
    snapshot.place(decision.allocation)
    snapshot.remove(decision.allocation.node)
    assert snapshot.groups == {}


def test_a_group_is_named_by_what_its_controller_writes() -> None:
    """The widest first; Pods of two namespaces are never of one."""
    assert group("ns", {"job-name": "j"}) == "ns/job-name=j"
    both = {"job-name": "j-0", "jobset.sigs.k8s.io/jobset-name": "j"}
    assert group("ns", both) == "ns/jobset.sigs.k8s.io/jobset-name=j"
    assert group("ns", {}) == ""


def test_cards_of_one_numa_node_are_nearer_where_no_links_are_known() -> None:
    """A node that has two free on one NUMA node beats one that has them on two."""
    apart = node("apart", 2, numa=(0, 1), rank=0)
    near = node("near", 2, numa=(1, 1), rank=1)
    assert placed(Snapshot([apart, near]), pod(whole(2)), "topology")[0] == "near"
