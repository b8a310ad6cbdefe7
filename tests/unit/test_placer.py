"""Placing in one process: what is held for whom, what a Pod is told, and who is left alone."""

import gc
import weakref
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from berth import layered, names, settings
from berth.admission import configuration, stored
from berth.errors import UsageError
from berth.model.decision import Verdict
from berth.model.demand import Share
from berth.model.difference import differences
from berth.model.placed import Delivery
from berth.model.reason import Reason
from berth.model.request import PodRequest
from berth.placement.policies import POLICIES
from berth.settings import Settings
from tests.e2e import gpu_nodes
from tests.placing import GPU, MEMORY, Cluster, Replica, asking, found, given
from tests.pods import container, gpu_pod
from tests.reviews import SPACE

PIN = ("placement.delivery=pin", "placement.policy=binpack")
FULL = gpu_nodes.MEMORY


def named(node: str) -> dict[str, Any]:
    """Return affinity as the DaemonSet controller writes it."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    required = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def test_a_second_pass_finds_its_own_id_and_reserves_once() -> None:
    """It is told the same, and changes nothing."""
    cluster = Cluster("n1", "n2", flags=PIN)
    (replica,) = cluster.replicas
    first = replica.ask(asking())
    node = found(first).node
    assert replica.left(node) == FULL - 13_000
    assert given(first)["metadata"]["annotations"]["hami.io/injected"] == "true"
    second = replica.ask(given(first))
    assert second.verdict is Verdict.UNCHANGED
    assert replica.left(node) == FULL - 13_000
    assert len(replica.placer.reservations) == 1


@pytest.mark.parametrize("delivery", ["pin", "require", "prefer"])
def test_a_second_pass_at_another_replica_leads_to_the_same_place(delivery: str) -> None:
    """That one knows the first decision not, and makes its own within what stands in the Pod."""
    flags = (f"placement.delivery={delivery}",)
    cluster = Cluster("n1", "n2", "n3", flags=flags, replicas=2)
    first, other = cluster.replicas
    decision = first.ask(asking())
    at_first, pod = found(decision), given(decision)
    again = other.ask(pod)
    assert (found(again).node, found(again).devices) == (at_first.node, at_first.devices)
    assert found(again).id != at_first.id
    assert given(again)["spec"]["affinity"] == pod["spec"]["affinity"]
    cluster.show(given(again), "x")
    assert len(other.placer.reservations) == 1, "as long as the Pod waits"
    cluster.now += 10
    assert [replica.left(found(again).node) for replica in cluster.replicas] == [FULL - 13_000] * 2


ZONES = {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}
LABEL = "kubernetes.io/hostname"
HOSTS = {"key": LABEL, "operator": "In", "values": ["host-n1", "host-n2"]}
NOT_N3 = {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n3"]}]}


EITHER = [
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    for name in ("n1", "n3")
]


@pytest.mark.parametrize("delivery", ["pin", "require", "prefer"])
@pytest.mark.parametrize(
    "terms",
    [
        [],
        [{"matchExpressions": [HOSTS]}],
        [{"matchExpressions": [{**HOSTS, "values": HOSTS["values"][::-1]}]}],
        [{"matchExpressions": [HOSTS], **NOT_N3}, ZONES],
        EITHER,
    ],
)
def test_what_was_wanted_before_a_pod_was_placed_is_known(
    delivery: str, terms: list[dict[str, Any]]
) -> None:
    """So a recording is of what its authors asked for, and any other policy may be tried on it."""
    cluster = Cluster("n1", "n2", "n3", flags=(f"placement.delivery={delivery}",))
    (replica,) = cluster.replicas
    pod = asking()
    if terms:
        pod["spec"]["affinity"] = named("n1")
        required = pod["spec"]["affinity"]["nodeAffinity"]
        required["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] = terms
    before = stored.request(pod, replica.rules)
    decision = replica.ask(deepcopy(pod))
    assert found(decision).node
    after = given(decision)
    assert after["spec"]["affinity"] != pod["spec"].get("affinity")
    assert stored.authored(after, replica.rules)[1] == before
    assert stored.authored(pod, replica.rules)[1] == before


def wanted(raw: Any, by: Replica) -> tuple[tuple[Share, ...], PodRequest]:
    """Return what the author of a Pod wanted, of cards and of all else."""
    demand, request = stored.authored(raw, by.rules)
    return demand.shares, request


@pytest.mark.parametrize("delivery", ["pin", "require", "prefer"])
def test_the_cards_that_a_pod_names_itself_are_known_once_it_is_placed(delivery: str) -> None:
    """Of each container; also once another replica has placed it anew."""
    flags = (f"placement.delivery={delivery}",)
    cluster = Cluster("n1", "n2", "n3", flags=flags, replicas=2)
    first, other = cluster.replicas
    pod = asking()
    pod["spec"]["containers"].append(container("more", {GPU: "1", MEMORY: "30000"}))
    listed = "GPU-n3-1,GPU-n1-2,GPU-n1-3"
    pod["metadata"]["annotations"] = {"nvidia.com/use-gpuuuid": listed}
    before = wanted(pod, first)
    decision = first.ask(deepcopy(pod))
    assert found(decision).node == "n1"
    for after in (given(decision), given(other.ask(given(decision)))):
        written = after["metadata"]["annotations"]["nvidia.com/use-gpuuuid"]
        assert (written == listed) == (delivery != "pin")
        assert wanted(after, first) == before
    named_none = asking()
    before = wanted(named_none, first)
    assert wanted(given(first.ask(named_none)), first) == before


def test_a_pod_that_names_either_of_two_nodes_is_placed() -> None:
    """Only one that can go nowhere else is left alone: the best of its nodes is for us to say."""
    cluster = Cluster("n1", "n2", "n3", flags=PIN)
    pod = asking()
    pod["spec"]["affinity"] = named("n1")
    terms = pod["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    terms["nodeSelectorTerms"] *= 2
    assert cluster.replicas[0].ask(pod).placed is None
    terms["nodeSelectorTerms"] = [
        *terms["nodeSelectorTerms"][:1],
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n3"]}]},
    ]
    (replica,) = cluster.replicas
    first = replica.ask(pod)
    assert found(first).node in {"n1", "n3"}
    assert found(first).candidates == 2
    assert replica.ask(given(first)).verdict is Verdict.UNCHANGED


@pytest.mark.parametrize("delivery", ["pin", "require", "prefer"])
def test_a_node_without_a_host_label_is_decided_only_where_it_can_be_named(delivery: str) -> None:
    """By its name under `pin`. Two nodes of one label are named once."""
    flags = ("placement.policy=binpack", f"placement.delivery={delivery}")
    cluster = Cluster("n1", "n2", "n3", flags=flags)
    for name, labels in (("n1", {}), ("n2", {LABEL: "one"}), ("n3", {LABEL: "one"})):
        bare = gpu_nodes.node(name)
        bare["metadata"]["labels"] = labels
        cluster.node(bare)
    held = asking(5_000, {"vgpu-devices-allocated": "GPU-n1-0,NVIDIA,5000,0:;"})
    cluster.show(held, "x", on="n1")
    (replica,) = cluster.replicas
    decision = replica.ask(asking())
    decided = found(decision)
    assert (decided.node == "n1") == (delivery == "pin")
    assert decided.devices[0].uuid.startswith(f"GPU-{decided.node}-")
    assert replica.left(decided.node) == FULL - 13_000 - (5_000 if delivery == "pin" else 0)
    if delivery != "pin":
        assert decided.reason == "the best but 1 of 3 by binpack"
        assert decision.placed is not None
        assert decision.placed.hosts == ("one",)


def test_a_second_pass_over_a_pod_that_has_grown_is_decided_anew() -> None:
    """Another webhook has added a container: what was promised first is given back."""
    cluster = Cluster("n1", flags=("placement.policy=binpack",))
    (replica,) = cluster.replicas
    for _ in range(2):
        replica.ask(asking(FULL))
    first = replica.ask(asking())
    grown = given(first)
    grown["spec"]["containers"].append(container("more", {GPU: "1"}))
    second = replica.ask(grown)
    assert found(second).id == found(first).id
    assert len(found(second).devices) == 2
    assert len(replica.placer.reservations) == 3
    assert sorted(replica.left("n1", card) for card in range(4)) == [0, 0, 0, FULL - 13_000]
    busier = given(second)
    busier["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2"
    third = Cluster("n1").replicas[0].ask(busier)
    assert found(third).id != found(first).id, "another replica knows it not"


@pytest.mark.parametrize(("among", "shared"), [(1, True), (16, False)])
def test_replicas_that_decide_at_once_fill_nodes_of_their_own(among: int, *, shared: bool) -> None:
    """None has seen the other's Pods yet; still each fills one node before the next."""
    flags = (*PIN, f"placement.pinAmong={among}")
    cluster = Cluster(*(f"n{number}" for number in range(16)), flags=flags, replicas=2)
    nodes = list[set[str]]()
    for name, replica in zip("ab", cluster.replicas, strict=True):
        replica.placer.name = name
        decisions = [found(replica.ask(asking())) for _ in range(12)]
        nodes.append({one.node for one in decisions})
        assert replica.placer.reservations.overlaps == 0
        assert all(one.reason.endswith("of 16 by binpack") for one in decisions)
    assert [len(each) for each in nodes] == [1, 1]
    assert (nodes[0] == nodes[1]) == shared


