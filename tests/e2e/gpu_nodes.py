"""Made-up nodes with cards as HAMi's agent registers them, and a scheduler as HAMi sets it up."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from tests.cluster.controlplane import ControlPlane
from tests.e2e.api import Api, Object

LABEL = "tests.berth.dev/made-up"
MEMORY = 40_960
CARDS = 4
PROFILE: dict[str, object] = {
    "schedulerName": "hami-scheduler",
    "pluginConfig": [
        {"name": "NodeResourcesFit", "args": {"ignoredResourceGroups": ["nvidia.com"]}}
    ],
}
"""HAMi's own set-up leaves cards out of what the scheduler counts; its extender is not here."""


def uuid(node: str, card: int) -> str:
    """Return the UUID of a card."""
    return f"GPU-{node}-{card}"


def node(name: str, model: str = "NVIDIA A100-PCIE-40GB", memory: int = MEMORY) -> Object:
    """Return a node that is ready, with cards of one model, of so many MiB each."""
    registered = [
        {
            "id": uuid(name, card),
            "index": card,
            "count": 10,
            "devmem": memory,
            "devcore": 100,
            "type": f"NVIDIA-{model}",
            "mode": "hami-core",
            "numa": card // 2,
            "health": True,
        }
        for card in range(CARDS)
    ]
    gives = {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": str(10 * CARDS)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": f"host-{name}", LABEL: "yes"},
            "annotations": {"hami.io/node-nvidia-register": json.dumps(registered)},
        },
        "status": {
            "capacity": gives,
            "allocatable": gives,
            "conditions": [{"type": "Ready", "status": "True", "reason": "made-up"}],
        },
    }


@contextmanager
def made(plane: ControlPlane, count: int) -> Iterator[list[str]]:
    """Make so many nodes for the length of a `with`; gives their names."""
    names = [f"gpu-{number:03}" for number in range(count)]

    def make(some: list[str]) -> None:
        api = Api(plane)
        for name in some:
            status, answer = api.ask("POST", "/api/v1/nodes", node(name))
            assert status == 201, answer
        api.connection.close()

    api = Api(plane)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(make, [names[at::4] for at in range(4)]))
        yield names
    finally:
        api.ask("DELETE", f"/api/v1/nodes?labelSelector={LABEL}%3Dyes")
        api.connection.close()


def held(pods: list[Object]) -> dict[str, int]:
    """Return the MiB of each card that bound Pods hold, by what their decisions say."""
    sums: dict[str, int] = {}
    for pod in pods:
        decided: dict[str, Any] = json.loads(pod["metadata"]["annotations"]["berth.dev/decision"])
        if pod["spec"].get("nodeName") == decided.get("node"):
            for device in decided["devices"]:
                sums[device["uuid"]] = sums.get(device["uuid"], 0) + device["memoryMib"]
    return sums
