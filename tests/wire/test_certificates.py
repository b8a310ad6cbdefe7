"""Certificates that are replaced, broken, missing or ended, under a real server."""

import asyncio
import http.client
import json
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

import msgspec
from cryptography import x509

from berth.certs import authority
from berth.certs.authority import Pair
from berth.certs.rotation import Authority, Stored
from berth.certs.store import FileStore
from tests import pods, webhook
from tests.volume import HOUR, Volume
from tests.webhook import Webhook, running
from tests.wire import raw

REVIEW = json.dumps(webhook.review(pods.gpu_pod({"nvidia.com/gpu": "1"}))).encode()
QUICK = ("--set", "certificates.checkSeconds=0.3", "--set", "certificates.settleSeconds=1")
REST = 0.005  # seconds between two calls: without, they would take all of both processors


def shown(server: Webhook) -> int:
    """Return the serial number of the leaf that a new handshake shows, whoever signed it."""
    pem = ssl.get_server_certificate(("127.0.0.1", server.port), timeout=10)
    return x509.load_pem_x509_certificate(pem.encode()).serial_number


def serial(pair: Pair) -> int:
    """Return the serial number of a leaf."""
    return x509.load_pem_x509_certificate(pair.certificate).serial_number


def shows(server: Webhook, number: int) -> bool:
    """Wait until new handshakes show this leaf, no longer than L3 allows."""
    return raw.eventually(lambda: shown(server) == number, 15)


def more_than(count: Callable[[], int], before: int) -> bool:
    """Wait until there are more."""
    return raw.eventually(lambda: count() > before, 15)


def _expires(server: Webhook, what: str, ends: float) -> bool:
    """Whether the metric that alerts are built on says so, in seconds since 1970."""
    name = "berth_certificate_expiry_timestamp_seconds"
    return server.figure(name, certificate=what) == ends


def probed(server: Webhook, path: str) -> tuple[int, str]:
    """Ask as kubelet's probes do: without a look at the certificate."""
    blind = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=blind, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@dataclass
class Calls:
    """Calls that are made all the while, trusting what stands in a file when they connect."""

    server: Webhook
    trusted: Path
    stop: threading.Event = field(default_factory=threading.Event)
    kept: int = 0
    fresh: int = 0
    failures: list[Exception] = field(default_factory=list)

    def connect(self) -> http.client.HTTPSConnection:
        """Return a new connection."""
        trust = ssl.create_default_context(cafile=str(self.trusted))
        port = self.server.port
        return http.client.HTTPSConnection("127.0.0.1", port, context=trust, timeout=10)

    def ask(self, connection: http.client.HTTPSConnection) -> None:
        """Have one review answered."""
        connection.request("POST", "/mutate", REVIEW, webhook.JSON)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200

    def over_one_connection(self) -> None:
        """Call over a connection that is kept."""
        connection = self.connect()
        while not self.stop.wait(REST):
            self.ask(connection)
            self.kept += 1
        connection.close()

    def over_new_connections(self) -> None:
        """Call with a handshake each."""
        while not self.stop.wait(REST):
            connection = self.connect()
            self.ask(connection)
            connection.close()
            self.fresh += 1

    def noted(self, loop: Callable[[], None]) -> None:
        """Keep the first failure for the test to show."""
        try:
            loop()
        except Exception as error:  # noqa: BLE001  whatever it is
            self.failures.append(error)

    def least(self) -> int:
        """Return how many answers each way has had at least."""
        return min(self.kept, self.fresh)


@contextmanager
def called(server: Webhook, trusted: Path) -> Iterator[Calls]:
    """Call all the while, and fail where one call does."""
    calls = Calls(server, trusted)
    ways = (calls.over_one_connection, calls.over_new_connections)
    threads = [threading.Thread(target=calls.noted, args=(way,)) for way in ways]
    for thread in threads:
        thread.start()
    try:
        yield calls
    finally:
        calls.stop.set()
        for thread in threads:
            thread.join(30)
    assert calls.failures == []
    assert calls.least() > 0