@pytest.mark.parametrize("others", [(), ("cpu-1",)])
def test_a_pod_passes_once_the_last_node_with_such_a_card_has_left(others: tuple[str, ...]) -> None:
    """As before the first one came: an autoscaler that removed it adds it again for this Pod."""
    cluster = Cluster("n1", flags=("placement.never=refuse", "placement.full=refuse"))
    for name in others:
        plain = gpu_nodes.node(name)
        plain["metadata"]["annotations"] = {}
        plain["status"]["allocatable"].pop(GPU)
        cluster.node(plain)
    (replica,) = cluster.replicas
    assert found(replica.ask(asking())).node == "n1"
    cluster.nodes.remove(("", "n1"))
    decision = replica.ask(asking())
    assert decision.verdict is Verdict.PATCHED
    assert decision.placed is None
    cluster.node(gpu_nodes.node("n1"))
    assert found(replica.ask(asking())).node == "n1"


@pytest.mark.parametrize("policy", names.POLICIES)
def test_a_bound_pod_of_which_nothing_is_said_holds_what_would_be_decided(policy: str) -> None:
    """Under every policy. 10000 MiB fit best where 22960 are left, if most Pods want 12000."""
    cluster = Cluster("n1", flags=PIN[:1])
    (replica,) = cluster.replicas
    for number, (card, memory) in enumerate([(0, 12_000), (1, 24_000), (2, 18_000), (2, 1)]):
        held = asking(12_000)
        said = f"{gpu_nodes.uuid('n1', card)},NVIDIA,{memory},0:;"
        held["metadata"]["annotations"] = {"hami.io/vgpu-devices-allocated": said}
        cluster.show(held, f"x{number}", on="n1")
    left = [replica.left("n1", card) for card in range(4)]
    pod = asking(10_000, {"scheduling-policy": policy})
    decided = found(replica.ask(pod, dry_run=True))
    cluster.show(pod, "new", on="n1")
    (uuid,) = [one.uuid for one in decided.devices]
    for card in range(4):
        more = 10_000 if gpu_nodes.uuid("n1", card) == uuid else 0
        assert replica.left("n1", card) == left[card] - more


