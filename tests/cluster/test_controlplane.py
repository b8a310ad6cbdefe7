import json
import os
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest

from tests.cluster import build, cache, controlplane, processes
from tests.cluster.controlplane import ControlPlane
from tests.cluster.errors import ClusterError
from tests.cluster.kubectl import Kubectl

DEADLINE_SECONDS = 30


def gpu_pod(**spec: object) -> str:
    """Return the manifest of a Pod called train that wants one GPU."""
    container = {
        "name": "main",
        "image": "example.invalid/train",
        "resources": {"limits": {"nvidia.com/gpu": 1}},
    }
    return manifest("Pod", "train", spec={"containers": [container], **spec})


def manifest(kind: str, name: str, **more: object) -> str:
    """Return the manifest of an object of the core group, labelled with its name."""
    metadata = {"name": name, "labels": {"name": name}}
    return json.dumps({"apiVersion": "v1", "kind": kind, "metadata": metadata, **more})


def test_the_control_plane_is_the_version_that_go_mod_asks_for(control_plane: ControlPlane) -> None:
    """What answers is the release that was built, and says so."""
    assert control_plane.version() == build.version() == "v1.35.4"


def test_a_pod_is_stored_with_the_requests_that_its_limits_imply(kubectl: Kubectl) -> None:
    """The API server's own defaulting has run on what it stores."""
    kubectl("create", "-f", "-", input=gpu_pod())
    pod = json.loads(kubectl("get", "pod", "train", "-o", "json").stdout)
    (container,) = pod["spec"]["containers"]
    assert container["resources"]["requests"] == {"nvidia.com/gpu": "1"}


def test_the_scheduler_binds_a_pending_pod_to_a_made_up_node(kubectl: Kubectl) -> None:
    """A node that is only an object, with no kubelet behind it, takes Pods."""
    node = f"node-{uuid.uuid4().hex[:12]}"
    resources = {"cpu": "8", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "10"}
    ready = {"type": "Ready", "status": "True", "reason": "MadeUp", "message": "no kubelet"}
    status = {"capacity": resources, "allocatable": resources, "conditions": [ready]}
    patch = f"--patch={json.dumps({'status': status})}"
    bound = f"--for=jsonpath={{.spec.nodeName}}={node}"
    kubectl("create", "-f", "-", input=manifest("Node", node))
    try:
        kubectl("patch", "node", node, "--subresource=status", "--type=merge", patch)
        kubectl("create", "-f", "-", input=gpu_pod(nodeSelector={"name": node}))
        kubectl("wait", bound, "pod/train", f"--timeout={DEADLINE_SECONDS}s")
    finally:
        kubectl("delete", "node", node, "--wait=false")


def test_of_two_concurrent_builders_one_builds_and_the_other_waits(tmp_path: Path) -> None:
    """Both get the same whole folder, built once."""
    wanted = tmp_path / "programs"
    begun, waiting, go_on = threading.Event(), threading.Event(), threading.Event()
    builds: list[Path] = []

    def make(folder: Path) -> None:
        builds.append(folder)
        begun.set()
        assert go_on.wait(DEADLINE_SECONDS)
        (folder / "etcd").touch()

    def ask_for_it() -> None:
        cache.once(wanted, make, say=lambda _: waiting.set())

    first, second = threading.Thread(target=ask_for_it), threading.Thread(target=ask_for_it)
    first.start()
    assert begun.wait(DEADLINE_SECONDS)
    second.start()
    assert waiting.wait(DEADLINE_SECONDS)
    assert not wanted.exists()
    go_on.set()
    first.join()
    second.join()
    assert len(builds) == 1
    assert (wanted / "etcd").exists()


def test_a_build_that_fails_leaves_nothing_that_passes_for_a_whole_one(tmp_path: Path) -> None:
    """The next one who asks builds again."""
    wanted = tmp_path / "programs"

    def fail(folder: Path) -> None:
        (folder / "etcd").touch()
        raise ClusterError("the disk is full")

    with pytest.raises(ClusterError):
        cache.once(wanted, fail, say=print)
    assert not wanted.exists()
    cache.once(wanted, lambda folder: (folder / "kubectl").touch(), say=print)
    assert [file.name for file in wanted.iterdir()] == ["kubectl"]


def command(word: str, cache_home: Path) -> subprocess.CompletedProcess[str]:
    """Run `scripts/cluster` with a cache of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tests.cluster.cli", word],
        env={**os.environ, "XDG_CACHE_HOME": str(cache_home)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_status_says_that_something_is_under_way(tmp_path: Path) -> None:
    """A build takes minutes, in which a second shell is not told to start what is starting."""
    folder = tmp_path / "berth" / "cluster"
    assert command("status", tmp_path).stdout.startswith("No control plane runs: ")
    with cache.lock(folder, say=print):
        assert command("status", tmp_path).stdout.startswith("A control plane is being built, ")
    folder.mkdir()
    assert "was cut short: start it again" in command("status", tmp_path).stdout


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """Of `scripts/cluster`, as of the tests: what is wrong, and what to set."""
    (tmp_path / "file").touch()
    done = command("up", tmp_path / "file")
    said = f"{tmp_path}/file/berth cannot be written: Not a directory; set XDG_CACHE_HOME to a "
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"Error: {said}")


def test_given_programs_without_an_api_server_are_refused_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the variable, the folder, the program, and the way out."""
    for name in ("etcd", "kubectl"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv(build.GIVEN, str(tmp_path))
    with pytest.raises(ClusterError) as refusal:
        build.programs(say=print)
    assert str(refusal.value) == (
        f"KUBEBUILDER_ASSETS names {tmp_path}, which has no program kube-apiserver: add it there, "
        "or unset KUBEBUILDER_ASSETS to have Kubernetes built from source"
    )


def test_a_server_that_dies_at_its_start_is_quoted_and_takes_the_others_with_it(
    tmp_path: Path, control_plane: ControlPlane
) -> None:
    """Nothing is left running, and the error shows what the dead one said."""
    programs, folder = tmp_path / "programs", tmp_path / "plane"
    programs.mkdir()
    (programs / "etcd").symlink_to(control_plane.programs / "etcd")
    (programs / "kube-apiserver").write_text("#!/bin/sh\necho no room for an API server\nexit 1\n")
    (programs / "kube-apiserver").chmod(0o755)
    with pytest.raises(ClusterError, match=r"^kube-apiserver ended .*\nno room for an API server$"):
        controlplane.start(folder, programs=programs, tied=True)
    started = [each.name for each in processes.recorded(folder)]
    assert started == ["kube-apiserver", "etcd"]
    assert list(controlplane.ended(folder)) == started
    assert controlplane.find(folder) is None


def test_a_second_api_server_serves_the_same_objects_and_ends_alone(
    tmp_path: Path, control_plane: ControlPlane, namespace: str
) -> None:
    """It has flags of its own, and leaves the first one running."""
    with controlplane.another(control_plane, tmp_path, "--goaway-chance=0.001") as second:
        assert second.url != control_plane.url
        assert second.ask("GET", f"/api/v1/namespaces/{namespace}") is not None
        (server,) = processes.recorded(tmp_path)
        assert processes.alive(server)
    assert not processes.alive(server)
    assert second.ask("GET", "/version") is None
    assert control_plane.version() == build.version()
    assert not controlplane.ended(control_plane.folder)
