"""Load and faults: what is too much, too slow or too late costs nobody else."""

import contextlib
import json
import socket
import ssl
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import pods, webhook
from tests.soak import callers
from tests.wire import raw

SLOW = Path(__file__).parents[1] / "soak" / "slow.py"

ASKED = webhook.review(pods.gpu_pod({"nvidia.com/gpu": "1"}))
BODY = json.dumps(ASKED).encode()


def _closed(connection: socket.socket, within: float = 10) -> bytes:
    """Read until the server closes; return what it sent. Fails after `within` seconds."""
    connection.settimeout(within)
    received = b""
    try:
        while chunk := connection.recv(65536):
            received += chunk
    except ConnectionResetError:
        pass
    return received


def test_w12_an_answer_that_would_come_too_late_is_not_computed(tmp_path: Path) -> None:
    """504 before the caller's time is over, and no decision is told of."""
    with webhook.running(tmp_path) as running, raw.opened(running) as connection:
        head = raw.request(BODY).replace(b"/mutate", b"/mutate?timeout=3s")
        started = time.monotonic()
        connection.sendall(head[:-100])
        assert raw.answer(connection.makefile("rb")).status == 504
        assert time.monotonic() - started < 3
        assert running.ask(ASKED, path="/mutate?timeout=1ns").status == 504
        assert running.ask(ASKED, path="/mutate?timeout=5s").status == 200
        late = {"operation": "", "resource": "pods", "result": "late"}
        assert running.figure("hami_webhook_requests_total", **late) == 2
        assert running.reviews == 1


def test_w16_a_head_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    """After server.headerSeconds the connection is closed, however the bytes trickle in."""
    with (
        webhook.running(tmp_path, "--set", "server.headerSeconds=0.5") as running,
        raw.opened(running) as connection,
    ):
        connection.sendall(b"POST /mutate HTTP/1.1\r\nHost: web")
        assert _closed(connection) == b""


def test_w16_a_connection_that_asked_in_time_may_rest(tmp_path: Path) -> None:
    """The limit is for its first request alone: idle connections stay open."""
    with (
        webhook.running(tmp_path, "--set", "server.headerSeconds=0.3") as running,
        raw.opened(running) as connection,
    ):
        for _ in range(2):
            connection.sendall(raw.request(BODY))
            assert raw.answer(connection.makefile("rb")).status == 200
            _pass(0.6)


def test_a_connection_without_a_handshake_is_closed(tmp_path: Path) -> None:
    """After server.handshakeSeconds."""
    with (
        webhook.running(tmp_path, "--set", "server.handshakeSeconds=0.5") as running,
        raw.dial(running) as connection,
    ):
        assert _closed(connection) == b""
        assert running.ask(ASKED).status == 200


def test_w14_more_bytes_than_the_limit_are_asked_to_come_again(tmp_path: Path) -> None:
    """Bodies count as they come; probes are green; room is given back."""
    limit = 8 * 2**20
    with webhook.running(tmp_path, "--set", f"server.mostBytesHeld={limit}") as running:
        with raw.opened(running) as connection:
            connection.sendall(raw.request(b" " * (limit - 100), length=limit))
            assert raw.eventually(lambda: held(running) == limit - 100)
            refused = running.ask(ASKED)
            assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
            assert running.ask(path="/readyz", method="GET").status == 200
            assert running.figure("berth_requests_rejected_total", reason="bytes") == 1
        assert raw.eventually(lambda: held(running) == 0)
        assert running.ask(ASKED).status == 200


def held(running: webhook.Webhook) -> float:
    """Return how many bytes of bodies the webhook says that it holds."""
    return running.figure("berth_body_bytes_held")