@pytest.mark.parametrize(
    ("on", "status", "left"),
    [
        ("n1", {}, FULL - 13_000),
        ("n1", {"phase": "Succeeded"}, FULL),
        ("", {"conditions": [{"type": "PodScheduled", "status": "False"}]}, FULL),
        ("", {}, FULL - 13_000),
    ],
)
def test_a_new_process_holds_nothing_for_who_is_bound_already_or_cannot_be(
    on: str, status: dict[str, Any], left: int
) -> None:
    """It is shown all Pods at once; a bound one holds its cards itself, and once."""
    cluster = Cluster("n1", flags=PIN, replicas=2)
    first, other = cluster.replicas
    cluster.show(given(first.ask(asking())), "x", on=on, **status)
    waits = not on and not status
    assert [len(other.placer.reservations), other.left("n1")] == [int(waits), left]


def test_a_dry_run_is_answered_and_holds_nothing() -> None:
    """As often as one likes."""
    cluster = Cluster("n1", flags=PIN)
    (replica,) = cluster.replicas
    for _ in range(5):
        assert found(replica.ask(asking(), dry_run=True)).node == "n1"
    assert len(replica.placer.reservations) == len(replica.claims) == 0
    assert replica.left("n1") == FULL


def test_a_pod_that_is_refused_at_last_gives_back_at_once() -> None:
    """And one that is refused by others, and never seen, after ten seconds."""
    cluster = Cluster("n1", flags=PIN)
    (replica,) = cluster.replicas
    replica.last(given(replica.ask(asking())), refused=True)
    assert replica.left("n1") == FULL
    replica.ask(asking())
    cluster.now += 10
    assert replica.left("n1") == FULL


