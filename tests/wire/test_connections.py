"""Vectors W7, W8, W15 and W17 to W19: connections, sizes and TLS."""

import asyncio
import contextlib
import json
import re
import socket
import ssl
import struct
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.streams import StreamReader
from aiohttp.test_utils import make_mocked_request

from berth.admission import bodies, mutate
from berth.admission.load import Load
from berth.errors import BadReview
from berth.settings import Registration, Server, Settings
from tests.pods import container, pod
from tests.vectors import laws
from tests.webhook import JSON, Webhook, review, running
from tests.wire import raw

MIB = 2**20
PLAIN = review(pod(container()))
ASKED = json.dumps(PLAIN).encode()


def alive(webhook: Webhook) -> bool:
    """Whether the process answers as ever."""
    return webhook.ask(ASKED).status == 200 and webhook.process.poll() is None


def refused_as_too_large(connection: ssl.SSLSocket) -> bool:
    """Whether HTTP 413 comes, and then the end of the connection."""
    stream = connection.makefile("rb")
    return raw.answer(stream).status == 413 and stream.read() == b""


def test_w7_a_body_over_8_mib_is_http_413(webhook: Webhook) -> None:
    """The promised length is enough to refuse it, before a byte of it came."""
    with raw.opened(webhook) as connection:
        connection.sendall(raw.request(b"", length=8 * MIB + 1))
        assert raw.answer(connection.makefile("rb")).status == 413
    assert webhook.ask(b" " * (8 * MIB + 1)).headers["Connection"] == "close"
    assert webhook.ask(b" " * 8 * MIB).status == 400, "8 MiB are read, and are no review"


@pytest.mark.parametrize("mib", [8, 64])
def test_w7_a_chunked_body_over_8_mib_is_http_413(webhook: Webhook, mib: int) -> None:
    """Without a promised length it is read to the limit; the rest costs no memory."""
    before = raw.peak_mib(webhook)
    chunk = b"%x\r\n%s\r\n" % (MIB, b" " * MIB)
    with raw.opened(webhook) as connection:
        connection.sendall(raw.request(b"", "Transfer-Encoding: chunked"))
        for _ in range(mib):
            connection.sendall(chunk)
        connection.sendall(b"1\r\n \r\n0\r\n\r\n")
        assert refused_as_too_large(connection)
    assert raw.peak_mib(webhook) - before < 48
    assert alive(webhook)


def large(mib: float) -> dict[str, Any]:
    """Return a GPU Pod of about this size."""
    env = [{"name": f"E{index}", "value": "x" * 1000} for index in range(int(mib * 1000))]
    return pod(container(limits={"nvidia.com/gpu": "1"}, env=env))


def test_w8_two_large_objects_are_answered_in_time(webhook: Webhook) -> None:
    """An UPDATE carries two objects as large as kube-apiserver takes them."""
    body = json.dumps(review(large(3.2), operation="UPDATE", oldObject=large(3.2))).encode()
    assert 6.5 * 10**6 < len(body) < 8 * MIB
    started = perf_counter()
    answer = webhook.ask(body)
    assert perf_counter() - started < Registration().timeout_seconds
    assert answer.response == {"uid": PLAIN["request"]["uid"], "allowed": True}


def test_w8_a_large_pod_is_patched_in_time(webhook: Webhook) -> None:
    """A Pod of 3 MiB is completed as any other."""
    asked = large(3)
    started = perf_counter()
    answer = webhook.ask(review(asked))
    assert perf_counter() - started < Registration().timeout_seconds
    laws.holds(asked, answer.response, mutate.decide(asked, "default", laws.SHIPPED))


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
def test_w15_a_caller_that_goes_away_leaves_nothing(webhook: Webhook, *, reset: bool) -> None:
    """Bodies that break off leave no open connection, no stack, and at most a line each."""
    before, lines = raw.open_files(webhook), written(webhook, "before")
    for _ in range(30):
        with raw.opened(webhook) as connection:
            connection.sendall(raw.request(ASKED[:-1], length=len(ASKED)))
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert raw.eventually(lambda: raw.open_files(webhook) <= before)
    more = written(webhook, "after")[len(lines) :]
    assert len(more) <= 31
    assert not [line for line in more if "error" in line or line["event"] == "stderr"]


def test_a_caller_gone_before_its_body_is_read_is_no_fault() -> None:
    """Then aiohttp raises RuntimeError rather than ConnectionError."""

    async def read() -> bytes:
        loop = asyncio.get_running_loop()
        gone = StreamReader(BaseProtocol(loop), 2**16, loop=loop)
        request = make_mocked_request("POST", "/mutate", JSON, payload=gone)
        return await bodies.read(request, Load(), Server(), None)

    with pytest.raises(BadReview, match="the caller went away"):
        asyncio.run(read())


def written(webhook: Webhook, moment: str) -> list[dict[str, Any]]:
    """Return the log until now, none of its lines still under way."""
    uid = f"w15-{moment}-{len(webhook.log)}"
    assert webhook.ask(PLAIN | {"request": {"uid": uid}}).status == 200
    raw.logged(webhook, uid)
    return list(webhook.log)


