"""Translations on the real API server by the cards of made-up nodes that come and go."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from berth import names
from tests import pods
from tests.cluster.controlplane import ControlPlane
from tests.cluster.namespaces import own
from tests.e2e import conftest, gpu_nodes, guarded
from tests.e2e.api import Api
from tests.e2e.conftest import Register

GPU, PERCENT = "nvidia.com/gpu", "nvidia.com/gpumem-percentage"
NUMBER, VMEMORY, POOL = "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory", "hami.io/vgpu-memory"
SMALL, LARGE = "cards-small-c4", "cards-large-c4"
MODELS = {SMALL: ("Tesla-T4", 15_360), LARGE: ("NVIDIA H100-80GB", 81_559)}
SETTINGS = {
    "conversions": [{"name": one, "writes": one} for one in ("volcano", "pool")],
    "stacks": {"pool": {"visibleDevices": True}},
    "placement": {"delivery": "pin"},
}
PATH = "/api/v1/nodes"

Pod = dict[str, Any]


@dataclass(frozen=True)
class Converting:
    """A webhook that translates and places, a namespace for Volcano and one for the pool."""

    api: Api
    file: Path
    volcano: str
    pool: str

    def ask(self, pod: Pod, space: str) -> tuple[int, Pod]:
        """Create a Pod without storing it."""
        return self.api.create(pod, space, dry_run=True)

    def limits(self, pod: Pod, space: str) -> Pod:
        """Return the limits that a Pod's container comes to; none where it is refused."""
        status, found = self.ask(pod, space)
        limits: Pod = found["spec"]["containers"][0]["resources"]["limits"] if status == 201 else {}
        return limits

    def eventually(self, pod: Pod, limits: Pod) -> None:
        """Wait until a Pod comes to these limits: the webhook learns of nodes by a watch."""
        guarded.eventually(lambda: self.limits(pod, self.volcano) == limits)


@pytest.fixture(scope="module")
def converting(
    control_plane: ControlPlane,
    api: Api,
    register: Register,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Converting]:
    """Give the webhook in a cluster without cards."""
    file = tmp_path_factory.mktemp("cards") / "settings.yaml"
    file.write_text(json.dumps(SETTINGS))
    with ExitStack() as stack:
        spaces = [stack.enter_context(own(control_plane)) for _ in range(2)]
        for one, space in zip(("volcano", "pool"), spaces, strict=True):
            conftest.label(api, space, {names.CONVERSION: one})
        stack.enter_context(register("--config", str(file)))
        found = Converting(api, file, *spaces)
        found.eventually(asking({GPU: "1"}), {NUMBER: "1"})
        pooled = {"hami.io/vgpu-count": "1"}
        guarded.eventually(lambda: found.limits(asking({GPU: "1"}), found.pool) == pooled)
        yield found


@contextmanager
def node(api: Api, name: str) -> Iterator[None]:
    """Make a node with four cards for the length of a `with`."""
    status, answer = api.ask("POST", PATH, gpu_nodes.node(name, *MODELS[name]))
    assert status == 201, answer
    try:
        yield
    finally:
        api.ask("DELETE", f"{PATH}/{name}")


def asking(limits: Pod, annotations: dict[str, str] | None = None) -> Pod:
    """Return a Pod with these limits."""
    pod = pods.gpu_pod(limits, schedulerName="default-scheduler")
    pod["metadata"] = {"name": "asks", "annotations": annotations or {}}
    return pod


def test_percent_follows_the_fleet(converting: Converting) -> None:
    """No card, one size, two sizes, a model of them, one again: each new Pod by what is there."""
    api, space, half = converting.api, converting.volcano, asking({GPU: "1", PERCENT: "50"})
    status, answer = converting.ask(half, space)
    assert (status, "no such card is known here" in answer["message"]) == (403, True)
    with node(api, SMALL):
        converting.eventually(half, {NUMBER: "1", VMEMORY: "7680"})
        with node(api, LARGE):
            guarded.eventually(lambda: converting.ask(half, space)[0] == 403)
            message = converting.ask(half, space)[1]["message"]
            assert "15360, 81559 MiB" in message
            assert names.GPU_MODEL in message
            named = asking({GPU: "1", PERCENT: "50"}, {names.GPU_MODEL: "H100"})
            assert converting.limits(named, space) == {NUMBER: "1", VMEMORY: "40779"}
        converting.eventually(half, {NUMBER: "1", VMEMORY: "7680"})


def test_the_pool_is_given_a_node_and_its_devices(converting: Converting) -> None:
    """The size stays as it is; node, and devices by both variables, are those of the placement."""
    api, asked = converting.api, asking({POOL: "16Gi"})
    asked["metadata"]["name"] = "pooled"
    with node(api, SMALL), node(api, LARGE):

        def chosen() -> str:
            found = converting.ask(asked, converting.pool)[1]["metadata"].get("annotations", {})
            return str(json.loads(found.get(names.DECISION, "{}")).get("node", ""))

        guarded.eventually(lambda: chosen() == LARGE)
        found = api.stored(asked, converting.pool)
        (device,) = json.loads(found["metadata"]["annotations"][names.DECISION])["devices"]
        assert device["uuid"] in [gpu_nodes.uuid(LARGE, card) for card in range(gpu_nodes.CARDS)]
        (container,) = found["spec"]["containers"]
        assert container["resources"]["limits"] == {POOL: "16Gi"}
        assert container["env"] == [
            {"name": name, "value": device["uuid"]}
            for name in (names.CHOSEN_ENV, names.VISIBLE_DEVICES)
        ]
        (term,) = found["spec"]["affinity"]["nodeAffinity"][names.REQUIRED_AFFINITY][
            names.NODE_TERMS
        ]
        (field,) = term["matchFields"]
        assert field == {"key": "metadata.name", "operator": "In", "values": [LARGE]}
        status, _ = converting.ask(asking({POOL: "80Gi"}), converting.pool)
        assert status == 201
        (warning,) = converting.api.warnings
        assert "81920 MiB, and no such card here has more than 81559" in warning


def test_commands_know_the_cards_of_the_cluster(
    converting: Converting, control_plane: ControlPlane, tmp_path: Path
) -> None:
    """`berth convert --cluster`, and `berth diff` over the cluster itself."""
    half = asking({GPU: "1", PERCENT: "50"})
    file = tmp_path / "pod.json"
    file.write_text(json.dumps({"kind": "Pod", "apiVersion": "v1", **half}))
    config = ("--config", str(converting.file), "--kubeconfig", str(control_plane.kubeconfig))
    template = {"metadata": {"labels": {"app": "a"}}, "spec": half["spec"]}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "a"}}, "template": template}
    path = f"/apis/apps/v1/namespaces/{converting.volcano}/deployments"
    with node(converting.api, SMALL):
        made = converting.api.ask("POST", path, {"metadata": {"name": "serve"}, "spec": spec})
        assert made[0] == 201, made
        done = berth("convert", "-f", str(file), "--to", "volcano", "--cluster", *config)
        (container,) = json.loads(done)["spec"]["containers"]
        assert container["resources"]["limits"] == {NUMBER: "1", VMEMORY: "7680"}
        (row,) = json.loads(berth("diff", "-n", converting.volcano, "-o", "json", *config))
        values = {one.get("value") for one in row["after"]["patch"] if "vgpu" in one["path"]}
        assert values >= {"7680"}


def berth(*words: str) -> str:
    """Return what a command prints."""
    command = [sys.executable, "-m", "berth", *words]
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout
