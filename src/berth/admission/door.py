"""The door of the server: who is let in, and a word in the log about who is not."""

import asyncio
import logging
from dataclasses import dataclass, field
from time import perf_counter

from berth.admission import callers
from berth.admission.callers import Callers, Refusals

LOG = logging.getLogger("berth.admission")
_SHOWN = 100  # characters of what a stranger says of himself


@dataclass(frozen=True, slots=True)
class Door:
    """Knows who may call, and counts who may not: `refusals.total`."""

    known: Callers
    refusals: Refusals = field(default_factory=Refusals)

    def why_closed(self, transport: asyncio.BaseTransport | None, agent: str) -> str | None:
        """Say why this caller is refused, counted then, or None for one that is let in."""
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
        why = callers.why_stranger(self.known, address, certificate, agent)
        if why and (since := self.refusals.count(perf_counter())):
            shown = [name[:_SHOWN] for name in callers.names(certificate)[:5]]
            fields = {"why": why, "address": address, "agent": agent[:_SHOWN], "names": shown}
            LOG.warning("caller.refused", extra=fields | {"since_last_line": since})
        return why
