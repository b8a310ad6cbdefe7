"""Client certificates where the server swaps its context in the handshake, as rotation does."""

import contextlib
import ssl
from pathlib import Path

import pytest

from berth import clock
from berth.certs import authority
from berth.certs.clients import ClientAuthorities
from tests.certificates import Authority, Issued


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Give a folder with a server's certificate and key, and the authority to trust."""
    pair = authority.issue(("localhost",), clock.now())
    for name, content in (("s.crt", pair.certificate), ("s.key", pair.key), ("s", pair.authority)):
        (tmp_path / name).write_bytes(content)
    return tmp_path


def context(files: Path, asking_for: Authority | None) -> ssl.SSLContext:
    """Return a server's context that asks for certificates of an authority, or for none."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(files / "s.crt", files / "s.key")
    if asking_for:
        clients = ClientAuthorities(asking_for.file)
        assert clients.take()
        clients.require(made)
    return made


def shown(files: Path, server: ssl.SSLContext, issued: Issued) -> bool:
    """Whether the server has seen the client's certificate. Raises SSLError where it refuses it."""
    client = ssl.create_default_context(cafile=str(files / "s"))
    client.load_cert_chain(issued.certificate, issued.key)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(back, there, server_hostname="localhost"),
        server.wrap_bio(there, back, server_side=True),
    ]
    for end in ends * 3:
        with contextlib.suppress(ssl.SSLWantReadError):
            end.do_handshake()
    return bool(ends[1].getpeercert())


def test_the_context_swapped_in_knows_the_authorities(files: Path) -> None:
    """A new bundle holds from the next handshake on, and the old one no more."""
    old, new = Authority(files, "old"), Authority(files, "new")
    listening, fresh = context(files, old), context(files, new)

    def swap(tls: ssl.SSLObject, _name: str | None, _: ssl.SSLContext) -> None:
        tls.context = fresh

    assert shown(files, listening, old.issue("a"))
    listening.sni_callback = swap
    assert shown(files, listening, new.issue("a"))
    with pytest.raises(ssl.SSLCertVerificationError):
        shown(files, listening, old.issue("a"))


def test_a_context_that_was_forgotten_lets_nobody_in(files: Path) -> None:
    """Where either does not ask, no certificate is seen: a refusal, never a stranger let in."""
    known = Authority(files, "known")
    issued = known.issue("a")
    for listening, fresh in ((known, None), (None, known)):
        server, other = context(files, listening), context(files, fresh)

        def swap(
            tls: ssl.SSLObject, _name: str | None, _: ssl.SSLContext, to: ssl.SSLContext = other
        ) -> None:
            tls.context = to

        server.sni_callback = swap
        try:
            assert not shown(files, server, issued)
        except ssl.SSLCertVerificationError:
            assert listening
