"""The door of the server: what is known of a connection, and who is not let in for it."""

import asyncio

from berth.admission import callers
from berth.admission.callers import Callers
from berth.admission.journal import Journal


def why_closed(
    known: Callers, transport: asyncio.BaseTransport | None, agent: str, journal: Journal
) -> str | None:
    """Say why a caller is refused where those `known` may call, or None for one that is let in."""
    if transport is None:
        return "the caller has gone away"
    # All were made once, with the connection: for each request they are only looked up.
    peer = transport.get_extra_info("peername")
    address = str(peer[0]) if peer else ""
    tls = transport.get_extra_info("ssl_object")
    # In a resumed session nothing was verified; TLS 1.2 has those of OpenSSL's own cache, which
    # Python cannot turn off.
    resumed = tls is None or tls.session_reused
    certificate = None if resumed else transport.get_extra_info("peercert")
    why = callers.why_stranger(known, address, certificate, agent)
    if why:
        journal.stranger(why, address, agent, callers.names(certificate))
    return why
