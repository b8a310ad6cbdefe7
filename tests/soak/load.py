"""A steady load of Pod creations by server dry-run, in a process of its own.

An open loop: a creation is due at its time whether or not earlier ones are answered, so a slow
answer lowers no rate. Its plan comes as a line of JSON on stdin, and it goes on until stdin ends.
A line on stdout says that it has begun, and the last line is the outcome.
"""

import asyncio
import re
import ssl
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
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

_CONNECTIONS = 100  # to the API server: half of what it works on at a time
_MUTATED = b'"schedulerName":"hami-scheduler"'
_OWN = re.compile(r"127\.0\.0\.1:\d+->|(?<=soak-)\w{5}")  # what is another in each text


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How many creations, how often, where, and with which certificate."""

    url: str
    authority: str
    certificate: str
    key: str
    creations: int
    """At the least; more where it is told to end later."""
    per_second: float


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a load. Latencies in milliseconds, from when the creation was due."""

    offered: int
    answered: int
    """Created, as a dry run."""
    unmutated: int
    """GPU Pods among the answered that no webhook changed."""
    plain_failed: int
    """Pods without a GPU among the failed."""
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
        """Let it end, wait for the last answer, and return what became of all."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
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
    process.stdin.write(msgspec.json.encode(plan).decode() + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "begun\n"
    return Load(process)


@dataclass
class _Tally:
    seconds: list[float] = field(default_factory=list)
    unmutated: int = 0
    plain_failed: int = 0
    failures: Counter[str] = field(default_factory=Counter)


async def _run(plan: Plan) -> Outcome:
    context = ssl.create_default_context(cafile=plan.authority)
    context.load_cert_chain(plan.certificate, plan.key)
    connector = aiohttp.TCPConnector(ssl=context, limit=_CONNECTIONS)
    tally, told = _Tally(), asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, told.set)  # it ends: nothing else comes
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        print("begun", flush=True)  # noqa: T201  to whoever started this
        begun = perf_counter()
        async with asyncio.TaskGroup() as group:
            for index in count():
                if index >= plan.creations and told.is_set():
                    break
                due = begun + index / plan.per_second
                await asyncio.sleep(due - perf_counter())
                group.create_task(_create(session, plan.url, index, due, tally))
            offering = perf_counter() - begun
    return outcome(
        tally.seconds,
        offered=index,
        failures=tally.failures,
        per_second=index / offering,
        marked=(tally.unmutated, tally.plain_failed),
    )


def outcome(
    seconds: Sequence[float],
    *,
    offered: int,
    failures: Counter[str],
    per_second: float,
    marked: tuple[int, int] = (0, 0),
) -> Outcome:
    """Return the outcome, where `seconds` says how long each took that was answered.

    `marked` are how many GPU Pods passed unmutated, and how many other Pods failed.
    """
    cuts = quantiles(seconds, n=100) if len(seconds) > 1 else [0.0] * 99
    return Outcome(
        offered=offered,
        answered=len(seconds),
        unmutated=marked[0],
        plain_failed=marked[1],
        failures=dict(failures.most_common()),
        per_second=per_second,
        p50_ms=cuts[49] * 1000,
        p99_ms=cuts[98] * 1000,
        most_ms=max(seconds, default=0) * 1000,
    )


async def _create(
    session: aiohttp.ClientSession, url: str, index: int, due: float, tally: _Tally
) -> None:
    asked = _ASKED[index % len(_ASKED)]
    plain = asked is _PLAIN
    try:
        async with session.post(url, data=asked) as answer:
            body = await answer.read()
    except aiohttp.ClientError as error:
        tally.failures[f"no answer: {error!r}"] += 1
        tally.plain_failed += plain
    else:
        if answer.status == 201:
            tally.seconds.append(perf_counter() - due)
            tally.unmutated += not plain and _MUTATED not in body
        else:
            text = str(orjson.loads(body)["message"])
            tally.failures[_OWN.sub("", text)] += 1
            tally.plain_failed += plain


def _body(*containers: dict[str, Any]) -> bytes:
    pod = pods.pod(*containers, metadata={"generateName": "soak-"})
    del pod["metadata"]["namespace"], pod["metadata"]["name"]
    return orjson.dumps(pod)


_GPU = _body(pods.container(limits={"nvidia.com/gpu": "1", "nvidia.com/gpumem": "4096"}))
_WHOLE = _body(pods.container(limits={"nvidia.com/gpu": "1"}))
_PLAIN = _body(pods.container(limits={"cpu": "1"}))
_ASKED = (_GPU, _WHOLE, _GPU, _PLAIN)


if __name__ == "__main__":
    planned = msgspec.json.decode(sys.stdin.readline(), type=Plan)
    print(msgspec.json.encode(uvloop.run(_run(planned))).decode())  # noqa: T201
