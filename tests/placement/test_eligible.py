"""Node selector, required affinity and taints, as Kubernetes reads them."""

import msgspec
import pytest

from berth.model.eligibility import NODE_NAME, Eligibility, Expression, Toleration
from berth.model.node import Node, Taint
from berth.model.placement import Misfit, Placement, Refusal
from berth.model.request import PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import decide
from berth.placement.eligible import eligible, tolerates
from berth.placement.policies import POLICIES
from tests.placement.clusters import node, pod, share


def labelled(name: str, *taints: Taint, **labels: str) -> Node:
    """Return a node with labels and taints."""
    return msgspec.structs.replace(node(name), labels=labels, taints=taints)


NODES = [labelled("a", zone="x", gen="4"), labelled("b", zone="y", gen="8"), labelled("c")]


def chosen(wish: Eligibility) -> str:
    """Return the names of the nodes that are eligible, in one word."""
    good = eligible(wish, Snapshot(NODES)).all
    return "".join(node.name for node, fits in zip(NODES, good, strict=True) if fits)


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        (Expression("zone", "In", ("x", "z")), "a"),
        (Expression("zone", "NotIn", ("x",)), "bc"),
        (Expression("zone", "Exists"), "ab"),
        (Expression("zone", "DoesNotExist"), "c"),
        (Expression("gen", "Gt", ("4",)), "b"),
        (Expression("gen", "Lt", ("8",)), "a"),
        (Expression("zone", "Gt", ("4",)), ""),
        (Expression(NODE_NAME, "In", ("c",)), "c"),
    ],
)
def test_operators(expression: Expression, names: str) -> None:
    """A label that is missing is in no list, and greater than nothing."""
    assert chosen(Eligibility(all_of=(expression,))) == names
    assert chosen(Eligibility(any_of=((expression,),))) == names


@pytest.mark.parametrize("value", ["1_000", "9" * 19, "9" * 5_000, "1.5", ""])
@pytest.mark.parametrize("operator", ["Gt", "Lt"])
def test_what_kubernetes_reads_as_no_number_is_greater_and_less_than_nothing(
    value: str, operator: str
) -> None:
    """Whole numbers of 64 bits, as Go reads them; all of these may stand in an object."""
    one = Snapshot([labelled("n", gen=value)])
    wish = Eligibility(all_of=(Expression("gen", operator, ("5",)),))
    assert not eligible(wish, one).all.any()
    five = Snapshot([labelled("n", gen="5")])
    wish = Eligibility(all_of=(Expression("gen", operator, (value,)),))
    assert not eligible(wish, five).all.any()


def test_terms_are_alternatives_and_an_empty_one_is_none() -> None:
    """Each term must hold whole; the selector on top of one of them."""
    x, y = Expression("zone", "In", ("x",)), Expression("zone", "In", ("y",))
    assert chosen(Eligibility(any_of=((x,), (y,)))) == "ab"
    assert chosen(Eligibility(any_of=((x, y),))) == ""
    assert chosen(Eligibility(any_of=((),))) == ""
    assert chosen(Eligibility(all_of=(x,), any_of=((x,), (y,)))) == "a"


@pytest.mark.parametrize("wanted", [pod(), pod(share(1_000)), pod(share(1_000), share(1_000))])
def test_where_there_is_no_node_none_is_eligible(wanted: PodRequest) -> None:
    """A snapshot may be of a cluster without nodes, and a Pod may still name a label."""
    wish = Eligibility(
        all_of=(Expression("zone", "In", ("x",)),), tolerations=(Toleration("gpu", "Exists"),)
    )
    wanted = msgspec.structs.replace(wanted, eligibility=wish)
    for policy in POLICIES.values():
        assert decide(wanted, Snapshot(), policy) == Refusal(without=())


GPU = Taint("gpu", "yes")


@pytest.mark.parametrize(
    ("toleration", "taint", "holds"),
    [
        (Toleration("gpu", value="yes"), GPU, True),
        (Toleration("gpu", value="no"), GPU, False),
        (Toleration("gpu", "Exists"), GPU, True),
        (Toleration(operator="Exists"), GPU, True),
        (Toleration("gpu", "Exists", effect="NoExecute"), GPU, False),
        (Toleration("other", "Exists"), GPU, False),
        (Toleration("gpu", "Gt", "yes"), GPU, False),
        (Toleration("gpu", "Gt", "950"), Taint("gpu", "990"), True),
        (Toleration("gpu", "Gt", "950"), Taint("gpu", "950"), False),
        (Toleration("gpu", "Lt", "950"), Taint("gpu", "90"), True),
        (Toleration("gpu", "Lt", "950"), Taint("gpu", "950"), False),
        (Toleration("gpu", "near", "yes"), GPU, False),
    ],
)
def test_tolerations(toleration: Toleration, taint: Taint, *, holds: bool) -> None:
    """Key, value and effect; an empty one is any."""
    assert tolerates(toleration, taint) is holds


def test_a_preference_keeps_nobody_away_and_a_taint_does() -> None:
    """And the refusal says which of the two reasons it is, and that waiting does not help."""
    soft = labelled("soft", Taint("x", effect="PreferNoSchedule"))
    snapshot = Snapshot([labelled("hard", GPU), soft])
    decision = decide(pod(), snapshot, POLICIES["binpack"])
    assert isinstance(decision, Placement)
    assert decision.allocation.node == "soft"
    assert [some.reason for some in decision.without] == [Misfit.TAINTED]
    nowhere = Eligibility(all_of=(Expression("zone", "Exists"),))
    wanted = msgspec.structs.replace(pod(), eligibility=nowhere)
    refusal = decide(wanted, snapshot, POLICIES["binpack"])
    assert isinstance(refusal, Refusal)
    assert [some.reason for some in refusal.without] == [Misfit.NOT_SELECTED]
    assert not refusal.waiting_helps


CORDON = Taint("node.kubernetes.io/unschedulable")


@pytest.mark.parametrize(
    ("toleration", "fits"),
    [
        (Toleration("node.kubernetes.io/unschedulable", "Exists", effect="NoSchedule"), True),
        (Toleration("node.kubernetes.io/unschedulable"), True),
        (Toleration(operator="Exists"), True),
        (Toleration("node.kubernetes.io/unschedulable", "Exists", effect="NoExecute"), False),
        (Toleration("node.kubernetes.io/not-ready", "Exists"), False),
    ],
)
def test_a_cordoned_node_takes_who_tolerates_that(toleration: Toleration, *, fits: bool) -> None:
    """As Kubernetes' scheduler has it; for all others it may be open again soon."""
    snapshot = Snapshot([labelled("a", CORDON)])
    wish = Eligibility(tolerations=(toleration,))
    for policy in POLICIES.values():
        decision = decide(msgspec.structs.replace(pod(), eligibility=wish), snapshot, policy)
        assert isinstance(decision, Placement) is fits
        if isinstance(decision, Refusal):
            told = [(some.reason, some.waiting_helps) for some in decision.without]
            assert told == [(Misfit.NOT_READY, True)]


def test_what_kubernetes_taints_a_node_with_for_its_state_passes() -> None:
    """A taint of the administrator's stays, and comes first of the two."""
    full = Taint("node.kubernetes.io/disk-pressure")
    refusal = decide(pod(), Snapshot([labelled("a", full)]), POLICIES["binpack"])
    assert isinstance(refusal, Refusal)
    assert refusal.waiting_helps
    refusal = decide(pod(), Snapshot([labelled("a", full, GPU)]), POLICIES["binpack"])
    assert isinstance(refusal, Refusal)
    assert [some.reason for some in refusal.without] == [Misfit.TAINTED]
