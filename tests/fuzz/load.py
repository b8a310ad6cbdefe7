"""Sends hostile requests to a running server over a few connections, and judges what it does."""

import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import BinaryIO

from tests.fuzz import checks
from tests.fuzz.case import MOST, Case

Make = Callable[[int], Case]

CONNECTIONS = 4
DEADLINE_S = 10.0
"""No answer within this time is a hang: kube-apiserver has given up after 5 s, as we register.

The costliest body takes the server 0.8 s of CPU. With the fuzzer, and with other work on the same
two cores, the slowest answer came after 2.7 s, and once after 5 s.
"""
_LARGE = 2**20 + 2**16
"""Larger bodies wait for each other, as they would in the server: what is timed is one alone."""
SAMPLES = 400
"""So often is memory looked at in a run."""
_PATCHES = 4  # one patch of so many is applied


@dataclass(frozen=True)
class Target:
    """A server that runs."""

    port: int
    tls: ssl.SSLContext
    pid: int
    deadline: float = DEADLINE_S

    def rss_mib(self) -> float:
        """Return its resident memory in MiB."""
        return self._memory("VmRSS:")

    def peak_mib(self) -> float:
        """Return the most that it ever was."""
        return self._memory("VmHWM:")

    def _memory(self, figure: str) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split(figure)[1].split()[0]) / 1024

    def dial(self) -> ssl.SSLSocket:
        """Open a connection."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=self.deadline)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.tls.wrap_socket(plain, server_hostname="127.0.0.1")


@dataclass(frozen=True)
class Finding:
    """A request that the server did not survive as it should."""

    number: int
    case: Case
    what: str

    def __str__(self) -> str:
        sent = self.case.raw or self.case.body
        shown = sent[:2048].decode("latin-1").encode("unicode_escape").decode()
        where = f"{self.case.kind}, {self.case.method} {self.case.path[:100]}, {len(sent)} bytes"
        return f"number {self.number} ({where}): {self.what}\n  {shown}"


@dataclass
class Outcome:
    """What came of a run."""

    statuses: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    slowest: tuple[float, int, str] = (0.0, 0, "")
    """Seconds, number and kind of the request that took longest."""
    memory: dict[int, float] = field(default_factory=dict)
    """What the server has resident after some of the requests, in MiB, by their numbers."""

    @property
    def done(self) -> int:
        """How many requests are through."""
        return sum(self.kinds.values())


class Caller:
    """One connection that is kept alive, and opened again where the server closed it."""

    def __init__(self, target: Target, outcome: Outcome, make: Make, turn: threading.Lock) -> None:
        """Call `target`, and add to `outcome`; hold `turn` while a large body is under way."""
        self._target = target
        self._outcome = outcome
        self._turn = turn
        self._make = make
        self._open: ssl.SSLSocket | None = None
        self._stream: BinaryIO | None = None

    def run(self, numbers: range, every: int) -> None:
        """Send these requests, one after another; look at memory after `every` so many."""
        for count, number in enumerate(numbers):
            case = self._make(number)
            with self._turn if len(case.body) > _LARGE else nullcontext():
                status, what = self._judged(case, number)
            outcome = self._outcome
            outcome.statuses[status] += 1
            outcome.kinds[case.kind] += 1
            if count % every == 0:
                outcome.memory[number] = self._target.rss_mib()
            if what:
                outcome.findings.append(Finding(number, case, what))
        self._close()

    def _judged(self, case: Case, number: int) -> tuple[str, str | None]:
        try:
            if case.raw:
                return self._alone(case)
            started = perf_counter()
            status, answer = self._ask(case)
            took = perf_counter() - started  # and not what judging it takes
        except TimeoutError:
            self._close()
            return "hang", f"no answer within {self._target.deadline:g} s"
        except OSError as error:
            self._close()
            return "closed", f"no answer: {error!r}"
        self._outcome.slowest = max(self._outcome.slowest, (took, number, case.kind))
        applied = number % _PATCHES == 0
        return str(status), checks.wrong(case, status, answer, applied=applied)

    def _ask(self, case: Case) -> tuple[int, bytes]:
        kept = self._open is not None
        if self._open is None or self._stream is None:
            self._open = self._target.dial()
            self._stream = self._open.makefile("rb")
        try:
            self._open.settimeout(self._target.deadline)
            sent = _send(self._open, case.wire)
            status, headers, answer = _read(self._stream)
        except (ConnectionError, ssl.SSLError):
            self._close()
            if not kept or not case.body:
                raise
            # The server closed a kept connection meanwhile, as it may: once more on a new one.
            return self._ask(case)
        if not sent or headers.get(b"connection", b"").lower() == b"close":
            self._close()
        return status, answer

    def _alone(self, case: Case) -> tuple[str, str | None]:
        """Send what is no HTTP: any answer but 5xx will do, and none as well, in time."""
        with self._target.dial() as connection:
            _send(connection, case.raw)
            if case.ends:
                return "gone", None
            try:
                answer = connection.recv(65536)
            except (ConnectionError, ssl.SSLError):
                answer = b""
        if not answer.startswith(b"HTTP/1."):
            return "closed", f"not HTTP: {answer[:100]!r}" if answer else None
        status = answer[9:12].decode("latin-1")
        return status, f"HTTP {status}" if status.startswith("5") else None

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        if self._open is not None:
            self._open.close()
        self._open = self._stream = None


def _send(connection: ssl.SSLSocket, data: bytes) -> bool:
    """Send; False where the server closed before the end, as it may with too large a body."""
    try:
        connection.sendall(data)
    except (ConnectionError, ssl.SSLError):
        if len(data) <= MOST:
            raise
        return False
    return True


def _read(stream: BinaryIO) -> tuple[int, dict[bytes, bytes], bytes]:
    status = 100
    headers: dict[bytes, bytes] = {}
    while status < 200:  # 100 Continue
        line = stream.readline()
        if not line:
            raise ConnectionResetError("closed without an answer")
        status = int(line.split(None, 2)[1])
        headers = {}
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
    length = int(headers.get(b"content-length", b"0"))
    body = stream.read(length)
    if len(body) < length:
        raise ConnectionResetError("closed within the answer")
    return status, headers, body


def run(
    target: Target, make: Make, numbers: range, watch: Callable[[Outcome], None] | None = None
) -> Outcome:
    """Send these requests over several connections; `watch` is called about once a second."""
    outcomes = [Outcome() for _ in range(CONNECTIONS)]
    turn = threading.Lock()
    every = max(1, len(numbers) // SAMPLES)
    threads = [
        threading.Thread(
            target=Caller(target, outcome, make, turn).run, args=(numbers[n::CONNECTIONS], every)
        )
        for n, outcome in enumerate(outcomes)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(1)
            if watch:
                watch(_sum(outcomes))
    return _sum(outcomes)


def _sum(outcomes: list[Outcome]) -> Outcome:
    total = Outcome()
    for one in outcomes:
        total.statuses.update(one.statuses)
        total.kinds.update(one.kinds)
        total.findings.extend(one.findings)
        total.slowest = max(total.slowest, one.slowest)
        total.memory.update(one.memory)
    return total
