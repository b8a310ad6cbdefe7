"""Many Pods at once, as large as real ones: 9 KB as the API server writes them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.cluster import components, probe
from tests.cluster.controlplane import ControlPlane

_CONNECTIONS = 16


def pod(number: int) -> dict[str, Any]:
    """Return a training Pod of two containers, bound to one of 200 nodes."""
    env = [{"name": f"SETTING_{each}", "value": f"{number}-{'x' * 50}"} for each in range(20)]
    limits = {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number}",
            "labels": {"app": f"train-{number % 50}", "team": f"team-{number % 7}"},
            "annotations": {"note": "y" * 200},
        },
        "spec": {
            "nodeName": f"node-{number % 200}",
            "containers": [
                {
                    "name": name,
                    "image": "registry.example/app:1",
                    "command": ["python", "train.py", "--steps", "10000"],
                    "env": env,
                    "resources": {"limits": limits},
                }
                for name in ("main", "side")
            ],
        },
    }


async def create(plane: ControlPlane, namespace: str, numbers: range) -> None:
    """Create Pods: some 450 a second on two cores."""
    path = f"{plane.url}/api/v1/namespaces/{namespace}/pods"
    waiting = iter(numbers)

    async def worker(session: aiohttp.ClientSession) -> None:
        for number in waiting:
            async with session.post(path, json=pod(number)) as answer:
                assert answer.status == 201, await answer.text()

    async with _session(plane) as session:
        await asyncio.gather(*(worker(session) for _ in range(_CONNECTIONS)))


async def delete(plane: ControlPlane, namespace: str, numbers: range) -> None:
    """Delete Pods at once, as no kubelet would end them."""
    path = f"{plane.url}/api/v1/namespaces/{namespace}/pods"
    waiting = iter(numbers)

    async def worker(session: aiohttp.ClientSession) -> None:
        for number in waiting:
            url = f"{path}/pod-{number}?gracePeriodSeconds=0"
            async with session.delete(url) as answer:
                assert answer.status == 200, await answer.text()

    async with _session(plane) as session:
        await asyncio.gather(*(worker(session) for _ in range(_CONNECTIONS)))


@asynccontextmanager
async def _session(plane: ControlPlane) -> AsyncIterator[aiohttp.ClientSession]:
    trust = probe.trust(components.certificates(plane.folder))
    connector = aiohttp.TCPConnector(ssl=trust, limit=_CONNECTIONS)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield session
