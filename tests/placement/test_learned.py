"""What `scarcity` makes of arrivals."""

from berth.model.placement import Placement
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import decide
from berth.placement.learned import learned
from berth.placement.policies import POLICIES
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
    held = decide(
        pod(DeviceRequest(vendor="nvidia", uuids=("used-0",), cores=100)),
        snapshot,
        POLICIES["binpack"],
    )
    assert isinstance(held, Placement)
    snapshot.place(held.allocation)
    assert node_of(snapshot, small) == "used"
    assert learned(snapshot).groups[8] > 0


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
