"""Who may call: the real process behind real TLS, asked with real client certificates."""

import json
import socket
import ssl
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from tests.certificates import Authority, Issued
from tests.pods import container, pod
from tests.webhook import Answer, Webhook, review, running
from tests.wire import raw

ASKED = json.dumps(review(pod(container()))).encode()
GUARDED = ("/mutate", "/webhook", "/inject/any", "/validate")
PROBES = ("/healthz", "/readyz")
APISERVER = "kube-apiserver-admission"
VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@dataclass(frozen=True)
class Guarded:
    """A webhook that asks for certificates, and who signs them."""

    webhook: Webhook
    known: Authority
    foreign: Authority
    intermediate: Authority

    def tls(self, issued: Issued | None) -> ssl.SSLContext:
        """Return a client's context that shows this certificate."""
        context = self.webhook.tls()
        if issued:
            context.load_cert_chain(issued.certificate, issued.key)
        return context

    def ask(self, issued: Issued | None, path: str = "/mutate") -> Answer:
        """Ask once, over a connection of its own."""
        return asked(self.webhook, self.tls(issued), path)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Give a webhook that knows two names of one authority, and of an intermediate one."""
    folder = tmp_path_factory.mktemp("callers")
    known, foreign = Authority(folder, "known"), Authority(folder, "foreign")
    intermediate = Authority(folder, "intermediate", above=foreign)
    bundle = folder / "bundle.crt"
    bundle.write_bytes(known.file.read_bytes() + intermediate.file.read_bytes())
    flags = flagged(clientCaFile=str(bundle), clientNames="apiserver,spiffe://a/apiserver")
    with running(folder, *flags) as webhook:
        yield Guarded(webhook, known, foreign, intermediate)


def flagged(**callers: str) -> list[str]:
    """Return the flags of these settings."""
    return [word for key, value in callers.items() for word in ("--set", f"callers.{key}={value}")]


def asked(webhook: Webhook, context: ssl.SSLContext, path: str, agent: str = APISERVER) -> Answer:
    """Ask once, over a connection of its own."""
    head = f"User-Agent: {agent}", f"Content-Length: {len(ASKED)}"
    request = raw.request(ASKED, *head)
    with raw.opened(webhook, context) as connection:
        connection.sendall(request.replace(b"/mutate", path.encode(), 1))
        return raw.answer(connection.makefile("rb"))


def test_who_has_a_name_that_may_call_is_answered(guarded: Guarded) -> None:
    """As common name, DNS name or URI, signed by any authority of the bundle."""
    for issued in (
        guarded.known.issue("apiserver"),
        guarded.known.issue("x", "y", "apiserver"),
        guarded.known.issue("z", uri="spiffe://a/apiserver"),
        guarded.intermediate.issue("apiserver"),
    ):
        assert guarded.ask(issued).response["allowed"] is True


@pytest.mark.parametrize("path", GUARDED)
def test_who_has_none_is_refused(guarded: Guarded, path: str) -> None:
    """HTTP 403 with a short text that says why, and the connection ends."""
    for issued, why in (
        (None, "no client certificate was shown in this handshake (callers.clientCaFile)"),
        (guarded.known.issue("other", "apiserver.example"), "(callers.clientNames)"),
    ):
        answer = guarded.ask(issued, path)
        assert answer.status == 403
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert answer.headers["Connection"] == "close"
        assert why in answer.body.decode()
        assert len(answer.body) <= 200


@pytest.mark.parametrize("version", VERSIONS)
def test_a_certificate_of_a_foreign_authority_ends_the_handshake(
    guarded: Guarded, version: ssl.TLSVersion
) -> None:
    """Whatever its name, no byte of HTTP is answered; so with one that has run out."""
    strangers = (
        guarded.foreign.issue("apiserver"),
        guarded.known.issue("apiserver", life=timedelta(days=-1)),
    )
    for issued in strangers:
        context = guarded.tls(issued)
        context.minimum_version = context.maximum_version = version
        assert silent(guarded.webhook, context)
    assert guarded.ask(guarded.known.issue("apiserver")).status == 200


def silent(webhook: Webhook, context: ssl.SSLContext) -> bool:
    """Whether a probe over this connection is not answered: TLS 1.3 fails only while reading."""
    try:
        with raw.opened(webhook, context) as connection:
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: webhook\r\n\r\n")
            return connection.recv(1) == b""
    except OSError:  # an SSLError is one
        return True


def test_the_probes_are_for_everyone(guarded: Guarded) -> None:
    """Kubelet shows no certificate."""
    for path in PROBES:
        assert guarded.webhook.ask(path=path, method="GET").status == 200


def resumed(guarded: Guarded, version: ssl.TLSVersion) -> tuple[bool, int]:
    """Ask, and over a second connection once more: whether that resumed, and its answer."""
    context = guarded.tls(guarded.known.issue("apiserver"))
    context.minimum_version = context.maximum_version = version
    with raw.opened(guarded.webhook, context) as first:
        first.sendall(raw.request(ASKED))
        assert raw.answer(first.makefile("rb")).status == 200
        with (
            raw.dial(guarded.webhook) as plain,
            context.wrap_socket(
                plain, server_hostname="127.0.0.1", session=first.session
            ) as second,
        ):
            second.sendall(raw.request(ASKED))
            status = raw.answer(second.makefile("rb")).status
            return bool(second.session_reused), status


def test_tls_1_3_resumes_no_session(guarded: Guarded) -> None:
    """Each connection is verified, as what was once shown may have run out since."""
    assert resumed(guarded, ssl.TLSVersion.TLSv1_3) == (False, 200)


def test_a_session_that_tls_1_2_resumes_shows_no_certificate(guarded: Guarded) -> None:
    """OpenSSL has it from a cache of its own: nothing was verified, and it is refused."""
    assert resumed(guarded, ssl.TLSVersion.TLSv1_2) == (True, 403)


def test_tls_1_1_is_refused_with_a_certificate_too(guarded: Guarded) -> None:
    """TLS 1.2 at least, whoever asks."""
    context = guarded.tls(guarded.known.issue("apiserver"))
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with pytest.raises(ssl.SSLError), raw.opened(guarded.webhook, context):
        pass


def test_a_stranger_sends_no_body(guarded: Guarded) -> None:
    """The answer comes before a byte of it, whatever the head promises."""
    with raw.opened(guarded.webhook) as connection:
        connection.sendall(raw.request(b"", length=100 * 2**20))
        stream = connection.makefile("rb")
        assert raw.answer(stream).status == 403


def test_strangers_are_logged_once_a_minute(tmp_path: Path) -> None:
    """The first leaves a line that says who and why; all are counted.

    A line of JSON too where the User-Agent holds a byte that is no UTF-8.
    """
    with running(tmp_path, *flagged(userAgents=APISERVER)) as webhook:
        for _ in range(5):
            assert asked(webhook, webhook.tls(), "/mutate", "curl/8\udcff").status == 403
        assert asked(webhook, webhook.tls(), "/mutate").status == 200
        assert webhook.figure("berth_callers_refused_total") == 5
        assert webhook.figure("hami_webhook_requests_total", result="stranger") == 5
    (line,) = webhook.logged("caller.refused")
    assert line["level"] == "warning"
    assert (line["address"], line["agent"]) == ("127.0.0.1", "curl/8\udcff")
    assert not webhook.logged("stderr")
    assert line["why"] == "this User-Agent may not call (callers.userAgents)"


@pytest.mark.parametrize(
    ("sources", "status"),
    [("127.0.0.0/8", 200), ("10.0.0.0/8,::/0", 403)],
    ids=["of the range", "of no range"],
)
def test_the_address_counts(tmp_path: Path, sources: str, status: int) -> None:
    """All of IPv6 holds no IPv4 caller; the probes come from anywhere."""
    with running(tmp_path, *flagged(sources=sources)) as webhook:
        assert asked(webhook, webhook.tls(), "/mutate").status == status
        assert webhook.ask(path="/readyz", method="GET").status == 200


def test_an_ipv6_caller_is_known_by_its_range(tmp_path: Path) -> None:
    """Over the loopback of IPv6."""
    for sources, status in (("10.0.0.0/8,::1/128", 200), ("fd00::/8,0.0.0.0/0", 403)):
        with running(tmp_path, "--host", "::1", *flagged(sources=sources)) as webhook:
            context = webhook.tls()
            context.check_hostname = False
            with (
                socket.create_connection(("::1", webhook.port), timeout=30) as plain,
                context.wrap_socket(plain) as secure,
            ):
                secure.sendall(raw.request(ASKED))
                assert raw.answer(secure.makefile("rb")).status == status


def test_all_that_is_set_must_hold(tmp_path: Path) -> None:
    """The right certificate from the right place, but not in the name of the API server."""
    known = Authority(tmp_path, "known")
    flags = flagged(clientCaFile=str(known.file), sources="127.0.0.1", userAgents=APISERVER)
    issued = known.issue("anyone")
    with running(tmp_path, *flags) as webhook:
        guarded = Guarded(webhook, known, known, known)
        assert guarded.ask(issued).status == 200
        assert asked(webhook, guarded.tls(issued), "/mutate", "curl/8").status == 403
        assert guarded.ask(None).status == 403


def test_new_authorities_are_taken_without_a_restart(tmp_path: Path) -> None:
    """The file is replaced: the next handshake is judged by it. A broken one changes nothing."""
    old, new = Authority(tmp_path, "old"), Authority(tmp_path, "new")
    bundle = tmp_path / "bundle.crt"
    bundle.write_bytes(old.file.read_bytes())
    flags = (*flagged(clientCaFile=str(bundle)), "--set", "certificates.checkSeconds=0.1")
    with running(tmp_path, *flags) as webhook:
        guarded = Guarded(webhook, old, new, new)
        before, after = old.issue("a"), new.issue("a")
        assert guarded.ask(before).status == 200
        _replace(bundle, b"not a certificate")
        _await(lambda: bool(webhook.logged("certificates.failed")))
        assert "bundle.crt cannot be used" in webhook.logged("certificates.failed")[0]["why"]
        assert guarded.ask(before).status == 200
        _replace(bundle, new.file.read_bytes())
        _await(lambda: _answered(guarded, after))
        assert not _answered(guarded, before)
        assert guarded.ask(None).status == 403


def test_who_may_call_is_taken_without_a_restart(tmp_path: Path) -> None:
    """Ranges and the like, with the rest of the settings.

    A `clientCaFile` that is new waits for a new process, which alone asks for certificates: until
    then nobody is shut out for it.
    """
    file = tmp_path / "settings.yaml"
    file.write_text("callers: {sources: [127.0.0.1]}")
    Authority(tmp_path, "known")
    with running(tmp_path, "--config", str(file), "--set", "reload.everySeconds=0.1") as webhook:

        def status() -> int:
            return asked(webhook, webhook.tls(), "/mutate").status

        assert status() == 200
        file.write_text("callers: {sources: [192.0.2.0/24]}")
        _await(lambda: status() == 403)
        assert "callers" not in webhook.operator("/readyz").body.decode()
        file.write_text(f"callers: {{clientCaFile: {tmp_path / 'known.crt'}, clientNames: [a]}}")
        _await(lambda: status() == 200)
        said = webhook.operator("/readyz").body.decode()
        assert "a new process is needed for callers.clientCaFile" in said


def _replace(file: Path, content: bytes) -> None:
    """Write a file as whole as a Secret's volume does."""
    file.with_suffix(".new").write_bytes(content)
    file.with_suffix(".new").replace(file)


