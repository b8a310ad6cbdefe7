"""`berth snapshot` and `berth record` on a real API server with a few nodes."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from berth import names
from berth.cli import explain, record, simulate, snapshot
from berth.errors import UsageError
from berth.model import decided, picture, recording
from berth.model.charge import Charge, Claim, Source
from berth.model.decided import Decided
from berth.model.recording import Arrived, Begin, Bound, End, Left, Shown
from tests import webhook
from tests.cluster import kubeconfig
from tests.cluster.controlplane import ControlPlane
from tests.e2e import small_fleet
from tests.e2e.api import Api

SECONDS = 30
ONE, TWO = "fleet-one-a7", "fleet-two-a7"
OWN = ("GPU-1", "GPU-3")


@pytest.fixture(scope="module")
def fleet(api: Api) -> Iterator[None]:
    """Give two nodes: two large cards, and one small."""
    one = small_fleet.node(ONE, ("GPU-1", "A100", 40_960), ("GPU-2", "A100", 40_960))
    two = small_fleet.node(TWO, ("GPU-3", "T4", 15_360))
    with small_fleet.of(api, one, two):
        yield


def run(command: click.Command, *words: str) -> Result:
    """Run a command as a person would."""
    return CliRunner().invoke(command, list(words), catch_exceptions=False)


def failure(command: click.Command, *words: str) -> str:
    """Run a command that a person has called in vain, and return why."""
    with pytest.raises(UsageError) as caught:
        run(command, *words)
    return str(caught.value)


def known(plane: ControlPlane) -> tuple[str, str]:
    """Return the words that name the cluster."""
    return "--kubeconfig", str(plane.kubeconfig)


def ours(found: picture.Picture, namespace: str) -> dict[str, Charge]:
    """Return the Pods of a namespace in a snapshot, by name."""
    return {one.name: one for one in found.pods if one.namespace == namespace}


@pytest.mark.usefixtures("fleet")
def test_a_snapshot_says_what_each_node_has_and_who_holds_it(
    control_plane: ControlPlane, api: Api, namespace: str, tmp_path: Path
) -> None:
    """To a file or to stdout; a Pod that is not bound is not in it."""
    api.stored(small_fleet.share("held", ONE, 4_000, "GPU-2"), namespace)
    api.stored(small_fleet.share("waits", "", 4_000), namespace)
    file = tmp_path / "fleet.json"
    assert run(snapshot.command, str(file), *known(control_plane)).exit_code == 0
    found = picture.read(file.read_bytes())
    nodes = {node.name: node for node in found.nodes}
    assert [card.model for card in nodes[ONE].devices] == ["A100", "A100"]
    assert nodes[TWO].devices[0].memory_mib == 15_360
    assert list(ours(found, namespace)) == ["held"]
    held = ours(found, namespace)["held"]
    assert (held.node, held.cpu_milli, held.source) == (ONE, 500, Source.RECORDED)
    free = found.snapshot()
    assert list(free.mem_left[free.row[ONE], :2]) == [40_960, 36_960]
    said = run(snapshot.command, *known(control_plane)).stdout
    assert ours(picture.read(said.encode()), namespace) == ours(found, namespace)


@pytest.mark.usefixtures("fleet")
def test_a_ledger_that_agrees_and_one_that_does_not(
    control_plane: ControlPlane, api: Api, namespace: str, tmp_path: Path
) -> None:
    """Exit code 0 and 1; the first differences are named."""
    api.stored(small_fleet.share("held", TWO, 4_000, "GPU-3"), namespace)
    done = run(snapshot.command, "--verify", "--for", "0.2s", *known(control_plane))
    assert (done.exit_code, "the ledger agrees" in done.stdout) == (0, True), done.stdout
    file = tmp_path / "fleet.json"
    run(snapshot.command, str(file), *known(control_plane))
    words = ("--verify", "--ledger", str(file), *known(control_plane))
    assert run(snapshot.command, *words).exit_code == 0
    wrong = json.loads(file.read_text())
    for one in wrong["pods"]:
        if one["namespace"] == namespace:
            one["claims"][0]["memoryMib"] = 5_000
    file.write_text(json.dumps(wrong))
    done = run(snapshot.command, *words)
    assert done.exit_code == 1
    assert f"{TWO}: mem_left[0] is 10360 and 11360" in done.stdout


def test_a_cluster_that_does_not_answer_is_a_sentence(tmp_path: Path) -> None:
    """It is not asked again and again."""
    file = tmp_path / "kubeconfig"
    file.write_text(kubeconfig.text({"server": "https://127.0.0.1:1"}))
    said = failure(snapshot.command, "--kubeconfig", str(file))
    assert said.startswith("the cluster could not be read: no answer from the API server: ")


@pytest.mark.usefixtures("fleet")
def test_a_recording_tells_who_came_and_left_but_not_their_names(
    control_plane: ControlPlane, api: Api, namespace: str, tmp_path: Path
) -> None:
    """Ended by a signal, it is whole, and the simulator replays it.

    What Berth has led to a node arrives as its author wrote it, so another policy may place it.
    """
    api.stored(small_fleet.share("before", ONE, 4_000, "GPU-1"), namespace)
    file = tmp_path / "cluster.jsonl"
    with recorder(file, control_plane) as process:
        until(lambda: any(isinstance(line, Bound) for line in lines(file)))
        api.stored(pinned(small_fleet.share("later", "", 2_000), TWO, "GPU-3"), namespace)
        until(lambda: sum(isinstance(line, Arrived) for line in lines(file)) > before(file))
        bind(api, namespace, "later", TWO)
        until(lambda: any(isinstance(line, Bound) and line.at > 0 for line in lines(file)))
        path = f"/api/v1/namespaces/{namespace}/pods/later?gracePeriodSeconds=0"
        assert api.ask("DELETE", path)[0] == 200
        until(lambda: any(isinstance(line, Left) for line in lines(file)))
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
    found = lines(file)
    assert isinstance(found[0], Begin)
    assert isinstance(found[-1], End)
    (left,) = [line for line in found if isinstance(line, Left)]
    (came,) = [line for line in found if isinstance(line, Arrived) and line.pod == left.pod]
    (bound,) = [line for line in found if isinstance(line, Bound) and line.pod == left.pod]
    assert 0 < came.at <= bound.at <= left.at
    ((_, request),) = came.request.devices
    assert came.request.eligibility.any_of == ()
    assert len(request.uuids) == len(OWN)
    assert (came.request.cpu_milli, request.memory_mib, request.count) == (500, 2_000, 1)
    shown = {line.node.name: line.node for line in found if isinstance(line, Shown)}
    assert [card.model for card in shown[bound.node].devices] == ["T4"]
    text = file.read_text()
    for secret in (ONE, TWO, namespace, "before", "later", "GPU-1", "berth.dev/test", "main"):
        assert secret not in text
    done = run(simulate.command, "--recording", str(file), "-o", "json")
    (result,) = json.loads(done.stdout)
    assert (result["failed_pods"], result["departures"]) == (0, True)
    assert result["gpu_allocation_percent"] > 0


def test_a_pod_that_was_translated_is_recorded_with_its_cards(
    control_plane: ControlPlane, api: Api, namespace: str, tmp_path: Path
) -> None:
    """In the words of whichever stack it stands, as the settings know them."""
    words = {"volcano.sh/vgpu-number": "1", "volcano.sh/vgpu-memory": "1234"}
    api.stored(small_fleet.pod("translated", "", **words), namespace)
    settings, file = tmp_path / "settings.yaml", tmp_path / "cluster.jsonl"
    settings.write_text("conversions: [{name: volcano, writes: volcano}]")
    run(
        record.command, str(file), "--for", "0.1s", "--config", str(settings), *known(control_plane)
    )
    came = [line.request for line in lines(file) if isinstance(line, Arrived)]
    asked = [request for one in came for _, request in one.devices]
    assert [one.count for one in asked if one.memory_mib == 1234] == [1]


def test_a_recording_may_end_after_a_time(control_plane: ControlPlane, tmp_path: Path) -> None:
    """So that nobody has to stop it."""
    file = tmp_path / "cluster.jsonl"
    assert run(record.command, str(file), "--for", "0.1s", *known(control_plane)).exit_code == 0
    assert 0.1 <= lines(file)[-1].at < SECONDS


@pytest.mark.usefixtures("fleet")
def test_a_pod_of_the_cluster_is_explained_with_where_it_is_and_could_be(
    control_plane: ControlPlane, api: Api, namespace: str
) -> None:
    """By its name; what it holds itself counts as free."""
    api.stored(small_fleet.share("whole", ONE, 40_960, "GPU-1"), namespace)
    api.stored(small_fleet.share("part", ONE, 30_000, "GPU-2"), namespace)
    api.stored(small_fleet.share("large", "", 40_000), namespace)
    words = ("--cluster", *known(control_plane))
    (row,) = json.loads(run(explain.command, f"{namespace}/whole", *words, "-o", "json").stdout)
    place = row["placement"]
    assert (place["now"]["node"], place["now"]["source"]) == (ONE, "recorded")
    assert [one["uuid"] for one in place["now"]["devices"]] == ["GPU-1"]
    here = [one for one in place["candidates"] if one["node"] == ONE]
    assert [one["uuid"] for one in here[0]["devices"]] == ["GPU-1"]
    assert TWO not in [one["node"] for one in place["candidates"]]
    said = run(explain.command, "large", "-n", namespace, *words).stdout
    assert f"cluster: Pod/{namespace}/large" in said
    assert "stands in the cluster: Pending" in said
    assert "40000 MiB of one card wanted" in said
    assert "scarcity has seen" in said
    assert 'pods "none" not found' in failure(explain.command, f"{namespace}/none", *words)


@pytest.mark.usefixtures("fleet")
def test_a_pod_that_was_pinned_is_explained_as_its_author_wrote_it(
    control_plane: ControlPlane, api: Api, namespace: str
) -> None:
    """Neither the node nor the card that Berth chose is a wish of his; those that he named are."""
    api.stored(pinned(small_fleet.share("led", "", 2_000), TWO, "GPU-3"), namespace)
    words = (f"{namespace}/led", "--cluster", *known(control_plane), "-o", "json")
    (row,) = json.loads(run(explain.command, *words).stdout)
    assert row["demand"][0]["share"]["wishes"]["uuids"] == [*OWN]
    place = row["placement"]
    assert {one["node"] for one in place["candidates"]} == {ONE, TWO}
    used = {device["uuid"] for one in place["candidates"] for device in one["devices"]}
    assert used == {*OWN}


@pytest.mark.usefixtures("fleet")
def test_a_manifest_is_explained_by_the_cluster_as_by_its_snapshot(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    """The same nodes fit, with the same cards."""
    manifest, file = tmp_path / "pod.yaml", tmp_path / "fleet.json"
    manifest.write_text(json.dumps(small_fleet.pod("new", **{"nvidia.com/gpu": "2"})))
    run(snapshot.command, str(file), *known(control_plane))
    live = ("--cluster", *known(control_plane))
    rows = [
        json.loads(run(explain.command, "-f", str(manifest), *words, "-o", "json").stdout)[0]
        for words in (live, ("--snapshot", str(file)))
    ]
    first, second = (row["placement"] for row in rows)
    assert first["candidates"] == second["candidates"]
    assert first["without"] == second["without"]
    assert [one["node"] for one in first["candidates"]] == [ONE]
    assert (
        "placement"
        not in json.loads(run(explain.command, "-f", str(manifest), "-o", "json").stdout)[0]
    )


@pytest.mark.usefixtures("fleet")
def test_the_ledger_of_a_running_webhook_is_verified_and_asked(
    control_plane: ControlPlane,
    api: Api,
    namespace: str,
    registered: webhook.Webhook,
    tmp_path: Path,
) -> None:
    """On its operator's port it shows what it knows: all that the API server has."""
    api.stored(small_fleet.pod("held", TWO), namespace)
    url = f"http://127.0.0.1:{registered.metrics}/debug/fleet"
    done = run(snapshot.command, "--verify", "--ledger", url, *known(control_plane))
    assert (done.exit_code, "the ledger agrees" in done.stdout) == (0, True), done.stdout
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(json.dumps(small_fleet.pod("new", **{"nvidia.com/gpu": "2"})))
    words = ("-f", str(manifest), "--snapshot", url, "-o", "json")
    (row,) = json.loads(run(explain.command, *words).stdout)
    assert [one["node"] for one in row["placement"]["candidates"]] == [ONE]


