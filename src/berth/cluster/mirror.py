"""All Nodes and Pods of a cluster, followed for as long as a command needs them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from berth.cluster.projections import Node, Pod
from berth.cluster.watch import Resource, Source, Watch
from berth.errors import UsageError

NODES = Resource(name="nodes", kind=Node, path="/api/v1/nodes")
PODS = Resource(name="pods", kind=Pod, path="/api/v1/pods")


class Mirror:
    """Two stores that are true to the API server within `following`."""

    def __init__(self, source: Source, kind: type[Pod] = Pod) -> None:
        """Prepare; nothing is asked yet, and whoever listens to a store misses nothing.

        `kind` says which fields of Pods are kept.
        """
        pods = msgspec.structs.replace(PODS, kind=kind)
        self._failed: asyncio.Future[str] | None = None
        self._source, self._begun = source, False
        heard = msgspec.structs.replace(source, failed=self._heard)
        self._nodes, self._pods = Watch(NODES, heard), Watch(pods, heard)
        self.nodes, self.pods = self._nodes.store, self._pods.store

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Follow from the first lists, which are read by then, to the end of the `with`.

        Raises UsageError where those cannot be read. Later failures are made good for, and
        `source.failed` is told why.
        """
        self._failed = asyncio.get_running_loop().create_future()
        tasks = [asyncio.ensure_future(one.run()) for one in (self._nodes, self._pods)]
        try:
            await self._first_lists(self._failed)
            self._begun = True
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _first_lists(self, failed: "asyncio.Future[str]") -> None:
        synced = asyncio.ensure_future(self._synced())
        either: list[asyncio.Future[None] | asyncio.Future[str]] = [synced, failed]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not synced.done():
            synced.cancel()
            raise UsageError(f"the cluster could not be read: {failed.result()}")

    async def _synced(self) -> None:
        await self._nodes.synced()
        await self._pods.synced()

    def _heard(self, why: str) -> None:
        if self._begun:
            self._source.failed(why)
        elif self._failed is not None and not self._failed.done():
            self._failed.set_result(why)
