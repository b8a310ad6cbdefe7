"""From a real manifest, through HAMi's dialect, to a place on a card."""

from pathlib import Path
from typing import Any

import pytest

from berth.admission import project
from berth.dialects.reading import read
from berth.model.asked import pod_request
from berth.model.placement import Placement
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import decide
from berth.placement.policies import POLICIES
from tests.hami.deciding import rules
from tests.placement.clusters import T4, node
from tests.pods import container, pod

OF_NODE = PodRequest(cpu_milli=2_000, memory_mib=4_096)


def asked(
    folder: Path,
    limits: dict[str, Any],
    init: dict[str, Any] | None = None,
    notes: dict[str, str] | None = None,
    **nvidia: int,
) -> PodRequest:
    """Return the request of a Pod with one container, and an init container if that is given.

    `nvidia` are keys of the device-config.
    """
    before = [container("init", init)] if init else []
    wants = {"annotations": notes or {}}
    made = pod(container("main", limits), metadata=wants, initContainers=before)
    reading = read(project.pod(made), rules(folder, **nvidia).options, skip_privileged=False)
    return pod_request(reading.demand, OF_NODE)


@pytest.mark.parametrize(
    ("limits", "request_"),
    [
        (
            {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "10240", "nvidia.com/gpucores": "30"},
            DeviceRequest(vendor="nvidia", memory_mib=10_240, cores=30),
        ),
        (
            {"nvidia.com/gpu": "2", "nvidia.com/gpumem-percentage": "50"},
            DeviceRequest(vendor="nvidia", count=2, memory_percent=50),
        ),
    ],
)
def test_numbers(tmp_path: Path, limits: dict[str, Any], request_: DeviceRequest) -> None:
    """Cards, memory of each, cores of each; the Pod's CPU and memory stand beside them."""
    request = asked(tmp_path, limits)
    (named,) = request.devices
    assert named[0] == "main"
    assert (named[1].count, named[1].memory_mib) == (request_.count, request_.memory_mib)
    assert (named[1].memory_percent, named[1].cores) == (request_.memory_percent, request_.cores)
    assert named[1].vendor.lower() == "nvidia"
    assert (request.cpu_milli, request.init_devices) == (2_000, ())


@pytest.mark.parametrize(
    ("limits", "memory", "percent", "cores"),
    [
        ({}, 512, None, 30),
        ({"nvidia.com/gpumem": "0", "nvidia.com/gpumem-percentage": "0"}, 512, None, 30),
        ({"nvidia.com/gpumem": "1000"}, 1000, None, 30),
        ({"nvidia.com/gpumem-percentage": "100"}, None, 100, 30),
        ({"nvidia.com/gpucores": "0"}, 512, None, 0),
        ({"nvidia.com/gpucores": "70"}, 512, None, 70),
    ],
)
def test_what_the_administrator_set_as_default_is_looked_for(
    limits: dict[str, Any], memory: int | None, percent: int | None, cores: int, tmp_path: Path
) -> None:
    """HAMi's scheduler takes `defaultMemory` and `defaultCores` where a card is asked for alone.

    A whole card in their place would find no room on cards that have it; no cores, on cards that
    have none left.
    """
    limits = {"nvidia.com/gpu": "1", **limits}
    ((_, found),) = asked(tmp_path, limits, defaultMemory=512, defaultCores=30).devices
    assert (found.memory_mib, found.memory_percent, found.cores) == (memory, percent, cores)


def test_a_manifest_finds_its_card(tmp_path: Path) -> None:
    """The model that an annotation wants, under the name of the vendor's own file."""
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4096"}
    request = asked(tmp_path, limits, init=limits, notes={"nvidia.com/use-gputype": "T4"})
    assert request.init_devices[0][0] == "init"
    snapshot = Snapshot([node("a", 2), node("t", 2, T4)])
    decision = decide(request, snapshot, POLICIES["scarcity"])
    assert isinstance(decision, Placement)
    assert decision.allocation.node == "t"
    assert [hold.memory_mib for hold in decision.allocation.holds] == [4_096]


def test_the_words_of_the_annotations_reach_the_request(tmp_path: Path) -> None:
    """HAMi's device policy, a comma list, and its weights; NUMA binding is nvidia's own."""
    limits = {"nvidia.com/gpu": "2", "nvidia.com/gpumem": "4096"}
    words = "binpack, numa,mutex,topology-aware"
    request = asked(
        tmp_path,
        limits,
        notes={
            "hami.io/gpu-scheduler-policy": words,
            "hami.io/device-scoring-weights": "slot=1,core=2,memory=3",
            "nvidia.com/numa-bind": "true",
        },
    )
    ((_, device),) = request.devices
    assert device.order == ("binpack", "numa")
    assert device.weights == (1, 2, 3)
    assert (device.idle, device.linked, device.same_numa) == (True, True, True)
    ((_, plain),) = asked(tmp_path, limits).devices
    assert (plain.order, plain.weights, plain.idle, plain.linked) == ((), (1, 1, 1), False, False)


def test_sidecars_are_named_beside_the_init_containers_after_them(tmp_path: Path) -> None:
    """In the order of the Pod: an init container before a sidecar runs without it."""
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4096"}
    side = container("side", limits) | {"restartPolicy": "Always"}
    made = pod(
        container("main", limits),
        initContainers=[container("first", limits), side, container("second", limits)],
    )
    reading = read(project.pod(made), rules(tmp_path).options, skip_privileged=False)
    request = pod_request(reading.demand, OF_NODE)
    assert [name for name, _ in request.init_devices] == ["first", "second"]
    assert [name for name, _ in request.devices] == ["side", "main"]
    assert request.sidecars == (("second", ("side",)),)
