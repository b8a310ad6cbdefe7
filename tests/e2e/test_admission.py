"""A Pod's way through the real API server and the registered webhook."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests import pods
from tests.cluster.controlplane import ControlPlane
from tests.cluster.namespaces import own
from tests.e2e import conftest
from tests.e2e.api import Api
from tests.e2e.conftest import Register
from tests.webhook import Webhook


def _pod(limits: dict[str, str], **spec: Any) -> dict[str, Any]:
    pod = pods.gpu_pod(limits, **spec)
    pod["metadata"] = {"generateName": "gpu-"}
    del pod["spec"]["containers"][0]["resources"]["requests"]
    return pod


def test_a_server_dry_run_gives_the_same_pod_and_stores_none(
    api: Api, registered: Webhook, space: str
) -> None:
    """`--dry-run=server` shows what a creation would give, and nothing else happens."""
    assert registered.process.poll() is None
    pod = _pod({"nvidia.com/gpu": "1"})
    before = api.ask("GET", f"/api/v1/namespaces/{space}/pods")[1]["items"]
    status, tried = api.create(pod, space, dry_run=True)
    assert status == 201
    assert api.ask("GET", f"/api/v1/namespaces/{space}/pods")[1]["items"] == before
    assert tried["spec"]["containers"] == [
        {**container, "volumeMounts": tried["spec"]["containers"][0]["volumeMounts"]}
        for container in api.stored(pod, space)["spec"]["containers"]
    ]


def test_a_refusal_says_all_mistakes_with_their_fields(
    api: Api, registered: Webhook, space: str
) -> None:
    """The API server passes message, reason and causes on."""
    assert registered.process.poll() is None
    limits = {"nvidia.com/gpu": "500m", "nvidia.com/gpumem": "16Gi"}
    status, answer = api.create(_pod(limits), space)
    assert (status, answer["reason"]) == (422, "Invalid")
    assert 'admission webhook "gpu.berth.dev" denied the request' in answer["message"]
    fields = [cause["field"] for cause in answer["details"]["causes"]]
    assert fields == [
        "spec.containers[0].resources.limits[nvidia.com/gpu]",
        "spec.containers[0].resources.limits[nvidia.com/gpumem]",
    ]
    assert "write 16384" in answer["message"]


def test_a_rule_of_the_cluster_is_forbidden(api: Api, registered: Webhook, space: str) -> None:
    """What only this cluster's rules forbid is a 403."""
    assert registered.process.poll() is None
    status, answer = api.create(_pod({"nvidia.com/gpu": "1"}, nodeName="n1"), space)
    assert (status, answer["reason"]) == (403, "Forbidden")
    assert "spec.nodeName" in answer["message"]


