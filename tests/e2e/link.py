"""The way to the API server, which a test may cut, or stall without anyone being told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Self

_CHUNK = 65536


@dataclass
class Link:
    """Forwards TCP connections from `port` to `target`, both on loopback."""

    target: int
    port: int = 0
    taken: int = 0
    """Connections that were taken so far."""
    flows: asyncio.Event = field(default_factory=asyncio.Event)
    server: asyncio.Server | None = None
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @classmethod
    @contextlib.asynccontextmanager
    async def to(cls, target: int) -> AsyncIterator[Self]:
        """Open a link for the length of a `with`."""
        link = cls(target=target)
        await link.join()
        try:
            yield link
        finally:
            await link.cut()

    async def join(self) -> None:
        """Take connections, at the same port as ever, and forward."""
        self.flows.set()
        self.server = await asyncio.start_server(self._take, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Reset every connection and refuse new ones."""
        if self.server is not None:
            self.server.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks)

    def stall(self) -> None:
        """Forward nothing more on what is connected, and close nothing; new ones are as usual."""
        self.flows.clear()
        self.flows = asyncio.Event()
        self.flows.set()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.taken += 1
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._join_ends(reader, writer)
        writer.transport.abort()
        self.tasks.discard(task)

    async def _join_ends(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        flows = self.flows
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(_forward(reader, far_writer, flows))
                both.create_task(_forward(far_reader, writer, flows))
        except* OSError:
            pass
        finally:
            far_writer.transport.abort()


async def _forward(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flows: asyncio.Event
) -> None:
    """Forward one way. Raises OSError at the end, so that the other way ends too."""
    while data := await reader.read(_CHUNK):
        await flows.wait()
        writer.write(data)
        await writer.drain()
    raise ConnectionResetError