def test_what_is_reserved_is_what_the_bound_pod_holds() -> None:
    """Also of init containers, beside the sidecars before them: the peak, not the sum."""
    cluster = Cluster("n1", flags=PIN)
    (replica,) = cluster.replicas
    pod = asking()
    side = container("side", {GPU: "1", MEMORY: "4000"}) | {"restartPolicy": "Always"}
    pod["spec"]["initContainers"] = [side, container("first", {GPU: "1", MEMORY: "30000"})]
    admitted = given(replica.ask(pod))
    reserved = [replica.left("n1", card) for card in range(4)]
    assert sum(reserved) < 4 * FULL - 30_000
    cluster.show(admitted, "x")
    cluster.show(admitted, "x", on="n1")
    assert len(replica.placer.reservations) == 0
    assert [replica.left("n1", card) for card in range(4)] == reserved


def test_an_init_container_is_charged_what_it_asks_for_beside_its_sidecars() -> None:
    """5000 MiB beside the sidecar's 10000 are less than run later; half of the cores are more."""
    cluster = Cluster("n1", flags=PIN)
    (replica,) = cluster.replicas
    pod = asking(20_000)
    side = container("side", {GPU: "1", MEMORY: "10000"}) | {"restartPolicy": "Always"}
    first = container("first", {GPU: "1", MEMORY: "5000", "nvidia.com/gpucores": "50"})
    pod["spec"]["initContainers"] = [side, first]
    decision = replica.ask(pod)
    (claim,) = [one for one in found(decision).devices if one.container == "first"]
    assert (claim.memory_mib, claim.cores) == (5_000, 50)
    for on in ("", "n1"):
        cluster.show(given(decision), "x", on=on)
        assert replica.left("n1") == FULL - 30_000
        snapshot = replica.placer.fleet.snapshot
        assert snapshot.cores_left[snapshot.row["n1"], 0] == 50


def test_a_copied_id_is_another_pod() -> None:
    """What stands in a template was read from a Pod that is stored."""
    cluster = Cluster("n1", flags=PIN)
    (replica,) = cluster.replicas
    first = replica.ask(asking())
    replica.last(given(first))
    copy = given(first)
    copy["spec"]["affinity"] = {}
    assert found(replica.ask(copy)).id != found(first).id
    assert replica.left("n1") == FULL - 26_000


@pytest.mark.parametrize(
    "labels", [{"hami.io/webhook": "ignore"}, {"berth.dev/inject": "false"}, {}]
)
@pytest.mark.parametrize("seen", [True, False])
def test_a_copy_of_a_live_id_ends_no_reservation(labels: dict[str, str], *, seen: bool) -> None:
    """Whoever opts out is not asked about: refused, bound or deleted, he frees nobody's place.

    Where the copy is shown first, as a list has no order, its label tells; else see below.
    """
    cluster = Cluster("n1", flags=PIN)
    (replica,) = cluster.replicas
    admitted = given(replica.ask(asking()))
    copy = {**admitted, "metadata": {**admitted["metadata"], "labels": labels, "name": "copy"}}
    replica.last(copy, refused=True)
    assert replica.left("n1") == FULL - 13_000
    if seen or not labels:
        cluster.show(admitted, "x")
    cluster.show(copy, "copy")
    cluster.show(copy, "copy", phase="Failed")
    cluster.gone("copy")
    assert replica.left("n1") == FULL - 13_000
    cluster.show(admitted, "x", on="n1")
    assert len(replica.placer.reservations) == 0
    assert replica.left("n1") == FULL - 13_000


