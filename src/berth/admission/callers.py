"""Who may call, by certificate, address and User-Agent: a decision over values alone."""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias, TypedDict

Network: TypeAlias = IPv4Network | IPv6Network


class Certificate(TypedDict, total=False):
    """What we read of what ssl's getpeercert() gives of a certificate that it has verified."""

    subject: tuple[tuple[tuple[str, str], ...], ...]
    subjectAltName: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """Who may call. What is empty or false asks for nothing; all that is asked for must hold."""

    certificate: bool = False
    """A client certificate must be shown."""
    names: frozenset[str] = frozenset()
    """One of these must be in it, as common name, DNS name or URI."""
    sources: tuple[Network, ...] = ()
    """One of these must hold the caller's address."""
    agents: tuple[str, ...] = ()
    """The User-Agent must begin with one of these."""


def why_stranger(
    callers: Callers, address: str, certificate: Certificate | None, agent: str
) -> str | None:
    """Say why the caller may not call, or None where it may.

    `certificate` is None where this handshake has verified none; one of a foreign CA ends it.
    """
    if callers.sources and not _within(address, callers.sources):
        return "this address may not call (callers.sources)"
    if callers.certificate and not certificate:
        return "no client certificate was shown in this handshake (callers.clientCaFile)"
    if callers.names and callers.names.isdisjoint(names(certificate)):
        return "no name in the client certificate may call (callers.clientNames)"
    if callers.agents and not agent.startswith(callers.agents):
        return "this User-Agent may not call (callers.userAgents)"
    return None


def names(certificate: Certificate | None) -> list[str]:
    """Return the common names, DNS names and URIs in a certificate."""
    if certificate is None:
        return []
    parts = (pair for part in certificate.get("subject", ()) for pair in part)
    common = [value for key, value in parts if key == "commonName"]
    others = certificate.get("subjectAltName", ())
    return common + [value for kind, value in others if kind in ("DNS", "URI")]


def _within(address: str, sources: tuple[Network, ...]) -> bool:
    parsed = _parsed(address)
    return parsed is not None and any(parsed in source for source in sources)


@lru_cache(maxsize=1024)  # the few API servers call again and again
def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """Read an address; an IPv4 caller of an IPv6 listener (::ffff:10.0.0.1) counts as IPv4."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None) or parsed
