"""Callers of the webhook itself, each with a connection of its own that it keeps."""

import asyncio
import contextlib
import http.client
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import orjson
import uvloop

from tests import pods, webhook
from tests.wire import raw

_PROBE_EVERY = 0.1
_KUBELET_WAITS = 1.0  # timeoutSeconds, where a probe says nothing else
_PIECE = 2**17
_PATIENCE_SECONDS = 1000.0
"""For a handshake: how long it takes beside all others is the machine's to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answer to one request; times in seconds."""

    number: int
    status: int
    retry_after: str
    sent: float
    took: float
    """Since the request was due."""


@dataclass
class Flood:
    """What came of requests that were sent when they were due."""

    answers: list[Answered] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def with_status(self, status: int) -> list[Answered]:
        """Return the answers with this status."""
        return [answer for answer in self.answers if answer.status == status]


def flood(
    running: webhook.Webhook, requests: Sequence[bytes], *, callers: int, per_second: float
) -> Flood:
    """Send each request when it is due by one of so many callers; each waits for its answer."""
    return uvloop.run(_flood(running, requests, callers, per_second))


async def _flood(
    running: webhook.Webhook, requests: Sequence[bytes], callers: int, per_second: float
) -> Flood:
    found, due = Flood(), asyncio.Queue[tuple[int, float]]()
    each = [_Caller(running, running.tls()) for _ in range(callers)]
    await asyncio.gather(*(caller.connect() for caller in each))
    tasks = [asyncio.create_task(caller.work(due, requests, found)) for caller in each]
    begun = perf_counter()
    for number in range(len(requests)):
        at = begun + number / per_second
        await asyncio.sleep(at - perf_counter())
        due.put_nowait((number, at))
    await due.join()
    for task in tasks:
        task.cancel()
    for caller in each:
        caller.writer.transport.abort()
    await asyncio.sleep(0)  # their ends are heard of
    return found


@dataclass
class _Caller:
    running: webhook.Webhook
    context: ssl.SSLContext
    reader: asyncio.StreamReader = field(init=False)
    writer: asyncio.StreamWriter = field(init=False)

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1",
            self.running.port,
            ssl=self.context,
            server_hostname="127.0.0.1",
            ssl_handshake_timeout=_PATIENCE_SECONDS,
        )

    async def work(
        self, due: asyncio.Queue[tuple[int, float]], requests: Sequence[bytes], found: Flood
    ) -> None:
        while True:
            number, at = await due.get()
            try:
                found.answers.append(await self._ask(number, at, requests[number]))
            except (OSError, asyncio.IncompleteReadError) as error:
                found.failures.append(repr(error))
                with contextlib.suppress(OSError):
                    await self.connect()
            due.task_done()

    async def _ask(self, number: int, at: float, request: bytes) -> Answered:
        sent = perf_counter()
        sending = asyncio.create_task(self._send(request))
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        first, *lines = head.strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        await self.reader.readexactly(int(headers["content-length"]))
        answered = Answered(
            number=number,
            status=int(first.split()[1]),
            retry_after=headers.get("retry-after", ""),
            sent=sent,
            took=perf_counter() - at,
        )
        # Like Go's client: an answer before the end of the body ends the sending.
        early = not sending.done()
        sending.cancel()
        if early or headers.get("connection") == "close":
            self.writer.transport.abort()
            await self.connect()
        return answered

    async def _send(self, request: bytes) -> None:
        with contextlib.suppress(OSError):  # who reads the answer hears of it
            for start in range(0, len(request), _PIECE):
                self.writer.write(request[start : start + _PIECE])
                await self.writer.drain()


@dataclass
class Probes:
    """What the probes answered meanwhile."""

    red: int = 0
    """With another status than 200, or none."""
    seconds: list[float] = field(default_factory=list)
    """How long each took."""
    longest_unwell: float = 0
    """The longest time in which each was slower than kubelet waits, or red."""


@contextlib.contextmanager
def probed(running: webhook.Webhook) -> Iterator[Probes]:
    """Ask both probes all the while, each time on a new connection, as kubelet does."""
    found, stop = Probes(), threading.Event()

    def probe() -> None:
        well = time.perf_counter()
        while not stop.wait(_PROBE_EVERY):
            for path in ("/healthz", "/readyz"):
                begun = time.perf_counter()
                try:
                    green = running.ask(path=path, method="GET").status == 200
                except (OSError, http.client.HTTPException):
                    green = False
                ended = time.perf_counter()
                found.red += not green
                found.seconds.append(ended - begun)
                if green and ended - begun <= _KUBELET_WAITS:
                    well = ended
                found.longest_unwell = max(found.longest_unwell, ended - well)

    thread = threading.Thread(target=probe)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()


def request(number: int, size: int = 0) -> bytes:
    """Return a review of a GPU Pod with the uid `number`, its body filled up to `size` bytes."""
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"})
    review = webhook.review(pod, uid=str(number))
    pod["metadata"]["annotations"] = {"filler": ""}
    missing = size - len(orjson.dumps(review))
    pod["metadata"]["annotations"]["filler"] = "x" * max(missing, 0)
    return raw.request(orjson.dumps(review))