@pytest.mark.parametrize("end", ["bound", "deleted"])
def test_a_copy_that_a_list_shows_first_takes_no_place_away(end: str) -> None:
    """After an outage of the watch, and to a new process: each holds a place of its own.

    The copy's scheduler is one about which we are not asked; that it is seen first, by the replica
    that decided and by another, says nothing.
    """
    cluster = Cluster("n1", "n2", flags=PIN, replicas=2)
    decision = cluster.replicas[0].ask(asking())
    admitted, node = given(decision), found(decision).node
    other = {"n1": "n2", "n2": "n1"}[node]
    copy = {**admitted, "spec": {**admitted["spec"], "schedulerName": "another"}}
    cluster.show(copy, "a-copy")
    cluster.show(admitted, "x")
    if end == "bound":
        cluster.show(copy, "a-copy", on=other)
    else:
        cluster.gone("a-copy")
    for replica in cluster.replicas:
        assert replica.left(node) == FULL - 13_000
        assert len(replica.placer.reservations) == 1
    cluster.show(admitted, "x", on=node)
    for replica in cluster.replicas:
        assert replica.left(node) == FULL - 13_000
        assert len(replica.placer.reservations) == 0


@pytest.mark.parametrize(
    ("writes", "chosen", "delivery"),
    [
        ("hami", "auto", Delivery.REQUIRE),
        ("volcano", "auto", Delivery.PREFER),
        ("pool", "auto", Delivery.PREFER),
        ("volcano", "pin", Delivery.PIN),
    ],
)
def test_the_delivery_suits_the_scheduler_of_the_namespaces_stack(
    writes: str, chosen: str, delivery: Delivery
) -> None:
    """HAMi's reads no scores; where a way is chosen, it is that one."""
    wanted = {
        "conversions": [{"name": "v", "namespaces": ["v"], "writes": writes}],
        "placement": {"delivery": chosen, "special": [{"namespaces": ["mine"]}]},
    }
    rules, _ = configuration.rules(msgspec.convert(wanted, Settings), None)
    placements = rules.within("v").placements
    assert placements.of("v").delivery is delivery
    auto = Delivery.REQUIRE if writes == "hami" else Delivery.PREFER
    assert placements.of("mine").delivery is auto
    assert rules.placements.of("mine").delivery is Delivery.REQUIRE


@pytest.mark.parametrize("how", ["nodeName", "affinity", "off"])
def test_who_goes_to_one_node_anyway_is_left_alone(how: str) -> None:
    """A DaemonSet's Pods have affinity to their node; a setting leaves all alone."""
    flags = {"off": ("placement.delivery=off",), "nodeName": ("scheduler.name=",)}.get(how, ())
    cluster = Cluster("n1", flags=flags)
    pod = asking()
    if how == "affinity":
        pod["spec"]["affinity"] = named("n1")
    if how == "nodeName":
        pod["spec"]["nodeName"] = "n1"
    decision = cluster.replicas[0].ask(pod)
    assert decision.placed is None
    assert given(decision)["spec"].get("affinity") == pod["spec"].get("affinity")


def test_the_runtime_is_told_only_where_a_setting_says_so() -> None:
    """Beside HAMi's plugin a container's own variable would win, and use what is not charged."""
    keeps = (*PIN, "policy.deviceEnv=keep")
    for flags, told in (
        (PIN, {"HAMI_VGPU_UUID"}),
        ((*keeps, "placement.visibleDevices=true"), {"HAMI_VGPU_UUID", "NVIDIA_VISIBLE_DEVICES"}),
    ):
        (replica,) = Cluster("n1", flags=flags).replicas
        decision = replica.ask(asking())
        env = given(decision)["spec"]["containers"][0]["env"]
        assert {one["name"] for one in env} == told
        assert {one["value"] for one in env} == {found(decision).devices[0].uuid}
        assert replica.ask(given(decision)).verdict is Verdict.UNCHANGED
    with pytest.raises(UsageError, match="set that to keep"):
        Cluster(flags=("placement.visibleDevices=true",))