def test_w14_who_announces_much_and_sends_nothing_keeps_nobody_out(tmp_path: Path) -> None:
    """Eight times 8 MiB are announced where 32 may be held, with a length or in chunks."""
    chunked = raw.request(b"1\r\n{\r\n", "Transfer-Encoding: chunked")
    patient = ("--set", "server.bodySeconds=100")
    with webhook.running(tmp_path, *patient) as running, contextlib.ExitStack() as stack:
        for number in range(8):
            silent = stack.enter_context(raw.opened(running))
            silent.sendall(chunked if number % 2 else raw.request(b"{", length=8 * 2**20))
        assert raw.eventually(lambda: running.figure("berth_requests_in_flight") == 8)
        assert raw.eventually(lambda: held(running) == 8)
        assert running.ask(ASKED).status == 200
        assert running.figure("berth_requests_rejected_total", reason="bytes") == 0


def test_w14_a_body_that_outgrows_the_limit_as_it_comes_is_asked_to_come_again(
    tmp_path: Path,
) -> None:
    """Of two that began when there was room; the other one is read to its end."""
    limit, half = 8 * 2**20, b" " * (5 * 2**20)
    head = raw.request(b" ", length=len(half) + len(BODY))
    with (
        webhook.running(tmp_path, "--set", f"server.mostBytesHeld={limit}") as running,
        raw.opened(running) as first,
        raw.opened(running) as second,
    ):
        for connection in (first, second):
            connection.sendall(head)
        assert raw.eventually(lambda: held(running) == 2)
        first.sendall(half[1:])
        assert raw.eventually(lambda: held(running) == len(half) + 1)
        second.sendall(half[1:])
        refused = raw.answer(second.makefile("rb"))
        assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
        assert raw.eventually(lambda: held(running) == len(half))
        first.sendall(BODY)
        assert raw.answer(first.makefile("rb")).status == 200
        assert raw.eventually(lambda: held(running) == 0)


def test_w14_what_comes_while_decisions_take_long_is_asked_to_come_again(tmp_path: Path) -> None:
    """Whole requests count as bodies that trickle in do: they do not wait one behind the other."""
    planted = (str(SLOW), "0.3")
    limit = ("--set", "server.mostInFlight=2")
    with (
        webhook.running(tmp_path, *limit, berth=planted) as running,
        contextlib.ExitStack() as stack,
    ):
        connections = [stack.enter_context(raw.opened(running)) for _ in range(12)]
        for connection in connections:
            connection.sendall(raw.request(BODY))
        statuses = [raw.answer(connection.makefile("rb")).status for connection in connections]
    # One is decided when the others come, of which two are taken.
    assert set(statuses) == {200, 503}
    assert statuses.count(503) >= 6


def test_memory_stays_bounded_with_64_clients_that_send_8_mib(tmp_path: Path) -> None:
    """All are answered: some with what they asked, the rest with 503."""
    large = [callers.request(0, 8 * 2**20)] * 64
    # Whatever else the machine has to do, nobody is late: not with his handshake, which 64 begin
    # at once, nor with the head after it, nor with the body.
    limits = ("server.handshakeSeconds", "server.headerSeconds", "server.bodySeconds")
    patient = [word for limit in limits for word in ("--set", f"{limit}=1000")]
    with webhook.running(tmp_path, *patient) as running:
        found = callers.flood(running, large, callers=64, per_second=1e6)
        statuses = [answer.status for answer in found.answers]
        assert statuses.count(200) >= 1
        assert set(statuses) <= {200, 503}
        assert not found.failures
        assert raw.peak_mib(running) < 256  # half the memory that `berth manifests` gives it
        assert running.ask(ASKED).status == 200


