"""Listens for HTTPS with aiohttp's low-level server, and cuts who holds a connection for nothing.

The application layer of aiohttp.web would give routing and middleware, which three paths do not
need, for a fifth of the cost of a request; and its sites set no limit to a TLS handshake.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage

from berth.errors import UsageError
from berth.settings import Server

_LAST_SECONDS = 1.0
"""For what is still under way though nothing more is wanted of it."""
_QUIET = logging.getLogger("berth.http")
_QUIET.setLevel(logging.CRITICAL)  # a stack for each malformed head would be a caller's to cause


@dataclass(frozen=True, slots=True)
class Listener:
    """A server that takes connections."""

    port: int
    _sockets: asyncio.Server
    _server: web.Server

    @property
    def connections(self) -> int:
        """How many are open now."""
        return len(self._server.connections)

    def close(self) -> None:
        """Take no more connections; those that are open go on."""
        self._sockets.close()

    async def end(self) -> None:
        """Close every connection: at once where it rests, else when its answer is out."""
        self.close()
        await asyncio.sleep(0)  # what has just come begins
        self._server.pre_shutdown()
        await self._server.shutdown(_LAST_SECONDS)


async def listen(
    limits: Server,
    answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
    context: ssl.SSLContext,
) -> Listener:
    """Start serving. Raises UsageError where the address cannot be had."""
    loop = asyncio.get_running_loop()
    silent: dict[web.RequestHandler, asyncio.TimerHandle] = {}

    def request(
        message: RawRequestMessage,
        body: StreamReader,
        connection: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: "asyncio.Task[None]",
    ) -> web.BaseRequest:
        if timer := silent.pop(connection, None):
            timer.cancel()
        return web.BaseRequest(message, body, connection, writer, task, loop)

    server = web.Server(
        answer,
        request_factory=request,
        access_log=None,
        logger=_QUIET,
        auto_decompress=False,  # a compressed body is refused, so never unpacked
        keepalive_timeout=limits.idle_seconds,
        # Who is refused and sends on has to come to its end, or may never read the answer.
        lingering_time=limits.body_seconds,
    )

    def connected() -> web.RequestHandler:
        connection = server()
        silent[connection] = loop.call_later(limits.header_seconds, cut, connection)
        return connection

    def cut(connection: web.RequestHandler) -> None:
        if silent.pop(connection, None):
            connection.force_close()

    try:
        sockets = await loop.create_server(
            connected,
            limits.host,
            limits.port,
            ssl=context,
            backlog=1024,
            ssl_handshake_timeout=limits.handshake_seconds,
        )
    except (OSError, UnicodeError) as error:  # UnicodeError: a host such as a..b
        where = f"{limits.host}:{limits.port}"
        why = error.strerror if isinstance(error, OSError) else "that is no name of a host"
        raise UsageError(
            f"cannot listen on {where}: {why}; "
            "set server.host (--host) or server.port (--port) to others"
        ) from None
    return Listener(sockets.sockets[0].getsockname()[1], sockets, server)
