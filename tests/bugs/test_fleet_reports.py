"""Public bug reports on the ledger of cards, by their number."""

import msgspec
import pytest

from berth.cluster.fleet import Fleet
from berth.model.difference import differences
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import decide
from berth.placement.policies import POLICIES
from berth.vendors import VENDORS
from tests.fleet.objects import ALLOCATED, container, holding, node, pod
from tests.placing import Cluster, asking, given


def left(fleet: Fleet) -> list[int]:
    """Return the MiB that are left of each card of n1."""
    return [int(free) for free in fleet.snapshot.mem_left[fleet.snapshot.row["n1"]]]


def one(*uuids: str) -> Fleet:
    """Return a fleet of one node with such cards of 1000 MiB."""
    fleet = Fleet(VENDORS)
    fleet.node(None, node("n1", uuids or ("GPU-1",)))
    return fleet


def fits(snapshot: Snapshot, wanted: DeviceRequest) -> bool:
    """Say whether some card has room for this."""
    asked = PodRequest(devices=(("main", wanted),))
    return hasattr(decide(asked, snapshot, POLICIES["binpack"]), "allocation")


def test_r16_a_record_that_cannot_be_read_does_not_make_a_card_free() -> None:
    """16 (HAMi#2959): the card is held whole, and it is said so."""
    fleet = one("GPU-1", "GPU-2")
    text = {ALLOCATED: "GPU-1,NVIDIA,much,1:;"}
    fleet.pod(None, pod("x", "n1", text, containers=[container("main", gpu="1")]))
    assert left(fleet) == [0, 1000]
    (said,) = fleet.problems()
    assert said.startswith(f"Pod a/x: metadata.annotations[{ALLOCATED}]: container 0: ")
    assert said.endswith("what is held of GPU-1 is illegible")


@pytest.mark.parametrize("left_alone", ["label", "scheduler", "namespace", "mirror", "privileged"])
def test_r16_a_pod_that_opted_out_holds_its_card_all_the_same(left_alone: str) -> None:
    """16 (HAMi#2036): the webhook leaves it alone, the kubelet gives it a card."""
    flags = ("policy.excludedNamespaces=default",) if left_alone == "namespace" else ()
    cluster = Cluster("n1", flags=("placement.delivery=pin", *flags))
    (replica,) = cluster.replicas
    there = asking()
    there["metadata"] |= {
        "label": {"labels": {"hami.io/webhook": "ignore"}},
        "mirror": {"annotations": {"kubernetes.io/config.mirror": "x"}},
    }.get(left_alone, {})
    if left_alone == "scheduler":
        there["spec"]["schedulerName"] = "volcano"
    if left_alone == "privileged":
        there["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    assert replica.ask(there).placed is None
    before = replica.left("n1")
    cluster.show(there, "x", on="n1")
    assert replica.left("n1") == before - 13_000


def test_r20_a_sidecar_and_an_app_share_a_card_side_by_side() -> None:
    """20 (HAMi#2563): 600 and 300 MiB at once, though the sidecar is an init container."""
    fleet = one()
    text = {ALLOCATED: "GPU-1,NVIDIA,600,0:;GPU-1,NVIDIA,300,0:;"}
    side, main = container("side", sidecar=True), container("main")
    fleet.pod(None, pod("x", "n1", text, init=[side], containers=[main]))
    assert left(fleet) == [100]


def test_r26_a_numa_node_that_is_not_known_breaks_nothing() -> None:
    """26 (HAMi#99): the text is `N/A`, of one card of two."""
    text = "GPU-1,10,1000,100,T4,N/A,true:GPU-2,10,1000,100,T4,1,true:"
    fleet = Fleet(VENDORS)
    fleet.node(None, node("n1", register=text))
    (known,) = fleet.picture().nodes
    assert [device.numa for device in known.devices] == [-1, 1]
    assert fleet.problems() == ()


def test_r49_a_terminating_pod_that_is_seen_first_holds_its_card() -> None:
    """49 (HAMi#2812): after a restart it comes as new, and is being deleted already."""
    fleet = one()
    made = pod("x", "n1", holding(("GPU-1", 400, 0)))
    metadata = msgspec.structs.replace(made.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
    fleet.pod(None, msgspec.structs.replace(made, metadata=metadata))
    assert left(fleet) == [600]


def test_r50_a_job_that_is_over_gives_its_card_back_at_once() -> None:
    """50 (kubernetes#117955): its Pod stays for an hour, the card does not."""
    for phase in ("Succeeded", "Failed"):
        fleet = one()
        runs = pod("x", "n1", holding(("GPU-1", 400, 0)))
        fleet.pod(None, runs)
        fleet.pod(runs, pod("x", "n1", holding(("GPU-1", 400, 0)), phase=phase))
        assert left(fleet) == [1000]


def test_r52_a_card_falls_ill_and_recovers_when_the_annotation_says_so() -> None:
    """52 (HAMi#2020): what counts is the annotation itself, not a change of allocatable."""
    well = "GPU-1,10,1000,100,T4,0,true,0,hami-core:"
    fleet = Fleet(VENDORS)
    fleet.node(None, node("n1", register=well, allocatable={"nvidia.com/gpu": "10"}))
    assert fits(fleet.snapshot, DeviceRequest(vendor="nvidia", memory_mib=100))
    fewer = {"nvidia.com/gpu": "9"}
    fleet.node(None, node("n1", register=well, allocatable=fewer))
    fleet.node(None, node("n1", register=well.replace("true", "false"), allocatable=fewer))
    assert not fits(fleet.snapshot, DeviceRequest(vendor="nvidia", memory_mib=100))
    fleet.node(None, node("n1", register=well, allocatable=fewer))
    assert fits(fleet.snapshot, DeviceRequest(vendor="nvidia", memory_mib=100))


def test_r67_a_card_of_unknown_memory_is_given_by_parts_only() -> None:
    """67 (KAI-Scheduler#706): so many MiB never fit, half of it does."""
    fleet = Fleet(VENDORS)
    fleet.node(None, node("n1", None, allocatable={"nvidia.com/gpu": "1"}))
    assert not fits(fleet.snapshot, DeviceRequest(vendor="nvidia", memory_mib=4000))
    assert fits(fleet.snapshot, DeviceRequest(vendor="nvidia", memory_percent=50))
    assert fits(fleet.snapshot, DeviceRequest(vendor="nvidia", cores=100))


@pytest.mark.parametrize("end", ["refused", "unseen", "unschedulable", "pending", "deleted"])
def test_r53_whatever_fails_gives_back_all_that_was_reserved(end: str) -> None:
    """53 (HAMi#1896): cards, CPU, and what counts for quotas are one thing with one end."""
    cluster = Cluster("n1", flags=("placement.delivery=pin",))
    (replica,) = cluster.replicas
    before = Cluster("n1").replicas[0].placer.fleet.snapshot
    admitted = given(replica.ask(asking()))
    assert differences(before, replica.placer.fleet.snapshot)
    if end == "refused":
        replica.last(admitted, refused=True)
    elif end != "unseen":
        cluster.show(admitted, "x")
    if end == "unschedulable":
        refused = {"type": "PodScheduled", "status": "False"}
        cluster.show(admitted, "x", conditions=[refused])
    elif end == "deleted":
        cluster.gone("x")
    cluster.now += {"unseen": 10, "pending": 60}.get(end, 0)
    replica.placer.reservations.expire()
    assert differences(before, replica.placer.fleet.snapshot) == ()
    assert len(replica.placer.reservations) == len(replica.claims) == 0
