"""MIG: real geometry, and no slice given twice. The profiles are those of an A100 with 40 GB."""

from collections import Counter
from itertools import combinations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berth.admission import placing
from berth.model import charge
from berth.model.charge import Charge
from berth.model.device import Profile
from berth.model.node import Node
from berth.model.placement import Allocation, Hold, Placement, Refusal
from berth.model.request import DeviceRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import decide
from berth.placement.policies import POLICIES
from tests.placement.clusters import node, pod, share, whole

PROFILES = (
    Profile("1g.5gb", 4_864, 14, 1, (0, 1, 2, 3, 4, 5, 6)),
    Profile("2g.10gb", 9_856, 28, 2, (0, 2, 4)),
    Profile("3g.20gb", 19_968, 42, 4, (0, 4)),
    Profile("4g.20gb", 19_968, 57, 4, (0,)),
    Profile("7g.40gb", 40_192, 100, 8, (0,)),
)

MEMORY = st.sampled_from([1_000, 4_096, 9_000, 15_000])


def mig(cards: int = 1) -> Node:
    """Return a node whose cards are cut into partitions."""
    made = node("m", cards, ("A100-SXM4-40GB", 40_960))
    devices = tuple(
        msgspec.structs.replace(device, mode="mig", profiles=PROFILES) for device in made.devices
    )
    return msgspec.structs.replace(made, devices=devices)


def placed(snapshot: Snapshot, request: DeviceRequest) -> tuple[str, int] | None:
    """Place a Pod, and return its partition and where that lies; None if it has no place."""
    decision = decide(pod(request, cpu=0), snapshot, POLICIES["binpack"])
    if isinstance(decision, Refusal):
        return None
    snapshot.place(decision.allocation)
    (hold,) = decision.allocation.holds
    return hold.profile, hold.slices


def test_the_smallest_profile_with_memory_enough_small_ones_on_top() -> None:
    """Of a request of 4 GiB one slice is left unused in memory, and none is in the way."""
    snapshot = Snapshot([mig()])
    assert placed(snapshot, share(4_096)) == ("1g.5gb", 0b1000000)
    assert placed(snapshot, share(4_865)) == ("2g.10gb", 0b11)
    assert placed(snapshot, share(12_000)) is None, "a small one lies in the upper half"
    assert placed(snapshot, share(4_096)) == ("1g.5gb", 0b100000)


def test_two_halves_and_no_third() -> None:
    """3g lies in the upper half; then 4g, of the same memory, would be tried for the lower."""
    snapshot = Snapshot([mig()])
    assert placed(snapshot, share(19_000)) == ("3g.20gb", 0b11110000)
    assert placed(snapshot, share(19_000)) == ("3g.20gb", 0b1111)
    assert placed(snapshot, share(1_000)) is None


def test_more_memory_than_the_largest_profile_has_never_fits() -> None:
    """HAMi's rule 14: so neither does a whole card, which has more than what can be cut of it."""
    small = tuple(profile for profile in PROFILES if profile.memory_mib < 10_000)
    cut = msgspec.structs.replace(mig().devices[0], profiles=small)
    snapshot = Snapshot([msgspec.structs.replace(mig(), devices=(cut,))])
    assert placed(snapshot, share(9_856)) == ("2g.10gb", 0b11)
    for wanted, said in (
        (share(9_857), "9857 MiB of one card wanted, m has 9856 (nodes: 1); will never fit"),
        (whole(), "1 such cards wanted, m has 0 (nodes: 1); will never fit"),
    ):
        decision = decide(pod(wanted, cpu=0), snapshot, POLICIES["binpack"])
        assert isinstance(decision, Refusal)
        assert [str(why) for why in decision.without] == [said]


def test_all_cores_want_an_empty_card_and_get_what_their_memory_needs() -> None:
    """HAMi's rules 12 and 14: the profile is chosen by memory alone."""
    snapshot = Snapshot([mig(2)])
    placed(snapshot, share(1_000))
    alone = share(9_000, cores=100)
    assert placed(snapshot, alone) == ("2g.10gb", 0b11)
    assert placed(snapshot, alone) is None


