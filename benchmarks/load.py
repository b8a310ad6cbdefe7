"""The load client: closed-loop HTTP/1.1 over TLS on keep-alive connections.

It lives in the benchmark's process, never in a server's, so its CPU time is not the server's.
"""

import asyncio
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass

import uvloop

from benchmarks.connection import Connection, Phase
from benchmarks.failure import BenchmarkError
from benchmarks.probe import HEADERS, PATH

_PATIENCE_S = 30.0
_WINDOWS = 3


@dataclass(frozen=True)
class Sample:
    """What one cell measured, in seconds: the whole time, and the latency of each answer in it.

    `cpu_s` is the server's CPU time per answer in the cheapest window of the cell: on a shared
    machine a neighbour's burst makes the same work cost more, and a short window may miss it.
    """

    elapsed_s: float
    cpu_s: float
    latencies_s: list[float]


@dataclass(frozen=True)
class Load:
    """The load of one cell: where to, what, on how many connections and for how many seconds."""

    port: int
    body: bytes
    context: ssl.SSLContext
    connections: int
    warm_up_s: float
    measured_s: float

    def request(self) -> bytes:
        """Return the bytes of one whole request."""
        headers = {"Host": f"127.0.0.1:{self.port}", **HEADERS, "Content-Length": len(self.body)}
        lines = [f"POST {PATH} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + self.body


def measure(load: Load, cpu_seconds: Callable[[], float]) -> Sample:
    """Put the load on the server and return what it took.

    `cpu_seconds` reads the server's CPU time; it is read with no request on its way, so that CPU
    time and answers belong to each other exactly. Raises BenchmarkError on any answer but 200.
    """
    try:
        return uvloop.run(_measure(load, cpu_seconds))
    except TimeoutError as error:
        raise BenchmarkError(f"an answer took more than {_PATIENCE_S:.0f} s") from error
    except OSError as error:
        raise BenchmarkError(f"no connection: {error}") from error


async def _measure(load: Load, cpu_seconds: Callable[[], float]) -> Sample:
    opened: list[Connection] = []
    try:
        async with asyncio.timeout(_PATIENCE_S):
            while len(opened) < load.connections:
                opened.append(await _connect(load))
                # A gunicorn thread waits on a new connection until its first request.
                await _run(opened[-1:], 0.0)
        await _run(opened, load.warm_up_s)
        return await _sample(opened, load.measured_s / _WINDOWS, cpu_seconds)
    finally:
        for connection in opened:
            connection.close()


async def _sample(
    opened: list[Connection], window_s: float, cpu_seconds: Callable[[], float]
) -> Sample:
    latencies: list[float] = []
    costs: list[float] = []
    started = time.perf_counter()
    for _ in range(_WINDOWS):
        before = cpu_seconds()
        answers = await _run(opened, window_s)
        costs.append((cpu_seconds() - before) / len(answers))
        latencies += answers
    return Sample(time.perf_counter() - started, min(costs), latencies)


async def _connect(load: Load) -> Connection:
    loop, request = asyncio.get_running_loop(), load.request()
    _, connection = await loop.create_connection(
        lambda: Connection(request), "127.0.0.1", load.port, ssl=load.context
    )
    return connection


async def _run(connections: list[Connection], seconds: float) -> list[float]:
    """Keep one request on its way per connection, until the time is up and all are answered."""
    done = asyncio.get_running_loop().create_future()
    phase = Phase(time.perf_counter() + seconds, len(connections), done)
    for connection in connections:
        connection.start(phase)
    async with asyncio.timeout(seconds + _PATIENCE_S):
        await done
    return phase.latencies_s