def test_a_warning_reaches_the_user(api: Api, registered: Webhook, space: str) -> None:
    """Warnings come as headers that kubectl prints."""
    assert registered.process.poll() is None
    pod = _pod({"nvidia.com/gpu": "1"})
    pod["spec"]["containers"][0]["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
    assert api.create(pod, space, dry_run=True)[0] == 201
    assert any("NVIDIA_VISIBLE_DEVICES is removed" in warning for warning in api.warnings)


def test_a_second_apply_of_the_same_manifest_changes_nothing(
    api: Api, registered: Webhook, space: str
) -> None:
    """Server-side apply of a bare Pod, twice: the second is taken as no change."""
    assert registered.process.poll() is None
    pod = _pod({"nvidia.com/gpu": "1"})
    pod["metadata"] = {"name": "applied"}
    del pod["spec"]["schedulerName"]
    path = f"/api/v1/namespaces/{space}/pods/applied?fieldManager=user"
    status, first = api.ask("PATCH", path, pod, "application/apply-patch+yaml")
    assert status == 201
    assert first["spec"]["schedulerName"] == "hami-scheduler"
    status, second = api.ask("PATCH", f"{path}&force=true", pod, "application/apply-patch+yaml")
    assert (status, second["spec"]) == (200, first["spec"]), second


def test_i6_what_a_limit_range_gives_counts_as_asked_for(
    api: Api, registered: Webhook, control_plane: ControlPlane
) -> None:
    """The administrator said so; the author hears of each container that asked for nothing.

    A container that writes 0 has none, and one that asks for a size gets no second count. Where
    the given card is a second kind, the Pod is refused, and its author hears where it is from.
    """
    assert registered.process.poll() is None
    one = {"nvidia.com/gpu": "1", "cpu": "2"}
    limit = {"type": "Container", "default": one, "defaultRequest": one}
    ranged = {"metadata": {"name": "gpus"}, "spec": {"limits": [limit]}}
    asked = pods.pod(
        pods.container("main", {"nvidia.com/gpumem": "4000"}),
        pods.container("none", {"nvidia.com/gpu": "0"}),
        pods.container("mesh"),
        metadata={"namespace": None},
        initContainers=[pods.container("fetch")],
    )
    with own(control_plane) as namespace:
        assert api.ask("POST", f"/api/v1/namespaces/{namespace}/limitranges", ranged)[0] == 201
        status, stored = api.create(asked, namespace, dry_run=True)
        warned = api.warnings
        chip = pods.gpu_pod({"huawei.com/Ascend910A": "1"}, metadata={"namespace": None})
        refused, _ = api.create(chip, namespace, dry_run=True)
    assert status == 201, stored
    given = {**one, "nvidia.com/gpucores": "100"}
    spec = stored["spec"]
    found = {
        each["name"]: each["resources"] for each in spec["initContainers"] + spec["containers"]
    }
    assert all(each["requests"] == each["limits"] for each in found.values())
    assert {name: each["limits"] for name, each in found.items()} == {
        "fetch": given,
        "main": {**one, "nvidia.com/gpumem": "4k"},
        "none": {"nvidia.com/gpu": "0", "cpu": "2"},
        "mesh": given,
    }
    told = "a LimitRange gives it nvidia.com/gpu; write 0 there for none"
    assert [line.split('"')[1] for line in warned] == [
        f"spec.{path}: {told}" for path in ("initContainers[0]", "containers[2]")
    ]
    assert refused == 422
    assert [line.split('"')[1] for line in api.warnings] == [f"spec.containers[0]: {told}"]


@pytest.fixture
def hiding(tmp_path: Path) -> tuple[str, str]:
    """Give flags of a device-config that hides cards from Pods without one."""
    file = tmp_path / "device-config.yaml"
    file.write_text("nvidia: {overwriteEnv: true}\n")
    return ("--device-config", str(file))


def test_hiding_cards_is_an_entry_of_its_own_that_may_fail(
    api: Api, register: Register, space: str, hiding: tuple[str, str]
) -> None:
    """With overwriteEnv, other Pods come by a second entry with failurePolicy Ignore."""
    with register(*hiding):
        path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/berth"
        webhooks = api.ask("GET", path)[1]["webhooks"]
        assert [w["failurePolicy"] for w in webhooks] == ["Fail", "Ignore"]
        status, pod = api.create(_pod({"cpu": "100m"}), space, dry_run=True)
        assert status == 201
        env = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"}]
        assert pod["spec"]["containers"][0]["env"] == env
        assert pod["spec"]["schedulerName"] == "default-scheduler"


def test_an_injection_reaches_only_the_namespaces_it_selects(
    api: Api, register: Register, control_plane: ControlPlane, tmp_path: Path
) -> None:
    """The API server itself evaluates the selector of each injection."""
    file = tmp_path / "settings.yaml"
    library: dict[str, Any] = {"name": "vgpu", "hostPath": {"path": "/usr/local/vgpu"}}
    injection = {
        "name": "library",
        "namespaceSelector": {"matchLabels": {"team": "ml"}},
        "env": [
            {"name": "LD_PRELOAD", "value": "/usr/local/vgpu/libvgpu.so", "joinedBy": ":"},
        ],
        "volumes": [library],
        "volumeMounts": [{"name": "vgpu", "mountPath": "/usr/local/vgpu"}],
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    }
    file.write_text(json.dumps({"injections": [injection]}))
    with register("--config", str(file)), own(control_plane) as ml, own(control_plane) as other:
        conftest.label(api, ml, {"team": "ml"})
        pod = _pod({"nvidia.com/gpu": "1"})
        pod["spec"]["containers"][0]["env"] = [{"name": "LD_PRELOAD", "value": "/jemalloc.so"}]
        status, plain = api.create(pod, other, dry_run=True)
        assert status == 201
        assert plain["spec"]["containers"][0]["env"][0]["value"] == "/jemalloc.so"
        status, injected = api.create(pod, ml, dry_run=True)
        assert status == 201, injected
        spec = injected["spec"]
        preload = "/usr/local/vgpu/libvgpu.so:/jemalloc.so"
        assert spec["containers"][0]["env"] == [{"name": "LD_PRELOAD", "value": preload}]
        assert {**library, "hostPath": {**library["hostPath"], "type": ""}} in spec["volumes"]
        assert spec["schedulerName"] == "hami-scheduler"
        assert {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"} in spec["tolerations"]


def test_what_we_inject_ourselves_survives_reinvocation(
    api: Api, register: Register, space: str, tmp_path: Path
) -> None:
    """An injection that makes the API server ask us again is neither refused nor repeated."""
    file = tmp_path / "settings.yaml"
    first = {
        "name": "a-first",
        "env": [
            {"name": "LD_PRELOAD", "value": "/a.so:/b.so", "joinedBy": ":"},
            {"name": "CUDA_DISABLE_CONTROL", "value": "false"},
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
        ],
        "volumes": [
            {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
            {"name": "card", "hostPath": {"path": "/dev/nvidiactl"}},
        ],
    }
    last = {"name": "z-last", "annotations": {"example.com/injected": "yes"}}
    file.write_text(json.dumps({"injections": [first, last]}))
    with register("--config", str(file)):
        pod = _pod({"nvidia.com/gpu": "1"})
        pod["spec"]["containers"][0]["env"] = [{"name": "LD_PRELOAD", "value": "/u.so"}]
        status, stored = api.create(pod, space, dry_run=True)
        assert status == 201, stored
        assert stored["spec"]["containers"][0]["env"] == [
            {"name": "LD_PRELOAD", "value": "/a.so:/b.so:/u.so"},
            {"name": "CUDA_DISABLE_CONTROL", "value": "false"},
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
        ]
        assert [volume["name"] for volume in stored["spec"]["volumes"]][1:] == ["token", "card"]
        assert stored["metadata"]["annotations"]["example.com/injected"] == "yes"
        assert api.warnings == []
