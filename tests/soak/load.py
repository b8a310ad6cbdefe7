"""A steady load of Pod creations by server dry-run, in a process of its own.

An open loop: a creation is due at its time whether or not earlier ones are answered, so a slow
answer lowers no rate. Its plan comes as JSON on stdin; a line on stdout says that it has begun,
and the last line is the outcome.
"""

import asyncio
import re
import ssl
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import Any

import aiohttp
import msgspec
import orjson
import uvloop

from tests import pods
from tests.cluster.controlplane import ControlPlane

_PLAIN_EVERY = 4
_CONNECTIONS = 100  # to the API server: half of what it works on at a time
_MUTATED = b'"schedulerName":"hami-scheduler"'
_CALLER = re.compile(r"127\.0\.0\.1:\d+->")  # of the API server, another each time


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How many creations, how often, where, and with which certificate."""

    url: str
    authority: str
    certificate: str
    key: str
    creations: int
    per_second: float


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a load. Latencies in milliseconds, from when the creation was due."""

    offered: int
    answered: int
    """Created, as a dry run."""
    unmutated: int
    """GPU Pods among the answered that no webhook changed."""
    failures: dict[str, int]
    """How often each failure, by the words of the API server."""
    per_second: float
    """The rate that was really offered."""
    p50_ms: float
    p99_ms: float
    most_ms: float

    @property
    def failed(self) -> int:
        """Creations that were not answered with a Pod."""
        return sum(self.failures.values())


@dataclass
class Load:
    """A load under way."""

    process: subprocess.Popen[str]

    def outcome(self) -> Outcome:
        """Wait for the last answer, and return what became of all."""
        assert self.process.stdout is not None
        with self.process.stdout:
            last = self.process.stdout.read()
        assert self.process.wait(60) == 0, "the load stopped with an error"
        return msgspec.json.decode(last, type=Outcome)


def begin(plane: ControlPlane, namespace: str, creations: int, per_second: float) -> Load:
    """Start a load on `namespace`; return when it has begun."""
    plan = Plan(
        url=f"{plane.url}/api/v1/namespaces/{namespace}/pods?dryRun=All",
        authority=str(plane.authority),
        certificate=str(plane.client.certificate),
        key=str(plane.client.key),
        creations=creations,
        per_second=per_second,
    )
    command = [sys.executable, "-m", "tests.soak.load"]
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin:
        process.stdin.write(msgspec.json.encode(plan).decode())
    assert process.stdout.readline() == "begun\n"
    return Load(process)


@dataclass
class _Tally:
    answered: int = 0
    unmutated: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)


async def _run(plan: Plan) -> Outcome:
    context = ssl.create_default_context(cafile=plan.authority)
    context.load_cert_chain(plan.certificate, plan.key)
    connector = aiohttp.TCPConnector(ssl=context, limit=_CONNECTIONS)
    tally = _Tally()
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        print("begun", flush=True)  # noqa: T201  to whoever started this
        begun = perf_counter()
        async with asyncio.TaskGroup() as group:
            for index in range(plan.creations):
                due = begun + index / plan.per_second
                await asyncio.sleep(due - perf_counter())
                group.create_task(_create(session, plan.url, index, due, tally))
            offering = perf_counter() - begun
    cuts = quantiles(tally.seconds, n=100)
    return Outcome(
        offered=plan.creations,
        answered=tally.answered,
        unmutated=tally.unmutated,
        failures=dict(tally.failures.most_common()),
        per_second=(plan.creations - 1) / offering,
        p50_ms=cuts[49] * 1000,
        p99_ms=cuts[98] * 1000,
        most_ms=max(tally.seconds) * 1000,
    )


async def _create(
    session: aiohttp.ClientSession, url: str, index: int, due: float, tally: _Tally
) -> None:
    plain = index % _PLAIN_EVERY == _PLAIN_EVERY - 1
    try:
        async with session.post(url, data=_PLAIN if plain else _GPU) as answer:
            body = await answer.read()
    except aiohttp.ClientError as error:
        tally.failures[f"no answer: {error!r}"] += 1
    else:
        if answer.status == 201:
            tally.answered += 1
            tally.unmutated += not plain and _MUTATED not in body
        else:
            text = str(orjson.loads(body)["message"])
            tally.failures[_CALLER.sub("", text)] += 1
    tally.seconds.append(perf_counter() - due)


def _body(*containers: dict[str, Any]) -> bytes:
    pod = pods.pod(*containers, metadata={"generateName": "soak-"})
    del pod["metadata"]["namespace"], pod["metadata"]["name"]
    return orjson.dumps(pod)


_GPU = _body(pods.container(limits={"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4096"}))
_PLAIN = _body(pods.container(limits={"cpu": "1"}))


if __name__ == "__main__":
    told = msgspec.json.decode(sys.stdin.read(), type=Plan)
    print(msgspec.json.encode(uvloop.run(_run(told))).decode())  # noqa: T201