@pytest.mark.parametrize(
    ("mode", "node_name"),
    [("mig", "m"), ("hami-core", "h"), ("mps,mig", "m"), ("hami-core,mps", "h")],
)
def test_a_mode_is_asked_for(mode: str, node_name: str) -> None:
    """By the vendor's word, or several: HAMi looks for the card's mode inside the value."""
    plain = node("h")
    devices = tuple(msgspec.structs.replace(card, mode="hami-core") for card in plain.devices)
    snapshot = Snapshot([mig(), msgspec.structs.replace(plain, devices=devices)])
    wanted = DeviceRequest(vendor="nvidia", memory_mib=1_000, mode=mode)
    decision = decide(pod(wanted), snapshot, POLICIES["spread"])
    assert isinstance(decision, Placement)
    assert decision.allocation.node == node_name


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([1_000, 5_000, 9_856, 15_000, 40_000]), st.booleans()),
        max_size=25,
    )
)
def test_no_slice_is_given_twice(asked: list[tuple[int, bool]]) -> None:
    """Whoever comes and goes, partitions do not overlap, and start where they may."""
    snapshot, running = Snapshot([mig(2)]), list[Allocation]()
    for memory, leaves in asked:
        decision = decide(pod(share(memory), cpu=0), snapshot, POLICIES["scarcity"])
        if isinstance(decision, Placement):
            snapshot.place(decision.allocation)
            running.append(decision.allocation)
        if leaves and running:
            snapshot.undo(running.pop(0))
        holds = [hold for one in running for hold in one.holds]
        for one, other in combinations(holds, 2):
            assert one.device != other.device or not one.slices & other.slices
        for hold in holds:
            (profile,) = [one for one in PROFILES if one.name == hold.profile]
            start = (hold.slices & -hold.slices).bit_length() - 1
            assert start in profile.starts
            assert hold.slices == ((1 << profile.size) - 1) << start


def test_records_that_overlap_leave_what_the_other_holds() -> None:
    """Whoever wrote them, a slice is free when all that lie on it are gone."""
    snapshot = Snapshot([mig()])
    one, other = (
        Allocation(node="m", holds=(Hold(name, 0, 100, 0, "2g.10gb", bits),))
        for name, bits in (("a", 0b0011), ("b", 0b0110))
    )
    snapshot.place(one)
    snapshot.place(other)
    assert snapshot.slices[0, 0] == 0b0111
    snapshot.undo(one)
    assert snapshot.slices[0, 0] == 0b0110
    snapshot.undo(other)
    assert snapshot.slices[0, 0] == 0


def test_one_container_may_have_several_partitions_of_one_card() -> None:
    """As in HAMi: a card is tried again for the next one, until it is full."""
    snapshot = Snapshot([mig()])
    wanted = pod(share(9_000, count=3), cpu=0)
    decision = decide(wanted, snapshot, POLICIES["binpack"])
    assert isinstance(decision, Placement)
    assert [hold.slices for hold in decision.allocation.holds] == [0b11, 0b1100, 0b110000]
    snapshot.place(decision.allocation)
    refusal = decide(wanted, snapshot, POLICIES["binpack"])
    assert isinstance(refusal, Refusal)
    assert refusal.waiting_helps
    never = decide(pod(share(9_000, count=4), cpu=0), snapshot, POLICIES["binpack"])
    assert not never.without[0].waiting_helps


def test_two_containers_with_several_partitions_of_one_card_share_none() -> None:
    """Three and three of seven, on slices of their own; and no more than its slots allow."""
    snapshot = Snapshot([mig()])
    three = share(4_096, count=3)
    decision = decide(pod(three, three, cpu=0), snapshot, POLICIES["binpack"])
    assert isinstance(decision, Placement)
    assert sorted(hold.slices for hold in decision.allocation.holds) == [2, 4, 8, 16, 32, 64]
    five = msgspec.structs.replace(mig().devices[0], slots=5)
    fewer = Snapshot([msgspec.structs.replace(mig(), devices=(five,))])
    refusal = decide(pod(three, three, cpu=0), fewer, POLICIES["binpack"])
    assert isinstance(refusal, Refusal)
    assert not refusal.waiting_helps


