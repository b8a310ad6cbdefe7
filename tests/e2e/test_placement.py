"""Where Pods go: the real API server, the real scheduler, 200 made-up nodes with cards."""

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
import yaml

from berth.cluster import projections
from berth.cluster.fleet import Fleet
from berth.model import picture
from berth.model.charge import Charge, Source
from berth.model.picture import Picture
from berth.vendors import VENDORS
from tests import webhook
from tests.cluster import controlplane
from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.namespaces import own
from tests.e2e import gpu_nodes
from tests.e2e.api import Api, Object
from tests.e2e.conftest import Register
from tests.e2e.recorded import SCHEDULER, annotated, as_user
from tests.e2e.relay import relay
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
CLIENTS = 20
THIRD = 13_000
"""MiB, of which three fit on a card."""
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
        yield {
            one: stack.enter_context(own(control_plane)) for one in (*DELIVERIES, "burst", "twice")
        }


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
        eventually(partial(ready, running))
        yield running


def settings(folder: Path, spaces: Spaces) -> Path:
    """Write settings by which each namespace has its way of delivery."""
    special = [{"namespaces": [spaces[one]], "delivery": one} for one in DELIVERIES]
    special.append({"namespaces": [spaces["burst"], spaces["twice"]], "delivery": "pin"})
    file = folder / "settings.yaml"
    file.write_text(yaml.safe_dump({"placement": {"special": special}}))
    return file


def ready(replica: Webhook) -> bool:
    """Say whether a replica knows the whole cluster."""
    return replica.ask(path="/readyz", method="GET").body.decode() == "ok"


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


@contextmanager
def replicas(plane: ControlPlane, folder: Path, config: Path) -> Iterator[list[Webhook]]:
    """Run two replicas behind one address, each new connection to the next one."""
    known = ("--kubeconfig", str(plane.kubeconfig))
    flags = (*known, "--config", str(config), "--set", "placement.enforce=always")
    turns, both = itertools.count(), list[Webhook]()
    folders = [folder / "first", folder / "second"]
    for one in folders:
        one.mkdir()
    with ExitStack() as stack:
        first = stack.enter_context(webhook.running(folders[0], *flags))
        both.append(first)
        port = stack.enter_context(relay(lambda: both[next(turns) % len(both)].port))
        shared = (
            *(
                "--cert-file",
                str(folders[0] / "tls.crt"),
                "--key-file",
                str(folders[0] / "tls.key"),
            ),
            *("--set", f"server.caFile={first.ca_file}", "--url", f"https://127.0.0.1:{port}"),
        )
        second = webhook.running(folders[1], *flags, *shared, "--register")
        both.append(stack.enter_context(second))
        both[1].folder = folders[0]  # whose certificate it shows
        try:
            for replica in both:
                eventually(partial(ready, replica))
            yield both
        finally:
            command = [sys.executable, "-m", "berth", "unregister", *known]
            subprocess.run(command, check=True, capture_output=True)