def test_l3_a_new_certificate_on_disk_is_shown_and_no_call_fails(tmp_path: Path) -> None:
    """Under load, as kubelet swaps it: within 15 seconds, here at once; connections stay.

    Bug report 44, for the leaf.
    """
    volume = Volume(tmp_path / "tls")
    volume.publish(volume.pair())
    with running(tmp_path, *volume.flags()) as server:
        with called(server, volume.folder / "ca.crt") as calls:
            for _ in range(2):
                new = serial(volume.publish(volume.pair()))
                assert shows(server, new)
                assert more_than(calls.least, calls.least())
                for what, file in (("leaf", "tls.crt"), ("authority", "ca.crt")):
                    ends = authority.life((volume.folder / file).read_bytes())[1].timestamp()
                    assert raw.eventually(partial(_expires, server, what, ends))
        assert raw.eventually(lambda: len(server.logged("certificates.shown")) == 3)


def test_l4_a_broken_pair_on_disk_leaves_the_good_one_serving(tmp_path: Path) -> None:
    """Handshakes after it show the one before, the error is told, and the next pair heals it."""
    volume = Volume(tmp_path / "tls")
    good = volume.publish(volume.pair())
    half = volume.pair()
    broken = [
        Pair(half.certificate, good.key, good.authority),
        Pair(half.certificate[:200], half.key, half.authority),
        Pair(half.certificate, b"", half.authority),
        volume.pair(life=timedelta(seconds=-1)),
    ]
    trusted = volume.folder / "ca.crt"
    with running(tmp_path, *volume.flags(), *QUICK) as server, called(server, trusted):
        for number, pair in enumerate(broken):
            volume.publish(pair)
            assert more_than(lambda: len(server.logged("certificates.failed")), number)
            assert [shown(server) for _ in range(3)] == [serial(good)] * 3
            assert probed(server, "/readyz") == (200, "ok")
        assert shows(server, serial(volume.publish(volume.pair())))


def test_l6_without_a_certificate_it_lives_and_waits_for_one(tmp_path: Path) -> None:
    """Not even the folder is there at the start; the probes are answered meanwhile."""
    volume = Volume(tmp_path / "tls")
    with running(tmp_path, *volume.flags(), *QUICK) as server:
        assert probed(server, "/healthz") == (200, "ok")
        why = "not ready: certificate: none yet; see the log"
        assert probed(server, "/readyz") == (503, why)
        assert raw.eventually(lambda: bool(server.logged("certificates.failed")))
        (line,) = server.logged("certificates.failed")
        file = volume.folder / "tls.crt"
        assert line["why"] == f"{file}: cannot be read: No such file or directory"
        pair = volume.publish(volume.pair())
        assert raw.eventually(lambda: probed(server, "/readyz") == (200, "ok"), 15)
        assert shown(server) == serial(pair)


def test_l7_an_expired_certificate_is_not_ready_and_no_crash(tmp_path: Path) -> None:
    """Ended at the start, or while it serves; a new one makes it well."""
    volume = Volume(tmp_path / "tls")
    volume.publish(volume.pair(life=-HOUR / 2))
    with running(tmp_path, *volume.flags(), *QUICK) as server:
        status, why = probed(server, "/readyz")
        assert (status, why[:34]) == (503, "not ready: certificate: expired on")
        assert probed(server, "/healthz") == (200, "ok")
        assert raw.eventually(lambda: bool(server.logged("certificates.ending")))
        assert server.logged("certificates.ending")[0]["why"].startswith("expired")
        volume.publish(volume.pair(life=timedelta(seconds=8)))
        assert raw.eventually(lambda: probed(server, "/readyz")[0] == 200, 15)
        assert raw.eventually(lambda: probed(server, "/readyz")[0] == 503, 15)
        assert probed(server, "/healthz") == (200, "ok")
        volume.publish(volume.pair())
        assert raw.eventually(lambda: probed(server, "/readyz")[0] == 200, 15)