def test_several_partitions_alone_are_of_cards_that_were_idle() -> None:
    """Five of 9000 MiB with all cores are three of one and two of another: none has no place."""
    snapshot = Snapshot([mig(2)])
    decision = decide(pod(share(9_000, 100, count=5), cpu=0), snapshot, POLICIES["binpack"])
    assert isinstance(decision, Placement)
    assert Counter(hold.device for hold in decision.allocation.holds) == {0: 3, 1: 2}
    assert all(hold.profile == "2g.10gb" for hold in decision.allocation.holds)


def as_charged(allocation: Allocation, snapshot: Snapshot, *sidecars: str) -> Allocation:
    """Return what the ledger charges for the claims that the Pod's decision is written with."""
    devices = snapshot.nodes[snapshot.row[allocation.node]].devices
    claims = placing.claims(allocation.holds, devices)
    beside = (("init", sidecars),) if sidecars else ()
    one = Charge(
        namespace="x",
        name="x",
        uid="x",
        node=allocation.node,
        claims=claims,
        init=("init",),
        sidecars=beside,
    )
    charged, unknown = charge.allocation(one, devices)
    assert not unknown
    return charged


def test_each_partition_of_an_init_container_is_a_claim_of_its_own() -> None:
    """Two of one card of which the other container has a third; only the rest is held."""
    snapshot = Snapshot([mig()])
    wanted = msgspec.structs.replace(
        pod(share(4_096), cpu=0), init_devices=(("init", share(9_000, count=2)),)
    )
    decision = decide(wanted, snapshot, POLICIES["binpack"])
    assert isinstance(decision, Placement)
    found = placing.claims(decision.allocation.holds, mig().devices)
    assert [(one.container, one.profile, one.memory_mib, one.slices) for one in found] == [
        ("c0", "1g.5gb", 4_864, 0b1000000),
        ("init", "2g.10gb", 9_856, 0b11),
        ("init", "2g.10gb", 9_856, 0b1100),
    ]
    snapshot.place(decision.allocation)
    assert (snapshot.mem_left[0, 0], snapshot.cores_left[0, 0]) == (40_960 - 2 * 9_856, 44)
    assert (snapshot.slots_left[0, 0], snapshot.slices[0, 0]) == (8, 0b1001111)


@settings(max_examples=25, deadline=None)
@given(
    before=st.lists(MEMORY, max_size=3),
    running=st.lists(st.tuples(MEMORY, st.integers(1, 3)), max_size=2),
    init=st.tuples(MEMORY, st.integers(1, 4)),
    sidecar=st.booleans(),
)
def test_the_ledger_charges_for_partitions_what_was_placed(
    before: list[int], running: list[tuple[int, int]], init: tuple[int, int], *, sidecar: bool
) -> None:
    """Init containers with several of one card too, whether they share it with others or not."""
    snapshot = Snapshot([mig(2)])
    for memory in before:
        placed(snapshot, share(memory))
    beside = ("c0",) if sidecar and running else ()
    wanted = msgspec.structs.replace(
        pod(*(share(memory, count=count) for memory, count in running), cpu=0),
        init_devices=(("init", share(init[0], count=init[1])),),
        sidecars=(("init", beside),) if beside else (),
    )
    decision = decide(wanted, snapshot, POLICIES["binpack"])
    if isinstance(decision, Refusal):
        return
    left = []
    for one in (decision.allocation, as_charged(decision.allocation, snapshot, *beside)):
        snapshot.place(one)
        columns = (snapshot.mem_left, snapshot.cores_left, snapshot.slots_left, snapshot.slices)
        left.append([column.tolist() for column in columns])
        snapshot.undo(one)
    assert left[0] == left[1]


def test_an_init_container_holds_the_slices_that_no_other_has() -> None:
    """It ran before the others, and its partition is not given away while they may restart."""
    snapshot = Snapshot([mig()])
    wanted = msgspec.structs.replace(
        pod(share(4_096), cpu=0), init_devices=(("init", share(19_000)),)
    )
    decision = decide(wanted, snapshot, POLICIES["binpack"])
    assert isinstance(decision, Placement)
    snapshot.place(decision.allocation)
    assert snapshot.slices[0, 0] == 0b11110000
    assert placed(snapshot, share(9_000)) == ("2g.10gb", 0b11)
