"""A few nodes with cards on the real API server, and Pods on them, as HAMi leaves them."""

import contextlib
from collections.abc import Iterator
from typing import Any

from tests.e2e.api import Api

TAINT = {"key": "berth.dev/test", "value": "fleet", "effect": "NoSchedule"}
"""Keeps the Pods of other tests away."""
TOLERATION = {"key": TAINT["key"], "operator": "Exists"}
MERGE = "application/merge-patch+json"


def node(name: str, *cards: tuple[str, str, int]) -> dict[str, Any]:
    """Return a node that registers cards of so many MiB, by id and model, as HAMi's agent does."""
    register = "".join(
        f"{uuid},10,{memory},100,{model},0,true,{index},hami-core:"
        for index, (uuid, model, memory) in enumerate(cards)
    )
    annotations = {"hami.io/node-nvidia-register": register} if cards else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "nvidia.com/gpu.count": str(len(cards))},
            "annotations": annotations,
        },
        "spec": {"taints": [TAINT]},
    }


def status(cpu: str = "16") -> dict[str, Any]:
    """Return what a kubelet would say of it."""
    amounts = {"cpu": cpu, "memory": "64Gi", "pods": "50"}
    ready = {"type": "Ready", "status": "True", "reason": "Test", "message": ""}
    return {"status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}}


@contextlib.contextmanager
def of(api: Api, *nodes: dict[str, Any]) -> Iterator[None]:
    """Create nodes that are ready, and delete them at the end."""
    names = [one["metadata"]["name"] for one in nodes]
    try:
        for one in nodes:
            code, answer = api.ask("POST", "/api/v1/nodes", one)
            assert code == 201, answer
            path = f"/api/v1/nodes/{one['metadata']['name']}/status"
            code, answer = api.ask("PATCH", path, status(), MERGE)
            assert code == 200, answer
        yield
    finally:
        for name in names:
            api.ask("DELETE", f"/api/v1/nodes/{name}")


def pod(name: str, on: str = "", **limits: str) -> dict[str, Any]:
    """Return a Pod with CPU and memory and what it wants of cards, bound where a node is named."""
    amounts = {"cpu": "500m", "memory": "1Gi"}
    resources = {"requests": amounts, "limits": limits}
    spec: dict[str, Any] = {
        "containers": [{"name": "main", "image": "i", "resources": resources}],
        "tolerations": [TOLERATION],
        "schedulerName": "nobody",
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": spec | ({"nodeName": on} if on else {}),
    }


def share(name: str, on: str, memory: int, uuid: str = "") -> dict[str, Any]:
    """Return a Pod with a share of one card, and HAMi's record of it where the card is named."""
    one = pod(name, on, **{"nvidia.com/gpu": "1", "nvidia.com/gpumem": str(memory)})
    if uuid:
        record = f"{uuid},NVIDIA,{memory},0:;"
        one["metadata"]["annotations"] = {"hami.io/vgpu-devices-allocated": record}
    return one
