"""Nodes and Pods as the ledger counts them."""

import msgspec
import pytest

from berth.admission import configuration
from berth.cluster import amounts, nodes
from berth.cluster.charges import Reader
from berth.cluster.projections import (
    Amounts,
    Container,
    ContainerStatus,
    Ended,
    Metadata,
    Node,
    NodeSpec,
    Pod,
    PodSpec,
    State,
    Taint,
)
from berth.cluster.wire import Decoder
from berth.model.charge import Charge, Claim, Source, allocation
from berth.model.device import Device
from berth.model.node import Taint as Kept
from berth.model.placement import Hold
from berth.settings import Settings
from berth.vendors import VENDORS
from tests.fleet import objects
from tests.fleet.objects import container, holding, node, pod

READER = Reader(VENDORS)
CORDON = "node.kubernetes.io/unschedulable"
CARDS = [
    Device(uuid=uuid, vendor="nvidia", model="T4", memory_mib=1000) for uuid in ("GPU-1", "GPU-2")
]
NODE = b"""{"type": "ADDED", "object": {
  "metadata": {"name": "n1", "uid": "u", "resourceVersion": "7",
    "labels": {"zone": "a"}, "annotations": {"other": "long", "hami.io/device-cordon": "GPU-1",
      "hami.io/node-nvidia-register": "GPU-1,10,1000,100,T4,0,true,0,hami-core:",
      "enflame.com/gcu-drs-capacity": "{"}},
  "spec": {"unschedulable": true, "podCIDR": "10.0.0.0/24",
    "taints": [{"key": "gpu", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}]},
  "status": {"capacity": {"cpu": "9"}, "allocatable": {"cpu": "7910m", "memory": "16777215Ki",
      "pods": "110", "ephemeral-storage": "1Gi", "nvidia.com/gpu": "10", "rdma/hca": "x"},
    "conditions": [{"type": "Ready", "status": "True"}], "images": []}}}"""


@pytest.mark.parametrize(
    ("allocatable", "healthy"),
    [({"nvidia.com/gpu": "0"}, False), ({"nvidia.com/gpu": "1"}, True), ({}, True)],
)
def test_cards_of_a_device_plugin_that_has_stopped_take_no_new_pods(
    allocatable: dict[str, str], *, healthy: bool
) -> None:
    """It leaves its annotation behind; the kubelet has 0 to allocate, and would refuse them."""
    found, problems = nodes.read(node("n1", ["GPU-1"], allocatable=allocatable), VENDORS)
    assert [one.healthy for one in found.devices] == [healthy]
    said = ("status.allocatable[nvidia.com/gpu]: 0, so no card is given",)
    assert problems == (() if healthy else said)


def charge(one: Pod) -> Charge:
    """Read a Pod of which nothing is wrong."""
    found, problems = READER.charge(one)
    assert problems == ()
    return found


def test_a_node_is_read_with_its_cards_and_what_is_wrong() -> None:
    """Memory in MiB, rounded down; the vendors' own resources are no others."""
    decoded = Decoder(Node).event(NODE).object
    assert decoded is not None
    assert set(decoded.metadata.annotations) == {
        "hami.io/device-cordon",
        "hami.io/node-nvidia-register",
        "enflame.com/gcu-drs-capacity",
    }
    found, problems = nodes.read(decoded, VENDORS)
    assert (found.name, found.cpu_milli, found.memory_mib, found.pods) == ("n1", 7910, 16383, 110)
    assert found.other == {"ephemeral-storage": 2**30}
    assert found.labels == {"zone": "a"}
    assert found.taints == (Kept("gpu"), Kept(CORDON))
    assert found.ready
    assert [(one.uuid, one.healthy) for one in found.devices] == [("GPU-1", False)]
    assert [problem.partition(": ")[0] for problem in problems] == [
        "status.allocatable[rdma/hca]",
        "metadata.annotations[enflame.com/gcu-drs-capacity]",
    ]


def test_a_node_without_a_registration_has_the_cards_it_announces() -> None:
    """And one that registers is not counted once more."""
    plain = node("n1", None, allocatable={"nvidia.com/gpu": "2"})
    assert [one.uuid for one in nodes.read(plain, VENDORS)[0].devices] == [
        "n1-nvidia-0",
        "n1-nvidia-1",
    ]
    registered = node("n1", ["GPU-1"], allocatable={"nvidia.com/gpu": "10"})
    assert [one.uuid for one in nodes.read(registered, VENDORS)[0].devices] == ["GPU-1"]


@pytest.mark.parametrize(
    "spec",
    [
        NodeSpec(unschedulable=True),
        NodeSpec(unschedulable=True, taints=(Taint(CORDON, effect="NoSchedule"),)),
        NodeSpec(taints=(Taint(CORDON, effect="NoSchedule"),)),
    ],
)
def test_a_cordoned_node_has_the_taint_of_one(spec: NodeSpec) -> None:
    """Once, and also before Kubernetes has set it; it is judged with the Pod's tolerations."""
    found = nodes.read(node("n1", spec=spec), VENDORS)[0]
    assert (found.ready, found.taints) == (True, (Kept(CORDON),))
    assert nodes.read(node("n1"), VENDORS)[0].taints == ()


