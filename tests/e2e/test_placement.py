"""Where Pods go: the real API server, the real scheduler, 200 made-up nodes with cards."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import controlplane
from tests.cluster.controlplane import ControlPlane
from tests.cluster.namespaces import own
from tests.e2e import gpu_nodes
from tests.e2e.api import Api, Object
from tests.e2e.conftest import Register
from tests.e2e.test_quota import eventually
from tests.pods import gpu_pod
from tests.webhook import Webhook

GPU, GPU_MEMORY = "nvidia.com/gpu", "nvidia.com/gpumem"
DELIVERIES = ("off", "prefer", "require", "pin")
POLICIES = (
    "scarcity",
    "fragmentation",
    "binpack",
    "spread",
    "mutex",
    "topology",
    "least-utilised",
)
NODES = 200
Spaces = dict[str, str]


@pytest.fixture(scope="module")
def nodes(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give nodes with cards, and who schedules to them."""
    folder = tmp_path_factory.mktemp("scheduler")
    with (
        gpu_nodes.made(control_plane, NODES),
        controlplane.scheduling(control_plane, folder, gpu_nodes.PROFILE),
    ):
        yield


@pytest.fixture(scope="module")
def spaces(control_plane: ControlPlane) -> Iterator[Spaces]:
    """Give a namespace for each way of delivery."""
    with ExitStack() as stack:
        yield {one: stack.enter_context(own(control_plane)) for one in DELIVERIES}


@pytest.fixture(scope="module")
def placing(
    nodes: None,  # noqa: ARG001  what it places on
    register: Register,
    spaces: Spaces,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Webhook]:
    """Give a webhook that knows the fleet."""
    file = settings(tmp_path_factory.mktemp("settings"), spaces)
    with register("--config", str(file)) as running:
        eventually(lambda: "nodes" not in running.ask(path="/readyz", method="GET").body.decode())
        yield running


def settings(folder: Path, spaces: Spaces) -> Path:
    """Write settings by which each namespace has its way of delivery."""
    special = [{"namespaces": [spaces[one]], "delivery": one} for one in DELIVERIES]
    file = folder / "settings.yaml"
    file.write_text(yaml.safe_dump({"placement": {"special": special}}))
    return file


def asking(policy: str = "", memory: int = 10_000, **spec: Any) -> Object:
    """Return a Pod that shares a card."""
    pod = gpu_pod({GPU: "1", GPU_MEMORY: str(memory), "cpu": "1"}, **spec)
    pod["metadata"] = {"generateName": "gpu-"}
    if policy:
        pod["metadata"]["annotations"] = {"hami.io/scheduling-policy": policy}
    return pod


def decided(pod: Object) -> dict[str, Any]:
    """Return the decision that stands in a Pod."""
    found: dict[str, Any] = json.loads(pod["metadata"]["annotations"]["berth.dev/decision"])
    return found


def bound(api: Api, namespace: str, count: int, seconds: float = 30) -> list[Object]:
    """Wait until so many Pods of a namespace are bound, and return them."""
    path, found = f"/api/v1/namespaces/{namespace}/pods", list[Object]()

    def all_there() -> bool:
        found[:] = api.ask("GET", path)[1]["items"]
        return sum("nodeName" in pod["spec"] for pod in found) >= count

    eventually(all_there, seconds)
    return found


def hosts(pod: Object) -> set[str]:
    """Return the hosts that the affinity of a Pod names."""
    node = pod["spec"]["affinity"]["nodeAffinity"]
    required = node.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    terms = [
        *required.get("nodeSelectorTerms", ()),
        *(
            entry["preference"]
            for entry in node.get("preferredDuringSchedulingIgnoredDuringExecution", ())
        ),
    ]
    return {value for term in terms for one in term["matchExpressions"] for value in one["values"]}


@pytest.mark.usefixtures("placing")
def test_pods_land_where_it_was_decided_under_every_policy(api: Api, spaces: Spaces) -> None:
    """Require: among the nodes named. Prefer: likewise, as nothing speaks against. Pin: there."""
    for delivery in DELIVERIES:
        for policy in POLICIES:
            status, made = api.create(asking(policy), spaces[delivery])
            assert status == 201, made
    for delivery in DELIVERIES:
        for pod in bound(api, spaces[delivery], len(POLICIES)):
            annotations = pod["metadata"]["annotations"]
            if delivery == "off":
                assert "berth.dev/decision" not in annotations
                continue
            found = decided(pod)
            assert found["policy"] == annotations["hami.io/scheduling-policy"]
            assert found["candidates"] == NODES
            assert annotations["hami.io/injected"] == "true"
            if delivery == "pin":
                assert pod["spec"]["nodeName"] == found["node"]
                (device,) = found["devices"]
                assert annotations["nvidia.com/use-gpuuuid"] == device["uuid"]
                env = pod["spec"]["containers"][0]["env"]
                assert env == [{"name": "HAMI_VGPU_UUID", "value": device["uuid"]}]
            else:
                assert f"host-{pod['spec']['nodeName']}" in hosts(pod)