def _answered(guarded: Guarded, issued: Issued) -> bool:
    try:
        return guarded.ask(issued).status == 200
    except (OSError, IndexError):  # no handshake, or with TLS 1.3 an end right after it
        return False


def _await(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


UNUSABLE = {
    "no file": ("none.crt", "none.crt cannot be used: No such file"),
    "no certificate in it": ("empty.crt", "empty.crt cannot be used: "),
    "a key": ("known-x.key", "known-x.key cannot be used: "),
    "broken": ("broken.crt", "broken.crt cannot be used: "),
}


@pytest.mark.parametrize(("file", "said"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_bundle_that_cannot_be_used_stops_the_start(file: str, said: str, tmp_path: Path) -> None:
    """One sentence, exit code 2: never a server that lets strangers in, or nobody."""
    known = Authority(tmp_path, "known")
    known.issue("x")
    (tmp_path / "empty.crt").write_text("")
    (tmp_path / "broken.crt").write_bytes(known.file.read_bytes().replace(b"A", b"!"))
    done = started(*flagged(clientCaFile=str(tmp_path / file)))
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("berth: callers.clientCaFile: ")


def test_names_without_an_authority_stop_the_start() -> None:
    """Nobody would have proved them."""
    done = started(*flagged(clientNames="apiserver"))
    assert done.returncode == 2
    assert "callers.clientNames: " in done.stderr


def started(*flags: str) -> subprocess.CompletedProcess[str]:
    """Run the command that should not start."""
    command = [sys.executable, "-m", "berth", "webhook", "--host", "127.0.0.1", "--port", "0"]
    return subprocess.run(
        [*command, *flags], check=False, capture_output=True, text=True, timeout=30
    )