def test_a_pod_holds_the_larger_of_its_init_peak_and_its_sum() -> None:
    """KEP-753: the sidecar runs beside the init container after it, and beside the app."""
    one = pod(
        "x",
        containers=[container("app", cpu="1500m", memory="1Gi")],
        init=[
            container("first", cpu="4"),
            container("side", sidecar=True, cpu="1"),
            container("second", cpu="500m", memory="3Gi"),
        ],
    )
    found, wrong = amounts.of_pod(one)
    assert (found.cpu_milli, found.memory, wrong) == (4000, 3 * 2**30, ())


def test_what_is_written_for_the_whole_pod_counts_and_overhead_comes_on_top() -> None:
    """KEP-2837 and KEP-688; cards are counted apart."""
    one = Pod(
        metadata=Metadata(name="x"),
        spec=PodSpec(
            containers=(container("app", cpu="1", gpu="1", hca="2"),),
            resources=Amounts(requests={"cpu": "3"}),
            overhead={"cpu": "250m"},
        ),
    )
    found, _ = amounts.of_pod(one)
    assert (found.cpu_milli, found.without({"nvidia.com/gpu"})) == (3250, {"hca": 2})


def test_what_is_no_quantity_is_reported_and_counts_as_nothing() -> None:
    """The API server would not have let it pass."""
    _, wrong = READER.charge(pod("x", "n1", containers=[container("app", cpu="much")]))
    assert wrong == ("spec.containers[0].resources.requests[cpu]: no quantity",)


GPU = [container("main", gpu="1")]
DECISION = (
    '{"id":"d1","node":"n1","devices":'
    '[{"container":"main","uuid":"GPU-2","memoryMib":5,"cores":1}]}'
)


def test_the_allocation_annotation_says_what_a_pod_holds() -> None:
    """Before our decision, which the scheduler need not have followed."""
    annotations = holding(("GPU-1", 400, 30)) | {"berth.dev/decision": DECISION}
    found = charge(pod("x", "n1", annotations, containers=GPU))
    assert found.source is Source.RECORDED
    assert found.claims == (Claim(container="main", uuid="GPU-1", memory_mib=400, cores=30),)


def test_until_it_comes_the_decision_says_so() -> None:
    """If it names the node to which the Pod is bound; else nothing says so."""
    annotations = {"berth.dev/decision": DECISION}
    found = charge(pod("x", "n1", annotations, containers=GPU))
    assert found.source is Source.DECIDED
    assert found.claims == (Claim(container="main", uuid="GPU-2", memory_mib=5, cores=1),)
    found = charge(pod("x", "n2", annotations, containers=GPU))
    assert (found.source, found.claims) == (Source.GUESSED, ())


@pytest.mark.parametrize(
    "amount",
    [
        '"memoryMib":-1000',
        '"memoryMib":1000000000000000000000000',
        '"cores":-1',
        '"slices":-1',
        '"slices":1180591620717411303424',
    ],
)
def test_a_decision_holds_no_less_than_nothing(amount: str) -> None:
    """Whoever writes one past our webhook gives nobody room on a card that has none."""
    text = f'{{"id":"1","node":"n1","devices":[{{"container":"main","uuid":"GPU-1",{amount}}}]}}'
    forged = pod("x", "n1", {"berth.dev/decision": text}, containers=GPU)
    found, problems = READER.charge(forged)
    assert (found.source, found.claims) == (Source.GUESSED, ())
    assert [problem.split(": ")[0] for problem in problems] == [
        "metadata.annotations[berth.dev/decision]"
    ]


@pytest.mark.parametrize("asked", [{"nvidia.com/gpu": "1"}, {"aws.amazon.com/neuroncore": "2"}, {}])
def test_a_decision_holds_no_more_cards_than_the_pod_asks_for(asked: dict[str, str]) -> None:
    """Whoever writes one by hand past our webhook holds what he could have asked for."""
    claim = '{"container":"main","uuid":"GPU-%d","memoryMib":5}'
    two = ",".join(claim % number for number in (1, 2))
    annotations = {"berth.dev/decision": f'{{"id":"1","node":"n1","devices":[{two}]}}'}
    mine = [Container(name="main", resources=Amounts(limits=asked))]
    found, problems = READER.charge(pod("x", "n1", annotations, containers=mine))
    assert (found.source, found.claims) == (Source.GUESSED if asked else Source.NONE, ())
    assert all("more cards than the Pod asks for" in problem for problem in problems)
    allowed = [Container(name="main", resources=Amounts(limits={"nvidia.com/gpu": "2"}))]
    assert len(charge(pod("x", "n1", annotations, containers=allowed)).claims) == 2


