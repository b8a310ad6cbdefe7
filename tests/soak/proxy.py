"""A TCP proxy that balances each new connection over its backends, as a Service does.

It knows nothing of TLS or HTTP. As with a Service, a backend that is taken out keeps the
connections it has, and a new connection to one that is dead but still listed fails.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import uvloop

_PIECE = 2**18
_ALERT = 64
"""Bytes: the last words of a TLS connection are fewer, a request or a handshake is more."""
_HALF_OPEN_SECONDS = 1.0


@dataclass
class Proxy:
    """A running proxy. `add` and `remove` may be called from any thread."""

    loop: asyncio.AbstractEventLoop
    port: int = 0
    backends: tuple[int, ...] = ()
    """Ports on loopback, each the next to be used in turn."""
    accepted: int = 0
    broken: int = 0
    """Connections that a backend ended while the answer to something sent on them was due."""
    refused: int = 0
    """Connections for which the backend that was their turn did not take them."""

    def add(self, port: int) -> None:
        """Send new connections to this port too."""
        self.backends = (*self.backends, port)

    def remove(self, port: int) -> None:
        """Send no new connection to this port; what is connected stays."""
        self.backends = tuple(each for each in self.backends if each != port)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a caller; that the proxy ends meanwhile is nothing to tell of."""
        with suppress(asyncio.CancelledError):
            await self._connect(reader, writer)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect a caller with the backend whose turn it is, until either ends."""
        backends = self.backends
        self.accepted += 1
        try:
            if not backends:
                raise ConnectionRefusedError
            port = backends[self.accepted % len(backends)]
            there = await asyncio.open_connection("127.0.0.1", port, limit=_PIECE)
        except OSError:
            self.refused += 1
            writer.transport.abort()
            return
        caller, backend = _End(reader, writer), _End(*there)
        pumps = [
            asyncio.create_task(backend.pump(caller)),
            asyncio.create_task(caller.pump(backend)),
        ]
        _, up = pumps
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        by_backend = not up.done()
        await asyncio.wait(pumps, timeout=_HALF_OPEN_SECONDS)
        if by_backend and backend.owes:
            self.broken += 1
        for pump in pumps:
            pump.cancel()
        for end in (caller, backend):
            end.writer.close()


@dataclass
class _End:
    """One of the two ends of a connection; `owes` is that the other has spoken last."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    owes: bool = False

    async def pump(self, other: "_End") -> None:
        """Carry what comes from this end to the other, until it ends."""
        with suppress(OSError, RuntimeError):  # uvloop has the latter for a closed transport
            while piece := await self.reader.read(_PIECE):
                self.owes = False
                other.owes = other.owes or len(piece) > _ALERT
                other.writer.write(piece)
                await other.writer.drain()
        with suppress(OSError, RuntimeError):
            other.writer.write_eof()


@contextmanager
def running() -> Iterator[Proxy]:
    """Run a proxy on a free port of loopback, in a thread of its own."""
    started, proxies, stop = threading.Event(), list[Proxy](), list[asyncio.Event]()

    async def serve() -> None:
        proxy = Proxy(asyncio.get_running_loop())
        server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0, limit=_PIECE)
        proxy.port = server.sockets[0].getsockname()[1]
        proxies.append(proxy)
        stop.append(asyncio.Event())
        started.set()
        async with server:
            await stop[0].wait()

    thread = threading.Thread(target=lambda: uvloop.run(serve()))
    thread.start()
    assert started.wait(10), "the proxy did not start"
    try:
        yield proxies[0]
    finally:
        proxies[0].loop.call_soon_threadsafe(stop[0].set)
        thread.join(10)