def test_the_policy_is_the_pods_then_its_namespaces() -> None:
    """Ours by name, HAMi's by its annotation, and no warning of either; no other word is taken."""
    replica = Cluster("n1", flags=("placement.policy=spread",)).replicas[0]
    chosen: list[tuple[dict[str, str], str]] = [
        ({}, "spread"),
        ({"scheduling-policy": "mutex"}, "mutex"),
        ({"node-scheduler-policy": "binpack"}, "binpack"),
        ({"scheduling-policy": ""}, "spread"),
    ]
    for annotations, policy in chosen:
        answer = replica.ask(asking(annotations=annotations))
        assert (found(answer).policy, answer.warnings) == (policy, ())
    for word in ("nonsense", "binpack,spread", " mutex"):
        refused = replica.ask(asking(annotations={"scheduling-policy": word}))
        assert refused.said == ("annotation.policy",)


def test_the_words_for_policies_are_those_of_the_settings() -> None:
    """And the engine has each."""
    (kind,) = [one.type for one in msgspec.structs.fields(settings.Manner) if one.name == "policy"]
    assert get_args(kind) == names.POLICIES
    assert POLICIES.keys() >= {*names.POLICIES}


def test_nothing_fits_now_is_told_and_refused_only_where_settings_say_so() -> None:
    """With what is missing; by PriorityClass; no affinity, for it would bind to nothing."""
    cluster = Cluster("n1")
    (replica,) = cluster.replicas
    for _ in range(4):
        replica.ask(asking(30_000))
    told = replica.ask(asking(30_000))
    assert told.verdict is Verdict.PATCHED
    missing = "30000 MiB of one card wanted, n1 has 10960 free (nodes: 1)"
    assert [str(one) for one in told.warnings] == [f"no node has room now: {missing}"]
    assert "affinity" not in given(told)["spec"]
    assert (found(told).node, found(told).candidates) == ("", 0)
    for flags, refused in (
        (("placement.full=refuse",), True),
        (("placement.full=refuse", "placement.fullPriorityClasses=low"), False),
    ):
        strict = Cluster("n1", flags=flags).replicas[0]
        for _ in range(4):
            strict.ask(asking(30_000))
        decision = strict.ask(asking(30_000))
        assert (decision.verdict is Verdict.REFUSED) == refused
        assert [one.reason for one in decision.problems] == [Reason.NO_ROOM] * refused


def test_what_can_never_fit_is_told_or_refused() -> None:
    """More memory than any card has; a model that no node has."""
    wrong = asking()
    wrong["metadata"]["annotations"] = {"nvidia.com/use-gputype": "H100"}
    for pod, why in (
        (asking(50_000), "50000 MiB of one card wanted"),
        (wrong, "without a healthy card"),
    ):
        told = Cluster("n1").replicas[0].ask(deepcopy(pod))
        assert told.verdict is Verdict.PATCHED
        assert [why in str(one) for one in told.warnings] == [True]
        strict = Cluster("n1", flags=("placement.never=refuse",)).replicas[0]
        assert [one.reason for one in strict.ask(pod).problems] == [Reason.NEVER_FITS]


def test_where_no_card_of_its_kind_is_known_nothing_is_said() -> None:
    """The first node with cards may be made for this Pod."""
    decision = Cluster().replicas[0].ask(asking(50_000))
    assert (decision.placed, decision.warnings) == (None, ())


def test_a_pod_that_says_nothing_holds_what_placing_would_take() -> None:
    """Bound by others, without our decision and without HAMi's record."""
    cluster = Cluster("n1", flags=PIN)
    (replica,) = cluster.replicas
    cluster.show(asking(), "x", on="n1")
    assert [replica.left("n1", card) for card in range(4)] == [FULL - 13_000, FULL, FULL, FULL]
    cluster.gone("x")
    assert replica.left("n1") == FULL