def test_probes_are_answered_while_a_large_body_is_parsed(tmp_path: Path) -> None:
    """Two MiB that take longest to parse: no probe waits for more than a part of that time."""
    body = b" " + b"[" + b",".join([b"{}"] * (2 * 2**20 // 3)) + b"]"
    answered = threading.Event()
    with webhook.running(tmp_path) as running:

        def ask() -> float:
            with raw.opened(running) as connection:
                began = time.monotonic()
                connection.sendall(raw.request(body))
                assert raw.answer(connection.makefile("rb")).status == 400
                answered.set()
                return time.monotonic() - began

        with ThreadPoolExecutor(1) as pool, raw.opened(running) as connection:
            whole, waits, stream = pool.submit(ask), [0.0], connection.makefile("rb")
            while not answered.is_set():
                began = time.monotonic()
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: webhook\r\n\r\n")
                assert raw.answer(stream).status == 200
                waits.append(time.monotonic() - began)
            assert max(waits) < whole.result() / 2


def _pass(seconds: float) -> None:
    """Let time pass, of which the law itself speaks."""
    ended = time.monotonic() + seconds
    assert raw.eventually(lambda: time.monotonic() > ended)


def test_l13_a_loop_that_hangs_ends_the_process(tmp_path: Path) -> None:
    """The stack of every thread is on stderr, and kubelet starts another."""
    planted = (str(SLOW), "30")
    flags = ("--set", "server.hangSeconds=1")
    with (
        webhook.running(tmp_path, *flags, berth=planted) as running,
        raw.opened(running) as connection,
    ):
        connection.sendall(raw.request(BODY))
        assert running.process.wait(20) == 1
    assert any("Timeout" in line.get("text", "") for line in running.log)


def test_l13_the_operators_port_answers_from_threads_of_its_own(tmp_path: Path) -> None:
    """Probes and metrics need no turn of the event loop, which tells how long it was held."""
    planted = (str(SLOW), "3")
    with webhook.running(tmp_path, berth=planted) as running, raw.opened(running) as connection:
        connection.sendall(raw.request(BODY))
        assert raw.eventually(lambda: running.figure("berth_requests_in_flight") == 1)
        for path in ("/healthz", "/readyz", "/metrics"):
            assert running.operator(path).status == 200
        assert running.operator("/mutate").status == 404
        connection.settimeout(0)
        with pytest.raises(ssl.SSLWantReadError):
            connection.recv(1)  # no answer yet: the loop was held all the while
        connection.settimeout(10)
        assert raw.answer(connection.makefile("rb")).status == 200
        assert raw.eventually(lambda: _late(running) == 1)


def _late(running: webhook.Webhook) -> float:
    """Return how often the event loop came more than a second late."""
    name = "berth_event_loop_lag_seconds"
    return running.figure(f"{name}_count") - running.figure(f"{name}_bucket", le="1.0")


def test_the_operators_port_cuts_who_asks_nothing(tmp_path: Path) -> None:
    """Each would hold a thread; one that goes away leaves no stack in the log."""
    with webhook.running(tmp_path) as running:
        address = ("127.0.0.1", running.metrics)
        with contextlib.ExitStack() as stack:
            silent = [stack.enter_context(socket.create_connection(address)) for _ in range(8)]
            gone = socket.create_connection(address)
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            gone.close()
            assert running.operator("/healthz").status == 200
            assert [_closed(connection, 20) for connection in silent] == [b""] * 8
        assert running.operator("/healthz").status == 200
    assert not running.logged("stderr")


def test_idle_callers_of_the_operators_port_keep_nobody_out(tmp_path: Path) -> None:
    """Of more than some the first are cut: kubelet, which asks last, ends no process that is well.

    Nor do they hold threads without end.
    """
    with webhook.running(tmp_path) as running, contextlib.ExitStack() as stack:
        address = ("127.0.0.1", running.metrics)
        for _ in range(200):
            idle = stack.enter_context(socket.create_connection(address, timeout=30))
            idle.sendall(b"GET")
        for path in ("/healthz", "/metrics"):
            assert running.operator(path).status == 200
        assert raw.eventually(lambda: _threads(running) < 60)
    assert not running.logged("stderr")
    assert not running.logged("operator.fault")


def _threads(running: webhook.Webhook) -> int:
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    return int(status.split("Threads:")[1].split()[0])
