"""A watch on one resource, kept going whatever happens to the API server and the way there."""

import asyncio
import logging
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Generic, NoReturn, TypeAlias

import msgspec

from berth.cluster.connection import Connection
from berth.cluster.reflector import Pace, Reflector
from berth.cluster.store import Index, Store
from berth.cluster.wire import Decoder, Kind
from berth.errors import ReadFailed

LOG = logging.getLogger("berth.watch")

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Connection]]


class Resource(msgspec.Struct, Generic[Kind], frozen=True):
    """What is watched."""

    name: str
    """As in the path, and in metrics: pods."""
    kind: type[Kind]
    """The fields that are kept."""
    path: str
    """/api/v1/pods, or that of one namespace."""
    selectors: Mapping[str, str] = {}
    """labelSelector, fieldSelector: what does not match is as if it were not there."""
    indexes: Mapping[str, Index[Kind]] = {}


class Status(msgspec.Struct, frozen=True):
    """How a watch does, for readiness and metrics."""

    resource: str
    synced: bool
    """Whether a first list was read to its end: before that the store is not to be trusted."""
    staleness_seconds: float
    """Since the API server last said where we stand; infinite before the first list.

    Up to 60 where nothing happens, as it sends a bookmark so often, and at most `Pace.quiet`
    where a connection stalls.
    """
    objects: int
    lists: int
    """Lists that were read to the end; the second and later ones made good for an outage."""
    errors: int
    """GETs that failed."""
    why: str
    """What is wrong now, in a sentence; empty while all is well."""


class Source(msgspec.Struct, frozen=True):
    """What a watch needs from outside."""

    connect: Connect
    """Gives a connection; called again where the API server no longer knows who we are (401)."""
    random: Callable[[], float]
    """Numbers from 0 to 1."""
    clock: Callable[[], float]
    """Seconds that never go back."""
    failed: Callable[[str], None] = lambda _why: None
    """Is told why, whenever a list or a watch fails."""


class Watch(Generic[Kind]):
    """Keeps `store` as the API server has the resource, for as long as `run` runs."""

    def __init__(self, resource: Resource[Kind], source: Source, pace: Pace | None = None) -> None:
        """Prepare; nothing is asked before `run`."""
        self.store: Store[Kind] = Store(resource.indexes)
        self._resource = resource
        self._source = source
        self._pace = pace or Pace()
        self._decoder = Decoder(resource.kind)
        self._reflector = Reflector(self.store, self._pace, source.random)
        self._synced = asyncio.Event()
        self._contact = -math.inf
        self._errors = 0
        self._wrong: ReadFailed | None = None

    async def synced(self) -> None:
        """Wait until the first list was read to its end."""
        await self._synced.wait()

    def status(self) -> Status:
        """Say how it does now."""
        return Status(
            resource=self._resource.name,
            synced=self._synced.is_set(),
            staleness_seconds=self._source.clock() - self._contact,
            objects=len(self.store),
            lists=self._reflector.lists,
            errors=self._errors,
            why=str(self._wrong or ""),
        )

    async def run(self) -> NoReturn:
        """List, watch and begin again, until cancelled."""
        while True:
            try:
                async with self._source.connect() as connection:
                    await self._follow(connection)
            except ReadFailed as error:
                await asyncio.sleep(self._failed(error))

    async def _follow(self, connection: Connection) -> NoReturn:
        """Raise ReadFailed where another connection is needed."""
        while True:
            try:
                wait = await self._ask(connection)
            except ReadFailed as error:
                if error.status == 401:
                    raise
                wait = self._failed(error)
            await asyncio.sleep(wait)

    async def _ask(self, connection: Connection) -> float:
        ask = self._reflector.ask()
        query = {**self._resource.selectors, **ask.query}
        if ask.watch:
            return await self._watch(connection, query)
        body = await connection.get(self._resource.path, query, self._pace.answer)
        before = self._reflector.lists
        self._reflector.page(self._decoder.page(body))
        if self._reflector.lists > before:
            self._heard()
            self._synced.set()
        return 0

    async def _watch(self, connection: Connection, query: Mapping[str, str]) -> float:
        async with connection.lines(self._resource.path, query, self._pace.quiet) as lines:
            began = self._source.clock()
            self._heard()
            async for line in lines:
                self._reflector.event(self._decoder.event(line))
                self._contact = self._source.clock()
        return self._reflector.ended(self._source.clock() - began)

    def _heard(self) -> None:
        self._contact = self._source.clock()
        if self._wrong is not None:
            LOG.info("watch.well", extra={"resource": self._resource.name})
            self._wrong = None

    def _failed(self, error: ReadFailed) -> float:
        self._errors += 1
        if self._wrong is None or self._wrong.status != error.status:  # said once, not each time
            extra = {"resource": self._resource.name, "why": str(error)}
            LOG.warning("watch.failed", extra=extra)
        self._wrong = error
        self._source.failed(str(error))
        return self._reflector.failed(error)
