"""The certificate that the server shows: the configured pair, or one of our own making."""

import ssl
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from berth.certs import authority
from berth.errors import UsageError
from berth.settings import Registration, Server


@dataclass(frozen=True, slots=True)
class Identity:
    """What we show to callers, and the PEM bundle by which they know it."""

    context: ssl.SSLContext
    authority: bytes


def load(server: Server) -> Identity:
    """Load the configured pair. Raises UsageError."""
    bundle = Path(server.ca_file or server.cert_file)
    try:
        trusted = bundle.read_bytes()
    except OSError as error:
        raise UsageError(f"{bundle}: cannot be read: {error.strerror}") from None
    return Identity(_context(server.cert_file, server.key_file), trusted)


def make(server: Server, registered: Registration, now: datetime, folder: Path) -> Identity:
    """Make an authority and a leaf, kept in `folder` as ssl reads files only. Raises UsageError."""
    service = f"{registered.service}.{registered.namespace}.svc"
    host = _host(registered.url)
    names = ["127.0.0.1", *server.dns_names, service, f"{service}.cluster.local"]
    pair = authority.issue(tuple(dict.fromkeys([*names, host] if host else names)), now)
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificate.write_bytes(pair.certificate)
    key.touch(mode=0o600)
    key.write_bytes(pair.key)
    return Identity(_context(str(certificate), str(key)), pair.authority)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError as error:
        raise UsageError(f"registration.url: {url} is not an address: {error}") from None


def _context(cert_file: str, key_file: str) -> ssl.SSLContext:
    """Return a server's context: TLS 1.2 at least, and HTTP/1.1 only."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(cert_file, key_file)
    except OSError as error:  # an SSLError is one
        why = error.strerror or str(error)
        raise UsageError(f"{cert_file} with {key_file} cannot be used: {why}") from None
    return context
