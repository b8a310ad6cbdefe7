"""Expressions in CEL about cards: what they let through, and what is said of a bad one."""

import msgspec
import pytest

from berth.errors import UsageError
from berth.model.placement import Misfit, Placement, Refusal
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.cel import VARIABLES, program
from berth.placement.decide import decide
from berth.placement.filters import READERS, Filter
from berth.placement.policies import POLICIES
from berth.placement.quantities import text_of
from tests.placement.clusters import A100, T4, node, pod, share, whole

GI = 2**30
AS_IN_THE_ISSUE = (
    'device.memory.free.isGreaterThan(quantity("10Gi")) && device.model.startsWith("NVIDIA-A100")'
)


def where(expression: str, request: DeviceRequest | None = None) -> PodRequest:
    """Return a Pod whose cards must pass this."""
    wanted = msgspec.structs.replace(request or share(1_000), where=(Filter("mine", expression),))
    return pod(wanted)


def test_only_cards_that_pass_are_taken_as_they_are_now() -> None:
    """Model and free memory: a full card passes no more, and does again when it is empty."""
    snapshot = Snapshot([node("t", 1, T4, rank=0), node("a", 1, A100, rank=1)])
    held = decide(pod(share(72_000)), snapshot, POLICIES["binpack"])
    first = decide(where(AS_IN_THE_ISSUE), snapshot, POLICIES["first-fit"])
    assert isinstance(held, Placement)
    assert isinstance(first, Placement)
    assert first.allocation.node == "a"
    snapshot.place(held.allocation)
    refusal = decide(where(AS_IN_THE_ISSUE), snapshot, POLICIES["first-fit"])
    assert isinstance(refusal, Refusal)
    assert [str(why) for why in refusal.without] == [
        "nodes without a free card that passes the filter mine: 1; will never fit",
        "nodes without a free card that passes the filter mine: 1; may fit later",
    ]
    assert {why.reason for why in refusal.without} == {Misfit.FILTERED}
    snapshot.undo(held.allocation)
    assert isinstance(decide(where(AS_IN_THE_ISSUE), snapshot, POLICIES["first-fit"]), Placement)


@pytest.mark.parametrize(
    ("expression", "card"),
    [
        ('device.uuid == "a-2"', 2),
        ("device.numa == 1", 2),
        ("device.holders > 0", 1),
        ("device.cores.free < 100", 1),
        ("device.slots.total - device.slots.free == 1", 1),
        ('device.memory.total.sub(device.memory.free).compareTo(quantity("1Mi")) > 0', 1),
        ('node.labels["pool"] == "x" && node.name == "a" && device.numa >= 1', 2),
        ('device.vendor == "nvidia" && device.mode == "" && device.cores.total == 100', 0),
    ],
)
def test_what_an_expression_may_ask_for(expression: str, card: int) -> None:
    """Each variable, by the first of four cards that passes."""
    made = msgspec.structs.replace(node("a", 4, numa=(0, 0, 1, 1)), labels={"pool": "x"})
    snapshot = Snapshot([made])
    busy = decide(
        pod(msgspec.structs.replace(share(9_000, 10), uuids=("a-1",))), snapshot, POLICIES["spread"]
    )
    assert isinstance(busy, Placement)
    snapshot.place(busy.allocation)
    decision = decide(where(expression), snapshot, POLICIES["spread"])
    assert isinstance(decision, Placement)
    assert decision.allocation.holds[0].device == card
    assert READERS.keys() == VARIABLES.keys()


def test_what_cannot_be_computed_does_not_pass() -> None:
    """A label that a node has not, for one."""
    snapshot = Snapshot([node("a", 1)])
    assert isinstance(
        decide(where('node.labels["x"] == "y"'), snapshot, POLICIES["spread"]), Refusal
    )


def test_several_cards_must_all_pass() -> None:
    """Two of them where only one does are too few, for ever where it is so of idle ones."""
    snapshot = Snapshot([node("a", 2)])
    refusal = decide(where('device.uuid == "a-0"', whole(2)), snapshot, POLICIES["spread"])
    assert isinstance(refusal, Refusal)
    assert not refusal.waiting_helps


@pytest.mark.parametrize(
    ("expression", "waits"), [('device.uuid == "a-1"', True), ("device.numa > 0", False)]
)
def test_a_card_that_is_ill_is_waited_for_where_it_would_pass(
    expression: str, *, waits: bool
) -> None:
    """The other one is healthy, and does not."""
    made = node("a", 2)
    ill = msgspec.structs.replace(made.devices[1], healthy=False)
    snapshot = Snapshot([msgspec.structs.replace(made, devices=(made.devices[0], ill))])
    refusal = decide(where(expression), snapshot, POLICIES["spread"])
    assert isinstance(refusal, Refusal)
    assert refusal.waiting_helps == waits


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ('device.modl == "A100"', "column 7: there is no device.modl; did you mean device.model?"),
        ("device.memory.free > 10", "column 20: found no matching overload for '_>_'"),
        ('device.memory.free == "10Gi"', "found no matching overload"),
        ('device.model.startsWit("A")', "did you mean startsWith?"),
        ("device.memory.free", "gives kubernetes.quantity; write a condition"),
        ('device.memory.free.isLessThan(quantity("10Gb"))', '"10Gb" is no quantity; write one'),
        ("device.numa ==", "column 15: Syntax error"),
    ],
)
def test_a_bad_expression_is_refused_with_the_place_and_what_may_be_meant(
    expression: str, said: str
) -> None:
    """Before anything is decided by it."""
    with pytest.raises(UsageError) as raised:
        Filter("mine", expression)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "expression",
    [
        'quantity("1Gi").isGreaterThan(quantity("1G"))',
        'quantity("500m").isLessThan(quantity("1"))',
        'quantity("1.5").add(quantity("500m")) == quantity("2")',
        'quantity("2").sub(1).add(3).asInteger() == 4',
        'quantity("1k").compareTo(quantity("1000")) == 0 && quantity("-1").sign() == -1',
        'isQuantity("10Gi") && !isQuantity("10Gb")',
        'quantity("1").isInteger() && !quantity("100m").isInteger()',
        'quantity("1500m").asApproximateFloat() == 1.5',
        'quantity("1n").add(quantity("1E")).isGreaterThan(quantity("1E"))',
    ],
)
def test_quantities_are_those_of_kubernetes(expression: str) -> None:
    """Exact from a nano to beyond an exa."""
    assert program(expression).passes({})


def test_an_expression_sees_what_is_free() -> None:
    """10 GiB is not more than 10 GiB."""
    one = program('device.memory.free.isGreaterThan(quantity("10Gi"))')
    assert not one.passes({"device.memory.free": text_of(10 * GI)})
    assert one.passes({"device.memory.free": text_of(10 * GI + 1)})
