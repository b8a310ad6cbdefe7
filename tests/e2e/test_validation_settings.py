"""Validation as the settings have it, each with a webhook of its own, on the real API server."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests import pods
from tests.cluster import kubeconfig
from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.namespaces import own
from tests.e2e.api import Api
from tests.e2e.conftest import Register
from tests.e2e.recorded import (
    MUTATING,
    NODE,
    SCHEDULER,
    VALIDATING,
    annotated,
    as_user,
    gpu,
    web,
)


def test_an_account_of_the_settings_writes_with_its_own_token(
    register: Register, control_plane: ControlPlane, tmp_path: Path
) -> None:
    """HAMi installed elsewhere: its account is named, and writes with a real token, on CREATE too.

    Another account of the same namespace does not.
    """
    with own(control_plane) as hami:
        kubectl = Kubectl(plane=control_plane, namespace=hami)
        user = f"system:serviceaccount:{hami}:scheduler"
        with register("--set", f"policy.allocators={user}"):
            for account in ("scheduler", "other"):
                kubectl("create", "serviceaccount", account)
                bound = f"--serviceaccount={hami}:{account}"
                kubectl("create", "rolebinding", account, "--clusterrole=edit", bound)
            assert _created_as(kubectl, "other", tmp_path) != ""
            assert _created_as(kubectl, "scheduler", tmp_path) == ""


def _created_as(kubectl: Kubectl, account: str, folder: Path) -> str:
    """Create a Pod with a record by a token of an account; return what kubectl complains of."""
    token = kubectl("create", "token", account).stdout.strip()
    file = folder / account
    file.write_text(kubeconfig.with_token(kubectl.plane.url, kubectl.plane.authority, token))
    pod = json.dumps(web(account, annotations={NODE: "n1"}))
    flag = f"--kubeconfig={file}"
    return kubectl("create", flag, "-f", "-", input=pod, check=False).stderr


@pytest.mark.parametrize("undone", ["deny", "warn", "allow"])
def test_a_pod_that_was_never_rewritten(
    undone: str, api: Api, register: Register, control_plane: ControlPlane
) -> None:
    """Where the mutating webhook was skipped, the policy decides; a web Pod never notices (I9)."""
    never = {"expression": "false", "name": "never"}
    skip = [{"op": "replace", "path": "/webhooks/0/matchConditions", "value": [never]}]
    flags = ("--set", f"policy.undone={undone}", "--set", "certificates.checkSeconds=3600")
    with register(*flags, "--set", "registration.refreshSeconds=3600"), own(control_plane) as name:
        assert api.ask("PATCH", f"{MUTATING}/berth", skip, "application/json-patch+json")[0] == 200
        deadline = time.monotonic() + 20
        while True:
            status, answer = api.create(gpu("skipped"), name, dry_run=True)
            if status == 403 or answer["spec"]["schedulerName"] == "default-scheduler":
                break
            assert time.monotonic() < deadline
            time.sleep(0.05)
        if undone == "deny":
            assert status == 403
            assert "try again shortly" in answer["message"]
            assert "spec.schedulerName" in answer["message"]
        else:
            assert status == 201, answer
            assert bool(api.warnings) == (undone == "warn")
        assert api.create(web("web"), name, dry_run=True)[0] == 201
        assert api.warnings == []


TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {
        "containers": [pods.container("main", {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "16Gi"})]
    },
}
SELECTOR = {"matchLabels": {"app": "a"}}
JOB: dict[str, Any] = {"metadata": {}, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
WORKLOADS: dict[str, tuple[str, dict[str, Any]]] = {
    "Deployment": ("apps/v1", {"selector": SELECTOR, "template": TEMPLATE}),
    "StatefulSet": ("apps/v1", {"selector": SELECTOR, "template": TEMPLATE, "serviceName": "a"}),
    "DaemonSet": ("apps/v1", {"selector": SELECTOR, "template": TEMPLATE}),
    "ReplicaSet": ("apps/v1", {"selector": SELECTOR, "template": TEMPLATE}),
    "Job": ("batch/v1", {"template": JOB}),
    "CronJob": ("batch/v1", {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": JOB}}}),
}


def test_workloads_are_warned_about_where_so_set(
    register: Register, control_plane: ControlPlane
) -> None:
    """`kubectl apply` shows where the template is wrong and what to write; nothing is refused."""
    with register("--set", "registration.workloads=true") as running, own(control_plane) as name:
        kubectl = Kubectl(plane=control_plane, namespace=name)
        for kind, (version, spec) in WORKLOADS.items():
            place = "spec.jobTemplate.spec.template" if kind == "CronJob" else "spec.template"
            document = {
                "apiVersion": version,
                "kind": kind,
                "metadata": {"name": f"a-{kind.lower()}"},
                "spec": spec,
            }
            done = kubectl("apply", "--dry-run=server", "-f", "-", input=json.dumps(document))
            where = f"{place}.spec.containers[0].resources.limits[nvidia.com/gpumem]"
            assert f"Warning: {where}: its Pods will be refused" in done.stderr, kind
            assert "write 16384 if 16Gi is meant" in done.stderr, kind
        before = running.reviews
        plain = {"metadata": {"labels": {"app": "a"}}, "spec": web("a")["spec"]}
        document = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "plain"},
            "spec": {"selector": SELECTOR, "template": plain},
        }
        done = kubectl("apply", "--dry-run=server", "-f", "-", input=json.dumps(document))
        assert done.stderr == ""
        assert running.reviews == before


def test_our_outage_stops_no_scheduler(
    api: Api, register: Register, control_plane: ControlPlane
) -> None:
    """With the server gone, HAMi's scheduler records, labels change, and Pods are deleted."""
    with own(control_plane) as name, register() as running:
        assert api.create(gpu("left"), name)[0] == 201
        running.process.kill()
        running.process.wait(10)
        path = f"/api/v1/namespaces/{name}/pods/left"
        assert as_user(api, SCHEDULER, path, {NODE: "n1"})[0] == 200
        assert annotated(api, path, {"example.com/mine": "1"})[0] == 200
        status, answer = annotated(api, path, {NODE: "n2"})
        assert (status, "allocations.berth.dev" in answer["message"]) == (500, True)
        assert api.ask("DELETE", path)[0] == 200


