"""`berth diff` over a real cluster: every kind that Pods are made of, each told once."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from berth.cluster import connection, existing
from tests import pods
from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.namespaces import own
from tests.e2e.recorded import NODE

CARD = {"nvidia.com/gpu": "1"}


def _object(kind: str, version: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    metadata = {"name": kind.lower(), **metadata}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _objects() -> list[dict[str, Any]]:
    pod = pods.gpu_pod(CARD)["spec"]
    template = {"metadata": {"labels": {"app": "a"}}, "spec": pod}
    selected = {"selector": {"matchLabels": {"app": "a"}}, "template": template}
    job = {"template": {"spec": {**pod, "restartPolicy": "Never"}}, "parallelism": 1}
    scheduled = {"spec": job}
    return [
        _object("Deployment", "apps/v1", {"replicas": 1, **selected}),
        _object("StatefulSet", "apps/v1", {"replicas": 1, "serviceName": "a", **selected}),
        _object("DaemonSet", "apps/v1", selected),
        _object("ReplicaSet", "apps/v1", {"replicas": 1, **selected}),
        _object("Job", "batch/v1", job),
        _object("CronJob", "batch/v1", {"schedule": "0 0 1 1 *", "jobTemplate": scheduled}),
        _object("Pod", "v1", {**pod, "nodeName": "n1"}, annotations={NODE: "n1"}),
    ]


@pytest.fixture
def volcano_job(control_plane: ControlPlane) -> Iterator[dict[str, Any]]:
    """Give a Job of Volcano's, whose kind is served; nothing in the cluster makes Pods of it."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True}
    spec = {
        "group": "batch.volcano.sh",
        "scope": "Namespaced",
        "names": {"kind": "Job", "plural": "jobs", "singular": "job"},
        "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
    }
    name = "jobs.batch.volcano.sh"
    kind = _object("CustomResourceDefinition", "apiextensions.k8s.io/v1", spec, name=name)
    kubectl = Kubectl(plane=control_plane, namespace="default")
    kubectl("create", "-f", "-", input=json.dumps(kind))
    try:
        kubectl("wait", "--for=condition=Established", "--timeout=30s", f"crd/{name}")
        task = {"replicas": 1, "name": "w", "template": {"spec": pods.gpu_pod(CARD)["spec"]}}
        yield _object("Job", "batch.volcano.sh/v1alpha1", {"tasks": [task]})
    finally:
        kubectl("delete", "crd", name)


def test_every_kind_is_told_once(
    control_plane: ControlPlane, volcano_job: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the ReplicaSets and Pods that they own; a Pod as before it had a node and a card.

    However many pages the lists have; of kinds that nobody serves, nothing.
    """
    with own(control_plane) as namespace:
        kubectl = Kubectl(plane=control_plane, namespace=namespace)
        wanted = [*_objects(), volcano_job]
        listed = {"apiVersion": "v1", "kind": "List", "items": wanted}
        kubectl("create", "-f", "-", input=json.dumps(listed))
        for version, name in (("batch.volcano.sh/v1alpha1", "of-ours"), ("x.io/v1", "of-others")):
            owner = {"apiVersion": version, "kind": "Job", "name": "job", "uid": "1"}
            spec = pods.gpu_pod(CARD)["spec"]
            made = _object(
                "Pod", "v1", spec, name=name, ownerReferences=[{**owner, "controller": True}]
            )
            kubectl("create", "-f", "-", input=json.dumps(made))
        for kind in ("deployment", "replicaset"):
            ready = "--for=jsonpath={.status.replicas}=1"
            kubectl("wait", ready, "--timeout=30s", f"{kind}/{kind}")
        assert kubectl("get", "pods", "-o", "name").stdout.count("pod/") > 3, "they own some"
        known = ("--kubeconfig", str(control_plane.kubeconfig), "-n", namespace)
        command = [sys.executable, "-m", "berth", "diff", *known, "-o", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, "")
        rows = json.loads(done.stdout)
        kinds = sorted([*(one["kind"] for one in wanted), "Pod"])
        assert sorted(row["kind"] for row in rows) == kinds
        assert {row["after"]["decision"] for row in rows} == {"patched"}
        assert {row["namespace"] for row in rows} == {namespace}
        monkeypatch.setattr(existing, "_PAGE", "1")
        assert sorted(asyncio.run(_kinds(control_plane, namespace))) == kinds


async def _kinds(plane: ControlPlane, namespace: str) -> list[str]:
    async with connection.connect(plane.kubeconfig) as cluster:
        return [str(one["kind"]) async for one in existing.objects(cluster, namespace)]
