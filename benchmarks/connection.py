"""One keep-alive connection of the load client, and the phase of load it works for."""

import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from benchmarks.failure import BenchmarkError

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)\r\n")
_OK = b"HTTP/1.1 200 "


@dataclass
class Phase:
    """A stretch of load: when to stop sending, how many connections still wait, the outcome."""

    until: float
    waiting: int
    done: asyncio.Future[None]
    latencies_s: list[float] = field(default_factory=list)

    def finish_one(self) -> None:
        """Note that one connection has its last answer; the last one ends the phase."""
        self.waiting -= 1
        if self.waiting == 0 and not self.done.done():
            self.done.set_result(None)

    def fail(self, problem: str) -> None:
        """End the phase with a BenchmarkError, unless it has ended."""
        if not self.done.done():
            self.done.set_exception(BenchmarkError(problem))


class Connection(asyncio.Protocol):
    """One keep-alive connection with at most one request on its way."""

    _transport: asyncio.Transport
    _phase: Phase | None = None

    def __init__(self, requests: Iterator[bytes]) -> None:
        """Take where the bytes of each request come from; connections may share it."""
        self._requests = requests
        self._received = b""
        self._wanted = 0  # bytes of the whole answer, 0 until its head is read
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, TLS handshake done."""
        # uvloop's TLS transport has the methods of asyncio.Transport but is no subclass of it.
        self._transport = cast("asyncio.Transport", transport)

    def start(self, phase: Phase) -> None:
        """Send the first request of the phase."""
        self._phase = phase
        if self._transport.is_closing():
            phase.fail("the server closed a keep-alive connection")
        else:
            self._send()

    def close(self) -> None:
        """Drop the connection at once."""
        self._transport.abort()

    def _send(self) -> None:
        request = next(self._requests)
        self._sent = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Take a piece of the answer; when it is whole, send the next request."""
        self._received += data
        if not self._wanted:
            self._read_head()
        if self._wanted and len(self._received) >= self._wanted:
            self._answered()

    def _read_head(self) -> None:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._received[: end + 4]
        length = _LENGTH.search(head)
        if not head.startswith(_OK) or length is None:
            text = self._received[:300].decode(errors="replace")
            self._fail(f"expected a 200 answer with a Content-Length, and got: {text!r}")
        else:
            self._wanted = len(head) + int(length[1])

    def _answered(self) -> None:
        phase, now = self._phase, time.perf_counter()
        if phase is None or len(self._received) > self._wanted:
            self._fail("the server sent more than one answer to a request")
            return
        phase.latencies_s.append(now - self._sent)
        self._received, self._wanted = b"", 0
        if now < phase.until:
            self._send()
        else:
            phase.finish_one()

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the phase that still waits for an answer."""
        self._fail(f"the server closed a keep-alive connection: {exc or 'end of file'}")

    def _fail(self, problem: str) -> None:
        if self._phase is not None:
            self._phase.fail(problem)