def plain(name: str, announced: int, **labels: str) -> Any:
    """Return a node of one card whose plugin is NVIDIA's own."""
    made = gpu_nodes.node(name)
    said = {"product": "Tesla-T4", "memory": "15360", "count": "1", **labels}
    own = {f"{GPU}.{key}": value for key, value in said.items()}
    made["metadata"] |= {"annotations": {}, "labels": {LABEL: name, **own}}
    made["status"]["allocatable"][GPU] = str(announced)
    return made


@pytest.mark.parametrize(
    ("flags", "nodes"),
    [
        ((), {"hami"}),
        (("scheduler.name=",), {"hami", "volcano", "plain"}),
    ],
    ids=["HAMi's scheduler", "any"],
)
def test_a_pod_goes_where_the_stack_hands_out_cards_that_it_is_written_for(
    flags: tuple[str, ...], nodes: set[str]
) -> None:
    """While nodes move from one to another: the others' cards are held, and given to nobody."""
    cluster = Cluster("hami", flags=("placement.delivery=require", *flags))
    cluster.node(plain("plain", 1))
    volcano = plain("volcano", 0)
    text = "GPU-v,10,15360,NVIDIA-T4,true,hami-core:"
    volcano["metadata"]["annotations"] = {"volcano.sh/node-vgpu-register": text}
    del volcano["status"]["allocatable"][GPU]
    cluster.node(volcano)
    (replica,) = cluster.replicas
    decision = replica.ask(asking())
    assert found(decision).candidates == len(nodes)
    assert decision.placed is not None
    assert {host.removeprefix("host-") for host in decision.placed.hosts} == nodes
    cluster.show(asking(), "x", on="plain")
    assert replica.left("plain") == 15_360 - 13_000


@pytest.mark.parametrize(
    ("writes", "stack"),
    [("hami", "hami"), ("volcano", "volcano"), ("plain", "plain"), ("pool", "")],
)
def test_the_stack_is_that_for_which_pods_are_written(writes: str, stack: str) -> None:
    """What hands cards out for a vGPU manager is not known."""
    tree = {"conversions": [{"name": "v", "namespaces": ["v"], "writes": writes}]}
    rules, _ = configuration.rules(msgspec.convert(tree, Settings), None)
    assert rules.within("v").options.stack == stack


def test_where_only_other_stacks_have_such_cards_nothing_is_said() -> None:
    """The first node of the Pod's own may be made for it."""
    cluster = Cluster()
    cluster.node(plain("plain", 1))
    assert cluster.replicas[0].ask(asking()).placed is None


def test_as_many_pods_fit_on_a_time_sliced_node_as_its_plugin_announces() -> None:
    """Each asks for one device and gets a replica; the next one is told that none is free."""
    cluster = Cluster(flags=("placement.delivery=prefer", "scheduler.name="))
    cluster.node(plain("n1", 3, replicas="3"))
    whole = gpu_pod({GPU: "1"})
    for number in range(3):
        decision = cluster.replicas[0].ask(deepcopy(whole))
        assert [one.uuid for one in found(decision).devices] == [f"n1-nvidia-0::{number}"]
        cluster.show(given(decision), f"x{number}", on="n1")
    (warning,) = cluster.replicas[0].ask(deepcopy(whole)).warnings
    assert str(warning) == "no node has room now: 1 free cards wanted, n1 has 0 (nodes: 1)"


def test_other_accelerators_in_the_configuration_are_counted_anew() -> None:
    """Reservations are held in the new count too."""
    cluster = Cluster("n1", flags=PIN)
    (replica,) = cluster.replicas
    decision = replica.ask(asking())
    cluster.show(asking(), "x", on="n1")
    others = Cluster(flags=("policy.unmanagedVendors=ascend",)).replicas[0].rules
    before = replica.placer.fleet
    replica.placer.placing(SPACE, others, "other", None)
    assert replica.placer.fleet is not before
    assert not differences(replica.placer.fleet.snapshot, before.snapshot)
    assert found(decision).node == "n1"
    known = weakref.ref(before)
    del before
    gc.collect()
    assert known() is None, "each reload would keep a whole ledger"