# Before the others, as it runs webhooks of its own.
@pytest.mark.usefixtures("nodes")
def test_what_two_replicas_promise_twice_is_counted(
    api: Api, control_plane: ControlPlane, spaces: Spaces, tmp_path: Path
) -> None:
    """Each learns of the other's Pods by the watch: for milliseconds both see the same card free.

    Both know afterwards how often that was.
    """
    space = spaces["twice"]
    with replicas(control_plane, tmp_path, settings(tmp_path, spaces)) as both:
        eventually(
            lambda: "annotations" in api.create(asking(), space, dry_run=True)[1]["metadata"]
        )
        burst(control_plane, space, 200)
        pods = bound(api, space, 200, 60)
        held = gpu_nodes.held(pods)
        assert sum(held.values()) == 200 * THIRD
        twice = sum(max(0, sum_ // THIRD - gpu_nodes.MEMORY // THIRD) for sum_ in held.values())
        asked = [len(one.logged("admission.reviewed")) for one in both]
        told = [one.figure("berth_reservations_overlapping") for one in both]
        click.echo(f"{twice} of 200 Pods promised twice; calls {asked}")  # shown with pytest's -rP
        assert min(asked) > 0
        assert told == [twice, twice]
    api.ask("DELETE", f"/api/v1/namespaces/{space}/pods?gracePeriodSeconds=0")


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


@pytest.mark.usefixtures("placing")
def test_a_decision_is_believed_of_the_pod_that_it_was_made_for(
    api: Api, control_plane: ControlPlane, spaces: Spaces
) -> None:
    """A new Pod may bring one along, as copies do, and loses it; nobody changes it later.

    The same may be applied again, and HAMi's scheduler may write what it likes.
    """
    forged = {"id": "0" * 16, "node": "nowhere", "devices": [{"container": "x", "uuid": "GPU-x"}]}
    brought = {"berth.dev/decision": json.dumps(forged)}
    for delivery in ("off", "require"):
        copy = asking() | {"metadata": {"name": "copy", "annotations": brought}}
        status, made = api.create(copy, spaces[delivery])
        assert status == 201, made
        written = made["metadata"]["annotations"].get("berth.dev/decision", "")
        assert "nowhere" not in written
        assert bool(written) == (delivery == "require")
    kubectl = Kubectl(plane=control_plane, namespace=spaces["require"])
    applied = asking() | {"metadata": {"name": "applied"}}
    del applied["spec"]["schedulerName"]  # which becomes another, and is not to be changed back
    for _ in range(2):
        kubectl("apply", "-f", "-", input=json.dumps(applied))
    path = f"/api/v1/namespaces/{spaces['require']}/pods/copy"
    for change in (brought, {"berth.dev/decision": None}):
        for where in (path, f"{path}/status"):
            status, answer = annotated(api, where, change)
            assert status == 403, answer
            assert "what Berth decided" in answer["message"]
    assert as_user(api, SCHEDULER, path, brought)[0] == 200


def burst(plane: ControlPlane, namespace: str, count: int) -> None:
    """Create Pods by 20 clients at once, a third of a card each."""

    def client(_number: int) -> None:
        api = Api(plane)
        for _ in range(count // CLIENTS):
            status, made = api.create(asking("binpack", THIRD), namespace)
            assert status == 201, made
        api.connection.close()

    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(client, range(CLIENTS)))


def known(replica: Webhook) -> Picture:
    """Return the fleet as a replica knows it."""
    return picture.read(replica.operator("/debug/fleet").body)


def told(fleet: Picture) -> list[Charge]:
    """Return what Pods hold, without what is guessed of those that say nothing."""
    return [
        msgspec.structs.replace(one, claims=()) if one.source is Source.GUESSED else one
        for one in fleet.pods
    ]


def recounted(api: Api) -> Picture:
    """Count the fleet anew from what the API server lists."""
    nodes = api.ask("GET", "/api/v1/nodes")[1]["items"]
    pods = api.ask("GET", "/api/v1/pods")[1]["items"]
    read = [msgspec.convert(one, projections.Pod) for one in pods]
    return Fleet.counted(
        VENDORS, [msgspec.convert(one, projections.Node) for one in nodes], read
    ).picture()


def test_a_burst_overcommits_no_card_and_the_ledger_equals_a_recount(
    api: Api, control_plane: ControlPlane, placing: Webhook, spaces: Spaces
) -> None:
    """500 Pods by 20 clients at once, each pinned to the card that is fullest and suffices."""
    burst(control_plane, spaces["burst"], 500)
    pods = bound(api, spaces["burst"], 500, 60)
    assert all(pod["spec"]["nodeName"] == decided(pod)["node"] for pod in pods)
    held = gpu_nodes.held(pods)
    assert sum(held.values()) == 500 * THIRD
    assert max(held.values()) <= gpu_nodes.MEMORY
    assert len(held) < 200, "of 800: each is full before the next one is begun"

    def alike() -> bool:
        ours, anew = known(placing), recounted(api)
        assert not ours.problems
        return not ours.reserved and (ours.nodes, told(ours)) == (anew.nodes, told(anew))

    eventually(alike)
    assert placing.figure("berth_reservations_overlapping") == 0