def test_l5_a_new_ca_takes_over_and_no_call_fails(tmp_path: Path) -> None:
    """Rotated by hand, outside a cluster: callers read the folder's ca.crt for each connection.

    Days pass in what is kept alone, so no machine is too slow for what has to be in between.
    """
    folder = tmp_path / "ours"
    own = ("--set", f"certificates.folder={folder}", "--set", "certificates.leafDays=7")
    slow = ("--set", "certificates.settleSeconds=86400")
    with running(tmp_path, *own, *QUICK, *slow, own_ca=True) as server:
        trusted, first = folder / "ca.crt", shown(server)
        before = trusted.read_bytes()
        kept = {file.name: file.stat().st_mode & 0o777 for file in folder.glob("[a-z]*")}
        assert kept == {"ca.crt": 0o644, "authorities.json": 0o600}
        with called(server, trusted) as calls:
            assert "until" in _certificates("show", *own)
            said = _certificates("rotate", *own)
            assert f"callers have to read {trusted} again" in said
            assert "under way already" in _certificates("rotate", *own)
            assert trusted.read_bytes().startswith(before)
            assert more_than(calls.least, calls.least())
            assert shown(server) == first, "callers may not have heard of the new CA yet"
            _pass(folder, timedelta(days=1))
            assert raw.eventually(lambda: shown(server) != first, 30)
            assert not trusted.read_bytes().startswith(before)
            assert before in trusted.read_bytes()  # its leaves last for some days more
            assert more_than(calls.least, calls.least())
            _pass(folder, timedelta(days=7 + 1))
            assert raw.eventually(lambda: before not in trusted.read_bytes(), 30)
            assert more_than(calls.least, calls.least())
        assert raw.eventually(lambda: len(server.logged("certificates.retired")) == 1)


def _pass(folder: Path, time: timedelta) -> None:
    """Have it be so long ago that the CAs in a folder were made, and signed."""

    def older(one: Authority) -> Authority:
        begins, signed = one.begins - time, one.leaves_end - time
        return msgspec.structs.replace(one, begins=begins, leaves_end=signed)

    async def written() -> bool:
        store = FileStore(folder)
        held = await store.read()
        assert held.stored is not None
        current, following, retired = msgspec.structs.astuple(held.stored)
        aged = Stored(
            current=older(current),
            next=older(following) if following else None,
            retired=tuple(map(older, retired)),
        )
        return await store.write(aged, held)

    assert asyncio.run(written())


def test_a_leaf_of_our_own_is_renewed_before_it_ends(tmp_path: Path) -> None:
    """At two thirds of its life: here of 8.6 seconds."""
    own = ("--set", f"certificates.folder={tmp_path / 'ours'}")
    short = ("--set", "certificates.leafDays=0.0001")
    with running(tmp_path, *own, *short, *QUICK, own_ca=True) as server:
        with called(server, tmp_path / "ours/ca.crt"):
            first = shown(server)
            assert raw.eventually(lambda: shown(server) != first, 15)
        assert probed(server, "/readyz")[0] == 200


def test_a_session_from_before_the_change_is_resumed_or_greeted_anew(tmp_path: Path) -> None:
    """With TLS 1.2 and 1.3: a ticket of the old pair must not end in an alert."""
    volume = Volume(tmp_path / "tls")
    volume.publish(volume.pair())
    with running(tmp_path, *volume.flags()) as server:
        contexts = []
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = ssl.create_default_context(cafile=str(volume.folder / "ca.crt"))
            context.minimum_version = context.maximum_version = version
            contexts.append((context, _session(server, context, None)))
        assert shows(server, serial(volume.publish(volume.pair())))
        for context, session in contexts:
            assert _session(server, context, session) is not None


def _session(
    server: Webhook, context: ssl.SSLContext, session: ssl.SSLSession | None
) -> ssl.SSLSession | None:
    """Ask once, with a session of before where there is one; return the session for the next."""
    with context.wrap_socket(
        raw.dial(server), server_hostname="127.0.0.1", session=session
    ) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        return connection.session


def _certificates(*words: str) -> str:
    command = [sys.executable, "-m", "berth", "certificates", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
