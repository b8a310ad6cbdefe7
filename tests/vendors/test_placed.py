"""Pods of accelerators that are shared otherwise than NVIDIA's: what fits on a node, side by side.

Each is held against a count of its own, by what HAMi's scheduler takes of a device (contract 2.2).
"""

import json
import random
import sys
from collections.abc import Mapping

import pytest

from tests import placing
from tests.e2e import gpu_nodes
from tests.placing import Cluster
from tests.pods import Pod, container, gpu_pod, pod

CORES, NEURON = "aws.amazon.com/neuroncore", "aws.amazon.com/neuron"
SLICES, MEMORY, CORE = (f"enflame.com/{one}" for one in ("drs-gcu", "gcu-memory", "gcu-core"))
SHAPES = {1: 6, 3: 20, 6: 40}
"""Slices, and GiB, of Enflame's S60."""
DRS = {
    "devices": [{"index": "0", "minor": "0", "capacity": 6}],
    "profiles": {f"{size}g.{memory}gb": str(size) for size, memory in SHAPES.items()},
}
SEED = random.SystemRandom().getrandbits(32)


def cluster(
    allocatable: Mapping[str, str], annotations: Mapping[str, str] | None = None
) -> Cluster:
    """Return a cluster of one node that gives this."""
    made, found = gpu_nodes.node("n1"), Cluster()
    made["metadata"]["annotations"] = dict(annotations or {})
    gives = {"cpu": "64", "memory": "256Gi", "pods": "110", **allocatable}
    made["status"] = {**made["status"], "capacity": gives, "allocatable": gives}
    found.node(made)
    return found


def neuron() -> Cluster:
    """Return one with a device of two cores."""
    return cluster({NEURON: "1", CORES: "2"})


def enflame() -> Cluster:
    """Return one with a device of six slices."""
    return cluster({SLICES: "6"}, {"enflame.com/gcu-drs-capacity": json.dumps(DRS)})


def place(asked: Pod, on: Cluster) -> str:
    """Ask for a Pod, which holds what it is given; return why it is given nothing, or ""."""
    asked["metadata"] = {"generateName": "some-"}
    (replica,) = on.replicas
    decision = replica.ask(asked)
    replica.last(decision.pod)
    found = placing.found(decision)
    return "" if found.node else found.reason


def test_each_core_of_a_neuron_device_is_given() -> None:
    """A share of its cores takes none of its memory, of which nobody knows how much there is."""
    one = {CORES: "1"}
    assert place(pod(container("a", one), container("b", one)), neuron()) == ""
    on = neuron()
    assert [place(gpu_pod(one), on) for _ in range(3)] == ["", "", "no node has room now"]
    on = neuron()
    assert place(gpu_pod({NEURON: "1"}), on) == ""
    assert place(gpu_pod(one), on) == "no node has room now"


@pytest.mark.parametrize(
    ("limits", "given"),
    [
        ({SLICES: "3"}, (20_480, 50)),
        ({MEMORY: "8"}, (20_480, 50)),
        ({MEMORY: "6144"}, (6_144, 16)),
        ({CORE: "50"}, (20_480, 50)),
        ({CORE: "17"}, (6_144, 16)),
        ({MEMORY: "2", CORE: "51"}, (40_960, 100)),
    ],
    ids=str,
)
def test_a_share_of_a_gcu_is_the_smallest_shape_that_suffices(
    limits: dict[str, str], given: tuple[int, int]
) -> None:
    """MiB, and percent of the cores; a number of slices is a shape by itself."""
    (replica,) = enflame().replicas
    asked = gpu_pod(limits)
    asked["metadata"] = {"generateName": "some-"}
    (device,) = placing.found(replica.ask(asked)).devices
    assert (device.memory_mib, device.cores) == given


@pytest.mark.parametrize("limits", [{SLICES: "2"}, {MEMORY: "41"}, {SLICES: "7"}], ids=str)
def test_a_share_that_is_no_shape_never_fits(limits: dict[str, str]) -> None:
    """HAMi's scheduler looks for one of exactly so many slices."""
    assert place(gpu_pod(limits), enflame()) == "no node can run it"


def test_a_gcu_is_given_out_to_its_last_slice() -> None:
    """Against a count of slices, for random Pods one after another."""
    sys.stdout.write(f"seed {SEED}\n")
    dice = random.Random(SEED)
    for _ in range(40):
        on, left = enflame(), 6
        for _ in range(6):
            size = dice.choice([1, 1, 3, 6])
            asked = {SLICES: str(size)} if dice.random() < 0.5 else {MEMORY: str(SHAPES[size])}
            assert (place(gpu_pod(asked), on) == "") == (size <= left), (asked, left)
            left -= size if size <= left else 0


def test_what_hami_records_of_a_gcu_is_what_the_card_has_less() -> None:
    """MiB of the shape, and percent, though the node tells slices."""
    on = enflame()
    record = "n1-enflame-drs-0,Enflame,20480,50:;"
    held = gpu_pod({SLICES: "3"})
    held["metadata"] = {"annotations": {"hami.io/enflame-vgpu-devices-allocated": record}}
    on.show(held, "held", "n1")
    assert on.replicas[0].left("n1") == 20_480
    assert place(gpu_pod({SLICES: "6"}), on) == "no node has room now"
    assert place(gpu_pod({SLICES: "3"}), on) == ""
    assert place(gpu_pod({SLICES: "1"}), on) == "no node has room now"


@pytest.mark.parametrize("units", [96, 100, 304])
def test_an_amd_card_is_asked_for_in_percent_of_its_own_units(units: int) -> None:
    """It registers its compute units, and HAMi records so many of them; Pods name percent."""
    card = {"id": "A", "count": 4, "devmem": 65_536, "devcore": units, "type": "AMD"}
    register = {"hami.io/node-amd-register": json.dumps([card | {"health": True}])}
    part = {"amd.com/gpu": "1", "amd.com/gpumem": "1000", "amd.com/gpucores": "50"}
    whole = {"amd.com/gpu": "1", "amd.com/gpumem": "1000"}
    on = cluster({"amd.com/gpu": "1"}, register)
    assert [place(gpu_pod(part), on) for _ in range(3)] == ["", "", "no node has room now"]
    on = cluster({"amd.com/gpu": "1"}, register)
    assert [place(gpu_pod(whole), on) for _ in range(2)] == ["", "no node has room now"]
    on = cluster({"amd.com/gpu": "1"}, register)
    held = gpu_pod(part)
    held["metadata"] = {"annotations": {"hami.io/amd-devices-allocated": f"A,AMD,1,{units // 2}:;"}}
    on.show(held, "held", "n1")
    assert [place(gpu_pod(part), on) for _ in range(2)] == ["", "no node has room now"]
