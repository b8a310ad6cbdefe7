"""The load client: closed-loop HTTP/1.1 over TLS on keep-alive connections.

It lives in the benchmark's process, never in a server's, so its CPU time is not the server's.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.connection import Connection, Phase
from benchmarks.probe import HEADERS, PATH
from benchmarks.variants import Template

_PATIENCE_S = 30.0


@dataclass(frozen=True)
class Load:
    """The load of one server: where to, which Pods, and on how many connections.

    Each request takes the next of the numbers, which it is spelt from.
    """

    port: int
    template: Template
    numbers: Iterator[int]
    context: ssl.SSLContext
    connections: int

    def requests(self) -> Iterator[bytes]:
        """Yield the bytes of one whole request after another, no two of them the same."""
        length = sum(map(len, self.template.pieces))
        headers = {"Host": f"127.0.0.1:{self.port}", **HEADERS, "Content-Length": length}
        lines = [f"POST {PATH} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        head = "\r\n".join([*lines, "", ""]).encode()
        for number in self.numbers:
            yield head + self.template.filled(number)


@dataclass(frozen=True)
class Turn:
    """What one turn measured, in seconds: its time, CPU time per answer, and every latency."""

    elapsed_s: float
    cpu_s: float
    latencies_s: list[float]


@asynccontextmanager
async def connected(load: Load) -> AsyncIterator[list[Connection]]:
    """Open the connections, each with one answer, and close them at the end.

    Raises TimeoutError after 30 s, OSError, and BenchmarkError on any answer but 200.
    """
    loop, requests = asyncio.get_running_loop(), load.requests()
    opened: list[Connection] = []
    try:
        async with asyncio.timeout(_PATIENCE_S):
            while len(opened) < load.connections:
                _, connection = await loop.create_connection(
                    lambda: Connection(requests), "127.0.0.1", load.port, ssl=load.context
                )
                opened.append(connection)
                # A gunicorn thread waits on a new connection until its first request.
                await _run([connection], 0.0)
        yield opened
    finally:
        for connection in opened:
            connection.close()


async def take_turn(
    opened: list[Connection], warm_up_s: float, measured_s: float, cpu_seconds: Callable[[], float]
) -> Turn:
    """Put the load on the server and return what it took after the warm-up.

    `cpu_seconds` reads the server's CPU time; it is read with no request on its way, so that CPU
    time and answers belong to each other exactly. Raises TimeoutError when an answer takes more
    than 30 s, and BenchmarkError on any answer but 200.
    """
    await _run(opened, warm_up_s)
    started, before = time.perf_counter(), cpu_seconds()
    latencies = await _run(opened, measured_s)
    cpu_s = (cpu_seconds() - before) / len(latencies)
    return Turn(time.perf_counter() - started, cpu_s, latencies)


async def _run(connections: list[Connection], seconds: float) -> list[float]:
    """Keep one request on its way per connection, until the time is up and all are answered."""
    done = asyncio.get_running_loop().create_future()
    phase = Phase(time.perf_counter() + seconds, len(connections), done)
    for connection in connections:
        connection.start(phase)
    async with asyncio.timeout(seconds + _PATIENCE_S):
        await done
    return phase.latencies_s