def test_a_configuration_that_someone_deleted_comes_back(api: Api, register: Register) -> None:
    """`--register` keeps both halves, with their entries."""
    with register("--set", "registration.refreshSeconds=0.2"):
        assert api.ask("DELETE", f"{VALIDATING}/berth")[0] == 200
        deadline = time.monotonic() + 20
        while "webhooks" not in api.ask("GET", f"{VALIDATING}/berth")[1]:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_kubectl_shows_chinese(register: Register, control_plane: ControlPlane) -> None:
    """A warning and a refusal come through the API server as we write them, in one piece."""
    with register("--set", "language=zh"), own(control_plane) as name:
        kubectl = Kubectl(plane=control_plane, namespace=name)
        warned = gpu("warned")
        warned["spec"]["containers"][0]["env"] = [
            {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}
        ]
        refused = pods.gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/gpucores": "101"})
        refused["metadata"] = {"name": "refused"}
        create = ("create", "--dry-run=server", "-f", "-")
        said = kubectl(*create, input=json.dumps(warned)).stderr
        env = "spec.containers[0].env"
        assert f"Warning: {env}：NVIDIA_VISIBLE_DEVICES 被删除：它由设备插件设置\n" in said
        said = kubectl(*create, input=json.dumps(refused), check=False).stderr
        where = "spec.containers[0].resources.limits[nvidia.com/gpucores]"
        what = "101% 超过整个设备的算力；最多写 100，容器的每个设备都会得到这么多"
        assert f"{where}: {what}" in said, "kubectl puts the field before it"