def test_after_a_new_count_guesses_are_made_of_cards_that_are_there() -> None:
    """Not those that were guessed before it: the node has others now."""
    cluster = Cluster("n1")
    (replica,) = cluster.replicas
    cluster.show(asking(4_000), "x", on="n1")
    others = Cluster(flags=("policy.unmanagedVendors=ascend",)).replicas[0].rules
    replica.placer.placing(SPACE, others, "other", None)
    other = gpu_nodes.node("n1")
    (key,), annotations = other["metadata"]["annotations"], other["metadata"]["annotations"]
    annotations[key] = annotations[key].replace("GPU-", "GPU-other-")
    cluster.node(other)
    (pod,) = replica.placer.fleet.picture().pods
    assert [one.uuid.startswith("GPU-other-") for one in pod.claims] == [True]


def test_pods_of_an_accelerator_that_is_managed_from_now_on_hold_its_cards() -> None:
    """They stood there before, and nothing says which they have."""
    cluster = Cluster("n1", flags=("policy.unmanagedVendors=nvidia",))
    (replica,) = cluster.replicas
    cluster.show(asking(4_000), "x", on="n1")
    assert replica.placer.fleet.picture().pods[0].claims == ()
    replica.placer.placing(SPACE, Cluster().replicas[0].rules, "other", None)
    assert replica.left("n1") == FULL - 4_000


def test_another_filter_counts_nothing_anew(tmp_path: Path) -> None:
    """That would hold up admission for seconds where there are 5,000 nodes."""
    cluster = Cluster("n1")
    (replica,) = cluster.replicas
    before = replica.placer.fleet
    file = tmp_path / "settings.yaml"
    file.write_text("placement: {rackLabel: r, filters: [{name: f, expression: device.numa > 9}]}")
    replica.rules, _ = configuration.rules(layered.settings(file), None)
    assert not found(replica.ask(asking())).node
    assert replica.placer.fleet is before


def of_class(workload: str, memory: int = 1_000) -> Any:
    """Return a Pod of a class of workload, by its label."""
    pod = asking(memory)
    pod["metadata"]["labels"] = {"berth.dev/workload-class": workload}
    return pod


def cards(decision: Any) -> set[str]:
    """Return the cards that were chosen."""
    return {one.uuid for one in found(decision).devices}


def test_classes_are_kept_apart_from_reservation_to_bound_pod() -> None:
    """Inference goes to another card than training that is promised, bound, or known after it."""
    cluster = Cluster("n1", flags=PIN, replicas=2)
    one, other = cluster.replicas
    training = one.ask(of_class("training"))
    assert cards(one.ask(of_class("inference"))).isdisjoint(cards(training))
    assert cards(one.ask(of_class("training"))) == cards(training)
    cluster.show(given(training), "t", on="n1")
    assert cards(other.ask(of_class("inference"))).isdisjoint(cards(training))
    assert cards(other.ask(asking(1_000))) == cards(training), "one without a class goes with all"


def test_a_filter_of_the_settings_holds_for_new_pods_and_is_named(tmp_path: Path) -> None:
    """In the namespaces that it is for; the warning says its name."""
    cluster = Cluster("n1")
    (replica,) = cluster.replicas
    file = tmp_path / "settings.yaml"
    file.write_text(
        "placement: {filters: [{name: none, namespaces: [def*], expression: device.numa > 99}]}"
    )
    replica.rules, _ = configuration.rules(layered.settings(file), None)
    decision = replica.ask(asking())
    assert not found(decision).node
    assert any("filter none" in str(warning) for warning in decision.warnings), decision.warnings
    cluster = Cluster("n1", flags=("placement.delivery=pin",))
    assert found(cluster.replicas[0].ask(asking())).node == "n1"


def test_the_words_of_a_pod_choose_its_card() -> None:
    """HAMi's `gpu-scheduler-policy`, whatever the policy of nodes."""
    cluster = Cluster("n1", flags=PIN)
    (replica,) = cluster.replicas
    first = replica.ask(asking(1_000))
    spread = replica.ask(asking(1_000, {"gpu-scheduler-policy": "spread"}))
    packed = replica.ask(asking(1_000, {"gpu-scheduler-policy": "binpack"}))
    assert cards(spread).isdisjoint(cards(first))
    assert cards(packed) in (cards(first), cards(spread))