@contextmanager
def recorder(file: Path, plane: ControlPlane) -> Iterator["subprocess.Popen[bytes]"]:
    """Run `berth record` for the length of a `with`."""
    words = [sys.executable, "-m", "berth", "record", str(file), *known(plane)]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def pinned(pod: dict[str, Any], node: str, uuid: str) -> dict[str, Any]:
    """Return a Pod as Berth writes it under `pin`, whose author would have any card of `OWN`."""
    told = decided.write(
        Decided(
            id="0123456789abcdef",
            policy="scarcity",
            node=node,
            delivery="pin",
            devices=(Claim(container="main", uuid=uuid),),
            named={"main": OWN},
        )
    )
    pod["metadata"].setdefault("annotations", {}).update(
        {names.DECISION: told, names.INJECTED: "true", "nvidia.com/use-gpuuuid": uuid}
    )
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    pod["spec"]["affinity"] = {"nodeAffinity": {names.REQUIRED_AFFINITY: terms}}
    return pod


def lines(file: Path) -> list[recording.Entry]:
    """Return what is recorded so far."""
    return list(recording.read(file.read_bytes())) if file.exists() else []


def before(file: Path) -> int:
    """Count the Pods that were there when it began."""
    return sum(isinstance(line, Arrived) and line.at == 0 for line in lines(file))


def until(true: Callable[[], bool]) -> None:
    """Wait until it is so."""
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def bind(api: Api, namespace: str, name: str, to: str) -> None:
    """Bind a Pod as a scheduler does."""
    target = {"apiVersion": "v1", "kind": "Node", "name": to}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/binding"
    status, answer = api.ask("POST", path, body)
    assert status == 201, answer
