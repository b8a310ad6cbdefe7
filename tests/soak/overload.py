"""More than the webhook can do: a slow decision, large bodies, and what a refusal costs."""

import asyncio
import contextlib
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import aiohttp
import orjson

from benchmarks import process
from tests import pods, webhook
from tests.soak.report import Result
from tests.wire import raw

CLIENTS = 64
_SLOW = Path(__file__).with_name("slow.py")
_SLOW_SECONDS = 0.02
_IN_FLIGHT = 8
_PROBE_EVERY = 0.1


@dataclass
class Flood:
    """What came of requests that were sent without waiting for each other's answers."""

    statuses: Counter[int] = field(default_factory=Counter)
    bare: int = 0
    """503 without Retry-After: 1."""
    errors: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)
    """How long each probe that was green took, in seconds."""
    red: int = 0
    """Probes with another answer, or none."""


async def flood(
    running: webhook.Webhook, bodies: Sequence[bytes], per_second: float
) -> Flood:
    """Send each of `bodies` when it is due, over at most 64 connections, and ask the probes."""
    found = Flood()
    connector = aiohttp.TCPConnector(ssl=running.tls(), limit=CLIENTS)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(
        f"https://127.0.0.1:{running.port}", connector=connector, headers=headers
    ) as session:
        probing = asyncio.create_task(_probe(running, found))
        begun = perf_counter()
        async with asyncio.TaskGroup() as group:
            for index, body in enumerate(bodies):
                due = begun + index / per_second
                await asyncio.sleep(due - perf_counter())
                group.create_task(_ask(session, body, due, found))
        probing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await probing
    return found


async def _ask(session: aiohttp.ClientSession, body: bytes, due: float, found: Flood) -> None:
    try:
        async with session.post("/mutate", data=body) as answer:
            await answer.read()
    except aiohttp.ClientError as error:
        found.errors[repr(error)] += 1
        return
    found.statuses[answer.status] += 1
    found.bare += answer.status == 503 and answer.headers.get("Retry-After") != "1"
    if answer.status == 200:
        found.seconds.append(perf_counter() - due)


async def _probe(running: webhook.Webhook, found: Flood) -> None:
    """Ask both probes, as kubelet does: on a connection of its own each time."""
    url = f"https://127.0.0.1:{running.port}"
    while True:
        for path in ("/healthz", "/readyz"):
            begun = perf_counter()
            connector = aiohttp.TCPConnector(ssl=running.tls(), force_close=True)
            try:
                async with (
                    aiohttp.ClientSession(url, connector=connector) as session,
                    session.get(path) as answer,
                ):
                    found.red += answer.status != 200
            except aiohttp.ClientError:
                found.red += 1
            found.probes.append(perf_counter() - begun)
        await asyncio.sleep(_PROBE_EVERY)


def body(uid: str, size: int = 0) -> bytes:
    """Return a review of a GPU Pod, `size` bytes long at the least, filled up by an annotation."""
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"})
    review = webhook.review(pod, uid=uid)
    missing = size - len(orjson.dumps(review)) - 50
    if missing > 0:
        pod["metadata"]["annotations"] = {"filler": "x" * missing}
    return orjson.dumps(review)
