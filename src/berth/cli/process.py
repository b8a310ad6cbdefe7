"""The webhook as a process: its parts, started and ended in order."""

import asyncio
import contextlib
import gc
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from berth.admission.journal import Journal
from berth.admission.listen import Listener, listen
from berth.admission.live import Live, Sources
from berth.admission.load import Load
from berth.admission.serve import Handler
from berth.cli import reload
from berth.cli.certified import Certified
from berth.cli.stop import Stop
from berth.observe import hang, logs
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from berth.observe.serve import serving
from berth.settings import Settings

if TYPE_CHECKING:
    from berth.cli.counting import Counting

LOG = logging.getLogger("berth.webhook")
_CANCEL_AGAIN_SECONDS = 1.0
"""A library may lose a cancellation that comes as it wakes, as asyncio.wait_for does (3.11)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """The process: what it was started with, and what its parts share."""

    sources: Sources
    live: Live
    settings: Settings
    """What holds until the end, whatever generation is in use."""
    folder: Path
    """For CAs that nobody else shares."""
    log: logs.GatheringHandler
    metrics: Metrics
    load: Load = field(default_factory=Load)
    readiness: Readiness = field(default_factory=Readiness)

    async def serve(self, *, register: bool, kubeconfig: Path | None) -> None:
        """Serve until SIGTERM or SIGINT, then finish what is under way. Raises UsageError."""
        loop, server, stop = asyncio.get_running_loop(), self.settings.server, Stop()
        stop.listen(loop)
        certified = self._certified(kubeconfig, register=register)
        reloader = self._reloader(certified.registered.outdate)
        reloader.listen(loop)
        if self.settings.log.flush_seconds:
            self.log.gather(lambda flush: loop.call_later(self.settings.log.flush_seconds, flush))
        counting = self._counting(kubeconfig, register=register)
        handler = Handler(
            live=self.live,
            load=self.load,
            readiness=self.readiness,
            journal=Journal(self.metrics, self.log.event),
            standings=counting.standings if counting else None,
        )
        async with contextlib.AsyncExitStack() as stack:
            for work in counting.loops() if counting else ():
                await stack.enter_async_context(_beside(work, stop.ask))
            await stop.start(certified.start())
            listener = await listen(server, handler, certified.shown.context)
            stack.push_async_callback(listener.end)
            pulse = hang.watched(server.hang_seconds, self.metrics.lag.observe)
            await stack.enter_async_context(_beside(pulse, stop.ask))
            where = {"host": server.host, "port": listener.port, **self._shown(stack, counting)}
            self._measure(listener)
            settle()
            del self.readiness.missing["server"]
            LOG.info("webhook.listening", extra=where)
            async with contextlib.AsyncExitStack() as upkeep:
                for work in self._upkeep(reloader, certified):
                    await upkeep.enter_async_context(_beside(work, stop.ask))
                await stop.asked.wait()
            await self._leave(stop, listener)
        LOG.info("webhook.stopped")
        self.log.gather(None)

    async def _leave(self, stop: Stop, listener: Listener) -> None:
        """End without a lost request: first red and yet serving, then only what is under way."""
        server = self.live.current.settings.server
        self.readiness.missing["server"] = "stopping"
        self.load.ending = True
        LOG.info("webhook.draining", extra={"in_flight": self.load.in_flight})
        await stop.pause(server.stop_seconds)
        listener.close()
        await stop.allow(self.load.drained(server.drain_seconds))

    def _shown(
        self, stack: contextlib.AsyncExitStack, counting: "Counting | None"
    ) -> dict[str, int]:
        """Open the operator's port, if there is to be one."""
        wanted = self.settings.metrics
        if not wanted.enabled:
            return {}
        pages = {"/debug/config": lambda: reload.shown(self.live.current)}
        if counting and counting.placed:
            loop = asyncio.get_running_loop()
            pages["/debug/fleet"] = lambda: counting.shown(loop)
        shown = serving(wanted, self.metrics, self.readiness, pages)
        return {"metrics": stack.enter_context(shown)}

    def _measure(self, listener: Listener) -> None:
        """Let each scrape ask what is true then."""
        metrics = self.metrics
        metrics.connections.set_function(lambda: listener.connections)
        metrics.in_flight.set_function(lambda: self.load.in_flight)
        metrics.bytes_held.set_function(lambda: self.load.bytes_held)
        metrics.ready.set_function(lambda: self.readiness.ready)
        reload.tell(self.live.current, metrics)

    def _reloader(self, changed: Callable[[], None]) -> reload.Reloader:
        return reload.Reloader(
            sources=self.sources,
            live=self.live,
            started=self.settings,
            metrics=self.metrics,
            readiness=self.readiness,
            changed=changed,
            later=asyncio.get_running_loop().call_later,
        )

    def _certified(self, kubeconfig: Path | None, *, register: bool) -> Certified:
        return Certified(
            settings=self.settings,
            live=self.live,
            kubeconfig=kubeconfig,
            register=register,
            folder=self.folder,
            metrics=self.metrics,
            readiness=self.readiness,
        )

    def _counting(self, kubeconfig: Path | None, *, register: bool) -> "Counting | None":
        """Prepare to know how the cluster stands, where that is ours."""
        counts, places = (
            wanted == "always" or (wanted == "auto" and register)
            for wanted in (self.settings.quota.enforce, self.settings.placement.enforce)
        )
        if not (counts or places):
            return None
        from berth.cli.counting import Counting  # noqa: PLC0415  the client is slow to import

        return Counting(
            settings=self.settings,
            live=self.live,
            kubeconfig=kubeconfig,
            metrics=self.metrics,
            readiness=self.readiness,
            counts=counts,
            placed=places,
        )

    def _upkeep(
        self, reloader: reload.Reloader, certified: Certified
    ) -> Iterator[Coroutine[None, None, None]]:
        """Yield what goes on beside the answers until the process is asked to end."""
        yield reloader.heed()
        if self.sources.files:
            yield reloader.watch(self.settings.reload.every_seconds)
        yield from certified.loops()


def settle() -> None:
    """Have the collector look seldom: what the start made stays, and requests make no cycles.

    Connections do, each some seven objects and 6 KiB: 5,000 objects are 700 of them, so that what
    is left of those that were closed stays below 5 MiB.
    """
    gc.freeze()
    gc.set_threshold(5_000, 20, 50)


@contextlib.asynccontextmanager
async def _beside(
    work: Coroutine[None, None, None], ended: Callable[[], None]
) -> AsyncIterator[None]:
    """Run `work` for the length of a `with`; say when it ends by itself, and raise its error."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda task: None if task.cancelled() else ended())
    try:
        yield
    finally:
        while not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=_CANCEL_AGAIN_SECONDS)
        if not task.cancelled():
            task.result()
