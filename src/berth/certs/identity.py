"""What the server shows: the TLS context that listens, and behind it the pair in use.

A pair is loaded into a context of its own and proved there. The context that listens hands each
new handshake over to it, so open connections and handshakes under way never notice, and a broken
pair never touches what serves (admission.md 3, pattern 2).
"""

import contextlib
import os
import ssl
import tempfile
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from berth.certs import bundle as bundles
from berth.certs.authority import Pair
from berth.errors import UsageError
from berth.settings import Registration, Settings

_TURNS = 5  # of a handshake: each end says all that it can, and both are done after three
Configure = Callable[[ssl.SSLContext], None]


def as_made(_: ssl.SSLContext) -> None:
    """Leave a context as `Shown` makes it."""


class Shown:
    """The context to listen with, and the pair that it shows to new handshakes."""

    def __init__(self, configure: Configure = as_made) -> None:
        """Show nothing yet. `configure` is applied to each context, such as to ask for clients'.

        It is applied to the listening one too: OpenSSL asks for a client's certificate as that one
        says, and believes those that the pair's own context trusts.
        """
        self._configure = configure
        self._in_use: ssl.SSLContext | None = None
        self.pair: Pair | None = None
        self.context = self._fresh()
        self.context.sni_callback = self._hand_over

    def show(self, pair: Pair) -> None:
        """Prove `pair` and show it to all handshakes from now on.

        Raises UsageError for one that cannot be used; what was shown before is shown on.
        """
        proven = self._fresh()
        try:
            with as_file(pair.certificate) as certificate, as_file(pair.key) as key:
                proven.load_cert_chain(certificate, key, password=_no_password)
            _shake_hands(proven, _trusting_all(), None)
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            raise UsageError(f"the certificate and its key cannot be used: {_why(error)}") from None
        self._in_use, self.pair = proven, pair

    def distrusted(self, bundle: bytes, host: str) -> str | None:
        """Say why who calls `host` and trusts `bundle` does not take the pair in use, or None."""
        return "nothing is shown" if self.pair is None else distrusted(self.pair, bundle, host)

    def _fresh(self) -> ssl.SSLContext:
        context = _server_context()
        self._configure(context)
        return context

    def _hand_over(self, tls: ssl.SSLObject, _name: str | None, _: ssl.SSLContext) -> int | None:
        if self._in_use is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        tls.context = self._in_use
        return None


def distrusted(pair: Pair, bundle: bytes, host: str) -> str | None:
    """Say why who calls `host` and trusts `bundle` does not take `pair`, or None where it does.

    It is a real handshake, dates included, in memory.
    """
    trusted = bundles.join(bundles.split(bundle))
    if not trusted:
        return "no certificate of an authority is there"
    try:
        context = _server_context()
        with as_file(pair.certificate) as certificate, as_file(pair.key) as key:
            context.load_cert_chain(certificate, key, password=_no_password)
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # As Go does: whatever stands in the bundle is trusted, whoever signed it.
        client.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
        client.load_verify_locations(cadata=trusted.decode())
        _shake_hands(context, client, host)
    except (OSError, ValueError) as error:
        return _why(error)
    return None


def names(settings: Settings) -> tuple[str, ...]:
    """Return the names and addresses that our own leaf holds. Raises UsageError."""
    registered = settings.registration
    service = f"{registered.service}.{registered.namespace}.svc"
    short = service.removesuffix(".svc")
    host = _host(registered.url)
    found = [
        "127.0.0.1",
        *settings.server.dns_names,
        registered.service,
        short,
        service,
        f"{service}.cluster.local",
        *([host] if host else []),
    ]
    return tuple(dict.fromkeys(found))


def called(registered: Registration) -> str:
    """Return the name by which the API server calls us. Raises UsageError."""
    return _host(registered.url) or f"{registered.service}.{registered.namespace}.svc"


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError as error:
        raise UsageError(f"registration.url: {url} is not an address: {error}") from None


def _server_context() -> ssl.SSLContext:
    """Return a server's context: TLS 1.2 at least, and HTTP/1.1 only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def _trusting_all() -> ssl.SSLContext:
    """Return the context of a client that asks whether the server can speak, not who it is."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    return client


def _shake_hands(server: ssl.SSLContext, client: ssl.SSLContext, host: str | None) -> None:
    """Let two contexts greet each other in memory. Raises ssl.SSLError."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname=host),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(_TURNS):
        for end in tuple(ends):
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
                ends.remove(end)
    if ends:
        raise ValueError("the handshake does not come to an end")


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return str(error.verify_message)
    if isinstance(error, ssl.SSLError):  # OpenSSL gives no reason where it finds no PEM
        return (error.reason or "not PEM, or a part of it only").lower().replace("_", " ")
    return str(error) or type(error).__name__


def _no_password() -> str:
    raise ValueError("the key is encrypted, which a server that starts by itself cannot read")


@contextlib.contextmanager
def as_file(content: bytes) -> Iterator[str]:
    """Give the path of a file that holds `content`, as ssl reads files only.

    In memory where the system can: a key of ours never lies on a disk, and no folder is needed.
    """
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("berth"), "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with tempfile.NamedTemporaryFile() as named:
            named.write(content)
            named.flush()
            yield named.name
