"""What `scarcity` makes of arrivals."""

import numpy as np
import pytest

from berth.model.placement import Placement
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import decide
from berth.placement.learned import learned
from berth.placement.policies import POLICIES
from berth.placement.prices import own_shortness
from berth.placement.stock import Columns
from tests.placement.clusters import A100, T4, node, pod, share, whole

ONLY_T4 = DeviceRequest(vendor="nvidia", memory_mib=8_000, models=("T4",))


def taught(snapshot: Snapshot, *pods: PodRequest, times: int = 20) -> Snapshot:
    """Let Pods arrive, without placing any."""
    for _ in range(times):
        for one in pods:
            snapshot.mix.arrived(one.shape)
    return snapshot


def node_of(snapshot: Snapshot, wanted: PodRequest) -> str:
    """Return where the default policy would place a Pod."""
    decision = decide(wanted, snapshot, POLICIES["scarcity"])
    assert isinstance(decision, Placement)
    return decision.allocation.node


def used(snapshot: Snapshot, name: str, cards: int) -> None:
    """Let some cards of a node be held."""
    devices = snapshot.nodes[snapshot.row[name]].devices
    for device in devices[:cards]:
        wanted = pod(DeviceRequest(vendor="nvidia", uuids=(device.uuid,), cores=100), cpu=0)
        held = decide(wanted, snapshot, POLICIES["binpack"])
        assert isinstance(held, Placement)
        snapshot.place(held.allocation)


def test_a_rare_card_is_kept_for_who_can_use_no_other() -> None:
    """The T4 comes first by rank, and is left alone once it is known who needs it."""
    nodes = [node("t", 2, T4, rank=0), node("a", 2, A100, rank=1)]
    anywhere = pod(share(8_000))
    assert node_of(Snapshot(nodes), anywhere) == "t"
    snapshot = taught(Snapshot(nodes), anywhere, pod(ONLY_T4))
    assert node_of(snapshot, anywhere) == "a"
    kinds = {kind.model: price for kind, price in learned(snapshot).kinds.items()}
    assert kinds[T4[0]] > kinds[A100[0]] == 0


def test_whole_nodes_are_kept_for_who_wants_many_cards() -> None:
    """A share goes to the node that is broken already, though the whole one comes first."""
    nodes = [node("whole", 8, rank=0, cpu=64_000), node("used", 8, rank=1, cpu=64_000)]
    small, big = pod(share(8_000), cpu=1_000), pod(whole(8), cpu=8_000)
    snapshot = taught(Snapshot(nodes), small, big)
    used(snapshot, "used", 1)
    assert node_of(snapshot, small) == "used"
    assert learned(snapshot).groups[8] > 0


def test_where_pods_leave_the_node_that_is_sooner_whole_is_left_alone() -> None:
    """Neither has eight cards; the one with seven comes first, and has them once one has left."""
    snapshot = Snapshot([node(name, 8, rank=at, cpu=64_000) for at, name in enumerate("ab")])
    used(snapshot, "a", 1)
    used(snapshot, "b", 2)
    one, big = pod(whole(), cpu=1_000), pod(whole(8), cpu=8_000)
    assert node_of(taught(snapshot, one, big), one) == "a"
    for _ in range(50):
        snapshot.mix.arrived(one.shape)
        snapshot.mix.departed()
    assert node_of(snapshot, one) == "b"


def test_where_pods_leave_nodes_that_some_large_pods_alone_can_use_are_left_alone() -> None:
    """One node of ten has 120 cores beside its cards, as a quarter of the large Pods want."""
    plain = [node(f"plain{at}", 8, rank=1 + at, cpu=64_000) for at in range(9)]
    snapshot = Snapshot([node("rich", 8, rank=0, cpu=128_000), *plain])
    one, big = pod(whole(), cpu=24_000), pod(whole(8), cpu=64_000)
    taught(snapshot, one, times=400)
    taught(snapshot, big, times=9)
    taught(snapshot, pod(whole(8), cpu=120_000), times=3)
    assert node_of(snapshot, one) == "rich"
    for _ in range(100):
        snapshot.mix.arrived(one.shape)
        snapshot.mix.departed()
    assert node_of(snapshot, one) == "plain0"


def test_a_shape_is_as_short_of_groups_as_those_that_it_can_use() -> None:
    """And no shorter than any can be, which the size as a whole may be too."""
    assert own_shortness(4.0, 40.0, np.array([40.0, 20.0, 1.0])).tolist() == [1.0, 2.0, 6.0]
    assert own_shortness(4.0, 2.0, np.array([2.0, 0.0])).tolist() == [1.0, 1.0]
    assert own_shortness(0.0, 0.0, np.array([0.0])).tolist() == [1.0]


@pytest.mark.parametrize(
    ("free", "cpu", "prospects"),
    [
        (8, 64_000, [4, 1]),
        (7, 64_000, [3.5, 0.5]),
        (6, 64_000, [3.25, 0.25]),
        (0, 64_000, [0.25, 2**-8]),
        (8, 4_000, [2.25, 2**-4]),
        (6, 7_000, [3.25, 0.25]),
        (8, 7_000, [3.5, 0.5]),
        (8, 7_900, [3.5, 0.5]),
    ],
)
def test_a_group_that_lacks_cards_is_half_a_prospect_for_each(
    free: int, cpu: int, prospects: list[float]
) -> None:
    """Of a node of eight cards for two and for eight at once; none of those for four cards."""
    snapshot = Snapshot([node("n", 8, cpu=cpu), node("small", 4, cpu=cpu)])
    wanted = [pod(whole(2), cpu=2_000).shape, pod(whole(8), cpu=8_000).shape]
    columns = Columns.of(tuple(wanted), snapshot)
    used(snapshot, "n", 8 - free)
    times = columns.of_cards(snapshot.left, snapshot.kind)[0]
    found = columns.prospects(times, snapshot.cpu, columns.most_of_several(snapshot.kind))
    assert found[0].tolist() == prospects
    assert found[1].tolist() == [2, 0]


def test_what_can_use_little_of_what_is_free_counts_for_more() -> None:
    """Of two requests that come as often, the one that only one node in ten can serve."""
    nodes = [node(f"a{at}", 4) for at in range(9)] + [node("t", 4, T4)]
    snapshot = taught(Snapshot(nodes), pod(share(8_000)), pod(whole(2)), pod(ONLY_T4))
    weights = {shape.request: weight for shape, weight in learned(snapshot).weights}
    rare = DeviceRequest(vendor="nvidia", memory_mib=8_000)
    assert weights[rare] > 2 * weights[whole(2)]


def test_it_starts_knowing_nothing() -> None:
    """Before the first arrivals there are no weights and no prices."""
    before = learned(Snapshot([node("a", 2)]))
    assert (before.weights, before.groups) == ((), {})
    assert set(before.kinds.values()) == {0.0}
