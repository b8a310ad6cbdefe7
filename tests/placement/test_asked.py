"""From a real manifest, through HAMi's dialect, to a place on a card."""

from pathlib import Path
from typing import Any

import pytest

from berth.admission import project
from berth.dialects import hami
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
    folder: Path, limits: dict[str, Any], init: dict[str, Any] | None = None, **notes: str
) -> PodRequest:
    """Return the request of a Pod with one container, and an init container if that is given."""
    before = [container("init", init)] if init else []
    wants = {"annotations": {f"nvidia.com/{key}": notes[key] for key in notes}}
    made = pod(container("main", limits), metadata=wants, initContainers=before)
    reading = hami.read(project.pod(made), rules(folder).options, skip_privileged=False)
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


def test_a_manifest_finds_its_card(tmp_path: Path) -> None:
    """The model that an annotation wants, under the name of the vendor's own file."""
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4096"}
    request = asked(tmp_path, limits, init=limits, **{"use-gputype": "T4"})
    assert request.init_devices[0][0] == "init"
    snapshot = Snapshot([node("a", 2), node("t", 2, T4)])
    decision = decide(request, snapshot, POLICIES["scarcity"])
    assert isinstance(decision, Placement)
    assert decision.allocation.node == "t"
    assert [hold.memory_mib for hold in decision.allocation.holds] == [4_096]
