"""`berth diff` over a real cluster: every kind that Pods are made of, each told once."""

import asyncio
import json
import subprocess
import sys
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


def test_every_kind_is_told_once(
    control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the ReplicaSets and Pods that they own; a Pod as before it had a node and a card.

    However many pages the lists have.
    """
    with own(control_plane) as namespace:
        kubectl = Kubectl(plane=control_plane, namespace=namespace)
        wanted = _objects()
        listed = {"apiVersion": "v1", "kind": "List", "items": wanted}
        kubectl("create", "-f", "-", input=json.dumps(listed))
        for kind in ("deployment", "replicaset"):
            ready = "--for=jsonpath={.status.replicas}=1"
            kubectl("wait", ready, "--timeout=30s", f"{kind}/{kind}")
        assert kubectl("get", "pods", "-o", "name").stdout.count("pod/") > 3, "they own some"
        known = ("--kubeconfig", str(control_plane.kubeconfig), "-n", namespace)
        command = [sys.executable, "-m", "berth", "diff", *known, "-o", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, "")
        rows = json.loads(done.stdout)
        kinds = sorted(one["kind"] for one in wanted)
        assert sorted(row["kind"] for row in rows) == kinds
        assert {row["after"]["decision"] for row in rows} == {"patched"}
        assert {row["namespace"] for row in rows} == {namespace}
        monkeypatch.setattr(existing, "_PAGE", "1")
        assert sorted(asyncio.run(_kinds(control_plane, namespace))) == kinds


async def _kinds(plane: ControlPlane, namespace: str) -> list[str]:
    async with connection.connect(plane.kubeconfig) as cluster:
        return [str(one["kind"]) async for one in existing.objects(cluster, namespace)]
