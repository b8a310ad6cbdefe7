"""When the process is to end: by a signal, or because a part of it cannot go on."""

import asyncio
import contextlib
import signal
from collections.abc import Coroutine
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stop:
    """SIGTERM asks to end in good order; SIGINT too, without waiting for those who may still come.

    A second signal ends at once.
    """

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    _hurried: asyncio.Event = field(default_factory=asyncio.Event)
    _now: asyncio.Event = field(default_factory=asyncio.Event)

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hear the signals from now on."""
        loop.add_signal_handler(signal.SIGTERM, self._signalled, signal.SIGTERM)
        loop.add_signal_handler(signal.SIGINT, self._signalled, signal.SIGINT)

    def _signalled(self, signum: signal.Signals) -> None:
        if self.asked.is_set():
            self._now.set()
        if signum is signal.SIGINT or self.asked.is_set():
            self._hurried.set()
        self.asked.set()

    def ask(self) -> None:
        """Ask to end, as a part cannot go on."""
        self._hurried.set()
        self.asked.set()

    async def start(self, work: Coroutine[None, None, None]) -> None:
        """Await what comes before the first caller; who is asked to end meanwhile has none."""
        await _first(work, self.asked)
        if self.asked.is_set():
            self._hurried.set()

    async def pause(self, seconds: float) -> None:
        """Wait, unless somebody is in a hurry."""
        await _first(asyncio.sleep(seconds), self._hurried)

    async def allow(self, work: Coroutine[None, None, None]) -> None:
        """Await `work`, unless told to end at once."""
        await _first(work, self._now)


async def _first(work: Coroutine[None, None, None], event: asyncio.Event) -> None:
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(event.wait())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
