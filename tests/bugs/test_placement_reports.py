"""Public bug reports on where Pods go and what they hold there, by their number."""

import msgspec
import pytest

from berth.model.placement import Allocation, Hold, Placement, Refusal
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import decide
from berth.placement.policies import POLICIES
from tests.placement.clusters import node, pod, share, whole
from tests.placement.test_slices import mig


def placed(snapshot: Snapshot, wanted: PodRequest, policy: str = "binpack") -> Allocation | None:
    """Place a Pod, and return what it holds; None where it fits nowhere."""
    decision = decide(wanted, snapshot, POLICIES[policy])
    if not isinstance(decision, Placement):
        return None
    snapshot.place(decision.allocation)
    return decision.allocation


@pytest.mark.parametrize(
    ("there", "wanted", "lacks"),
    [
        (share(10_000), share(9_000), "9000 MiB of one card wanted, a has 5360 free"),
        (
            share(1_000, 70),
            share(1_000, 40),
            "40 percent of one card's cores wanted, a has 30 free",
        ),
        (share(1_000), share(1_000), "no free slot on a card"),
        (share(1_000), share(1_000, count=2), "2 such cards wanted, a has 1"),
    ],
    ids=["memory", "cores", "slots", "cards"],
)
def test_r11_it_is_said_which_bound_failed(
    there: DeviceRequest, wanted: DeviceRequest, lacks: str
) -> None:
    """11 (HAMi#888): of cards, memory, cores and slots, and what there is of it."""
    slots = 1 if "slot" in lacks else 10
    snapshot = Snapshot([node("a", 1, ("T4", 15_360), slots=slots)])
    assert placed(snapshot, pod(there)) is not None
    refused = decide(pod(wanted), snapshot, POLICIES["binpack"])
    assert isinstance(refused, Refusal)
    (why,) = refused.without
    assert str(why).startswith(f"{lacks} (nodes: 1);")


def test_r19_init_containers_run_one_after_another() -> None:
    """19 (HAMi#1942): three of 10 GiB need 10 GiB, so a second replica has its own card."""
    snapshot = Snapshot([node("a", 2, ("T4", 16_384))])
    steps = tuple((f"step{at}", share(10_240)) for at in range(3))
    wanted = msgspec.structs.replace(pod(share(2_048)), init_devices=steps)
    for _ in range(2):
        held = placed(snapshot, wanted)
        assert held is not None
        assert sum(hold.memory_mib for hold in held.holds) == 10_240
    assert snapshot.mem_left[0].tolist() == [6_144, 6_144]


def test_r20_a_sidecar_is_added_to_the_step_after_it() -> None:
    """20 (HAMi#2563): steady 12000, at the init peak 14000."""
    snapshot = Snapshot([node("a", 1, ("T4", 14_000))])
    wanted = msgspec.structs.replace(
        pod(share(6_000), share(6_000)),
        init_devices=(("warmup", share(8_000)),),
        sidecars=(("warmup", ("c0",)),),
    )
    held = placed(snapshot, wanted)
    assert held is not None
    assert snapshot.mem_left[0].tolist() == [0]
    assert placed(Snapshot([node("a", 1, ("T4", 13_999))]), wanted) is None


def test_r22_no_card_is_given_more_than_it_has() -> None:
    """22 (volcano#3616): three of half a card on the one that is free are two."""
    snapshot = Snapshot([node("a", 8, ("L4", 24_576))])
    for card in range(7):
        placed(snapshot, pod(msgspec.structs.replace(whole(), uuids=(f"a-{card}",))))
    went = [placed(snapshot, pod(share(12_288))) for _ in range(3)]
    assert [held is not None for held in went] == [True, True, False]


def test_r23_mib_are_whole_numbers_and_each_card_is_judged_by_its_own_size() -> None:
    """23 (kai#416, volcano#4713): 23 of 2000 MiB, no mean of two cards, a percentage in MiB."""
    snapshot = Snapshot([node("a", 1, ("A40", 46_068), slots=100, cpu=100_000)])
    assert [placed(snapshot, pod(share(2_000))) is not None for _ in range(24)].count(True) == 23
    unequal = node("b", 2, ("A", 24_576))
    large = msgspec.structs.replace(unequal.devices[1], memory_mib=49_152)
    two = msgspec.structs.replace(unequal, devices=(unequal.devices[0], large))
    assert placed(Snapshot([two]), pod(share(30_000, count=2))) is None
    part = DeviceRequest(vendor="nvidia", memory_percent=20)
    held = placed(Snapshot([node("c", 1, ("V", 32_768))]), pod(part))
    assert held is not None
    assert held.holds[0].memory_mib == 6_553, "rounded down"


def test_r25_binpack_takes_the_node_that_will_be_fuller() -> None:
    """25 (gpustack#1597): the used card of a one-card node, not an empty one of two."""
    snapshot = Snapshot([node("b", 2, ("x", 16_384), rank=0), node("a", 1, ("y", 24_576), rank=1)])
    placed(snapshot, pod(msgspec.structs.replace(share(5_120), uuids=("a-0",))))
    held = placed(snapshot, pod(share(3_072)))
    assert held is not None
    assert held.node == "a"


def test_r25_replicas_with_a_list_of_cards_take_different_ones() -> None:
    """25 (gpustack#3647): three times two of six."""
    snapshot = Snapshot([node("a", 6)])
    listed = msgspec.structs.replace(whole(2), uuids=tuple(f"a-{card}" for card in range(6)))
    went = [placed(snapshot, pod(listed)) for _ in range(3)]
    assert sorted(hold.device for held in went if held for hold in held.holds) == [0, 1, 2, 3, 4, 5]


def test_r28_partitions_go_to_the_card_in_use_and_to_starts_that_they_may_have() -> None:
    """28 (dra-driver-nvidia-gpu#932): seven small ones on one card; 4g wants an aligned half."""
    snapshot = Snapshot([mig(2)])
    went = [placed(snapshot, pod(share(4_096), cpu=0)) for _ in range(7)]
    assert {hold.device for held in went if held for hold in held.holds} == {0}
    scattered = Snapshot([mig(2)])
    for bits in (0b0000001, 0b0000010, 0b0100000):
        scattered.place(Allocation(node="m", holds=(Hold("c", 0, 4_864, 14, "1g.5gb", bits),)))
    held = placed(scattered, pod(share(19_968), cpu=0))
    assert held is not None
    assert held.holds[0].device == 1


def test_r29_containers_with_and_without_cards_in_any_order() -> None:
    """29 (volcano#4505): two of two cards each, one of none: by name, on a node of two."""
    wanted = PodRequest(devices=(("one", share(2_000, count=2)), ("three", share(3_000, count=2))))
    held = placed(Snapshot([node("a", 2)]), wanted)
    assert held is not None
    assert [(hold.container, hold.device) for hold in held.holds] == [
        ("one", 0),
        ("one", 1),
        ("three", 0),
        ("three", 1),
    ]
    assert placed(Snapshot([node("a", 1)]), wanted) is None