def test_w17_a_resting_connection_is_kept_by_the_setting(webhook: Webhook, tmp_path: Path) -> None:
    """It rests for idleSeconds: 120 as shipped, as kube-apiserver keeps its own for 90."""
    assert Settings().server.idle_seconds == 120
    with (
        raw.opened(webhook) as patient,
        running(tmp_path, "--set", "server.idleSeconds=0.5") as hasty,
        raw.opened(hasty) as impatient,
    ):
        started = perf_counter()
        for connection in (patient, impatient):
            connection.sendall(raw.request(ASKED))
            assert raw.answer(connection.makefile("rb")).status == 200
        assert impatient.recv(1) == b"", "the server closes it"
        assert 0.5 <= perf_counter() - started < 20
        patient.sendall(raw.request(ASKED))
        assert raw.answer(patient.makefile("rb")).status == 200, "and the other stays open"


def test_a_caller_that_asks_first_is_told_to_send_its_body(webhook: Webhook) -> None:
    """With Expect: 100-continue, as curl asks before a large one; a refused body is not asked for.

    After that the connection is as any other.
    """
    head = raw.request(b"", "Expect: 100-continue", f"Content-Length: {len(ASKED)}")
    with raw.opened(webhook) as connection:
        stream = connection.makefile("rb")
        for _ in range(2):
            connection.sendall(head)
            assert stream.readline() == b"HTTP/1.1 100 Continue\r\n"
            assert stream.readline() == b"\r\n"
            connection.sendall(ASKED)
            assert raw.answer(stream).status == 200
        connection.sendall(raw.request(b"", "Expect: 100-continue", f"Content-Length: {9 << 20}"))
        assert raw.answer(stream).status == 413


@pytest.mark.parametrize("count", [2, 10_000])
def test_w18_pipelined_requests_are_answered_in_order(webhook: Webhook, count: int) -> None:
    """One connection carries any number of requests, sent before their answers came."""
    requests = [raw.request(json.dumps(numbered(index)).encode()) for index in range(count)]

    async def ask() -> bytes:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", webhook.port, ssl=webhook.tls(), limit=8 * MIB
        )
        sending = asyncio.create_task(send(writer))
        answers = await reader.readuntil(b'"uid":"u%d"' % (count - 1))
        await sending
        writer.close()
        await writer.wait_closed()
        return answers

    async def send(writer: asyncio.StreamWriter) -> None:
        for start in range(0, count, 100):
            writer.write(b"".join(requests[start : start + 100]))
            await writer.drain()

    answers = asyncio.run(ask())
    assert re.findall(rb'"uid":"u(\d+)"', answers) == [b"%d" % index for index in range(count)]
    assert answers.count(b"HTTP/1.1 200 OK\r\n") == count
    assert b"\r\nConnection: close" not in answers


def numbered(index: int) -> dict[str, Any]:
    """Return the least of a review that is answered."""
    return PLAIN | {"request": {"uid": f"u{index}", "operation": "CREATE"}}


def test_w19_tls_1_1_is_refused(webhook: Webhook) -> None:
    """The handshake fails, and TLS 1.2 goes on working."""
    context = webhook.tls()
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with pytest.raises(ssl.SSLError), raw.opened(webhook, context):
        pass
    context = webhook.tls()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with raw.opened(webhook, context) as connection:
        assert connection.version() == "TLSv1.2"


def test_w19_plain_http_is_refused(webhook: Webhook) -> None:
    """Nothing is answered without TLS."""
    with raw.dial(webhook) as connection:
        connection.sendall(raw.request(ASKED))
        with contextlib.suppress(ConnectionError):  # a reset is as good an answer
            assert b"200" not in connection.recv(1000)
    assert alive(webhook)


def test_w19_a_caller_may_name_no_server(webhook: Webhook) -> None:
    """Callers by address send no SNI, and are served."""
    context = webhook.tls()
    context.check_hostname = False
    with raw.opened(webhook, context, name=None) as connection:
        connection.sendall(raw.request(ASKED))
        assert raw.answer(connection.makefile("rb")).status == 200


def test_w19_a_caller_with_another_name_in_mind_goes_away(webhook: Webhook) -> None:
    """Our certificate vouches for our names alone, so a misrouted caller fails its handshake."""
    with pytest.raises(ssl.SSLCertVerificationError), raw.opened(webhook, name="wrong.example"):
        pass
    assert alive(webhook)


def test_l2_l6_a_server_of_its_own_certificate_leaves_at_the_first_signal(tmp_path: Path) -> None:
    """Without files it makes a certificate and is ready; at rest it ends at once, without error."""
    with running(tmp_path, "--cert-file", "", "--key-file", "") as webhook:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with raw.opened(webhook, context, name=None) as connection:
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: webhook\r\n\r\n")
            assert raw.answer(connection.makefile("rb")).status == 200
        webhook.process.terminate()
        assert webhook.process.wait(Settings().server.drain_seconds / 2) == 0