def test_a_translated_pod_is_charged_by_its_decision_too() -> None:
    """Its resources are those of the stack that it was written for."""
    conversion = {"name": "v", "namespaces": ["*"], "writes": "volcano"}
    settings = msgspec.convert({"conversions": [conversion]}, Settings)
    usual, _ = configuration.rules(settings, None)
    reader = Reader(usual.vendors, usual.terms)
    asked = Amounts(limits={"volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-memory": "5"})
    one = pod(
        "x",
        "n1",
        {"berth.dev/decision": DECISION},
        containers=[Container(name="main", resources=asked)],
    )
    found, problems = reader.charge(one)
    assert (problems, found.source, found.other) == ((), Source.DECIDED, {})


def test_a_pod_without_a_gpu_holds_none() -> None:
    """It counts with its CPU and memory."""
    found = charge(pod("x", "n1"))
    assert (found.source, found.cpu_milli, found.memory_mib) == (Source.NONE, 1000, 1024)


@pytest.mark.parametrize("key", [objects.ALLOCATED, "berth.dev/decision"])
def test_garbage_leaves_the_cards_to_be_guessed(key: str) -> None:
    """Bug report 16: not counted as none."""
    found, problems = READER.charge(pod("x", "n1", {key: "{garbage"}, containers=GPU))
    assert (found.source, found.claims) == (Source.GUESSED, ())
    assert len(problems) == 1
    assert problems[0].startswith(f"metadata.annotations[{key}]: ")


def held(*holds: tuple[str, int], charge: Charge) -> None:
    """Expect these containers and MiB on card 0."""
    found, _ = allocation(charge, CARDS)
    assert [(hold.container, hold.memory_mib) for hold in found.holds] == list(holds)


def test_app_containers_hold_side_by_side_and_an_init_container_what_is_beyond() -> None:
    """400 MiB together; 500 before them: 100 more are held, without a slot of their own."""
    text = "GPU-1,NVIDIA,500,50:;GPU-1,NVIDIA,300,10:;GPU-1,NVIDIA,100,0:;"
    one = pod(
        "x",
        "n1",
        {objects.ALLOCATED: text},
        init=[container("init")],
        containers=[container("a"), container("b")],
    )
    found, unknown = allocation(charge(one), CARDS)
    assert unknown == ()
    assert found.holds == (
        Hold("a", 0, 300, 10),
        Hold("b", 0, 100, 0),
        Hold("init", 0, 100, 40, slots=0),
    )


def test_a_smaller_init_container_costs_nothing_more() -> None:
    """It has given back what it held."""
    text = "GPU-1,NVIDIA,200,5:;GPU-1,NVIDIA,300,10:;"
    one = pod(
        "x", "n1", {objects.ALLOCATED: text}, init=[container("init")], containers=[container("a")]
    )
    held(("a", 300), charge=charge(one))


def test_init_containers_give_back_what_they_held_once_all_have_ended_well() -> None:
    """As HAMi does; one that failed runs again."""
    text = "GPU-1,NVIDIA,500,50:;GPU-1,NVIDIA,300,10:;"
    one = pod(
        "x", "n1", {objects.ALLOCATED: text}, init=[container("init")], containers=[container("a")]
    )
    for code, expected in ((0, [("a", 300)]), (1, [("a", 300), ("init", 200)])):
        status = ContainerStatus("init", State(Ended(code)))
        ended = msgspec.structs.replace(one.status, init_container_statuses=(status,))
        held(*expected, charge=charge(msgspec.structs.replace(one, status=ended)))


def test_a_sidecar_counts_with_the_apps_and_beside_later_init_containers() -> None:
    """HAMi counts it as an init container (HAMi#2563)."""
    text = "GPU-1,NVIDIA,100,0:;GPU-1,NVIDIA,500,0:;GPU-1,NVIDIA,300,0:;"
    one = pod(
        "x",
        "n1",
        {objects.ALLOCATED: text},
        init=[container("side", sidecar=True), container("init")],
        containers=[container("a")],
    )
    held(("side", 100), ("a", 300), ("init", 200), charge=charge(one))


def test_a_device_held_whole_and_one_that_the_node_does_not_list() -> None:
    """The first takes all there is; the second is named."""
    text = "GPU-1,NVIDIA,?,?:GPU-9,NVIDIA,1,1:;"
    found, _ = READER.charge(pod("x", "n1", {objects.ALLOCATED: text}, containers=GPU))
    holds, unknown = allocation(found, CARDS)
    assert holds.holds == (Hold("main", 0, 1000, 100),)
    assert unknown == ("GPU-9",)


def test_partitions_of_one_pod_are_charged_once_where_they_overlap() -> None:
    """An init container's lies where an app's lies later; given back, none stays behind."""
    claims = (
        Claim(container="init", uuid="GPU-1", memory_mib=10, cores=1, slices=0b0111),
        Claim(container="a", uuid="GPU-1", memory_mib=10, cores=1, slices=0b0110),
        Claim(container="b", uuid="GPU-1", memory_mib=10, cores=1, slices=0b1100),
    )
    one = Charge(namespace="a", name="x", uid="u", node="n1", claims=claims, init=("init",))
    found, _ = allocation(one, CARDS)
    assert [hold.slices for hold in found.holds] == [0b0110, 0b1100, 0b0001]
