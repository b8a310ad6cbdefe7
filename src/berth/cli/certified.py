"""Puts together what keeps `berth webhook` trusted: its certificate, and its registration."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path

from berth import clock
from berth.certs import authority, choice, identity
from berth.certs.controller import Controller
from berth.certs.identity import Shown
from berth.certs.registered import Registered
from berth.certs.source import Source
from berth.model.raw import JsonObject
from berth.settings import Settings

LOG = logging.getLogger("berth.webhook")
_FIRST_LOOK_SECONDS = 5.0  # an API server that says nothing shall not keep the probes waiting


@dataclass(slots=True, kw_only=True)
class Certified:
    """The context to listen with, and the loops behind it."""

    settings: Settings
    source: Source
    manifest: Callable[[bytes], JsonObject]
    unready: dict[str, str]
    kubeconfig: Path | None
    register: bool
    shown: Shown = field(default_factory=Shown)
    controller: Controller = field(init=False)

    def __post_init__(self) -> None:
        """Show a stand-in, which the probes take, until there is what callers trust."""
        own, wanted = self.settings.certificates, self.settings.registration
        names = identity.names(self.settings.server, wanted)
        self.shown.show(authority.issue(names, clock.now()))
        given = bool(self.settings.server.cert_file)
        shared = not given and choice.shared(own, wanted.url, registers=self.register)
        self.controller = Controller(
            source=self.source,
            shown=self.shown,
            registered=Registered(watched=self.register or shared),
            terms=choice.terms(own),
            host=identity.called(wanted),
            strict=self.register,
            unready=self.unready,
        )

    async def start(self) -> None:
        """Look for the certificate, so that the first caller finds it. Raises UsageError."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_LOOK_SECONDS):
                await self.controller.look()

    @contextlib.asynccontextmanager
    async def kept(self, stop: asyncio.Event) -> AsyncIterator[None]:
        """Run the loops; where one cannot go on, `stop` is set, and the end says why."""
        loops: list[Coroutine[object, object, None]] = [self.controller.run()]
        if self.controller.registered.watched:
            loops.append(self._registration())
        tasks = [asyncio.create_task(loop) for loop in loops]
        for task in tasks:
            task.add_done_callback(lambda _: stop.set())
        yield
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _registration(self) -> None:
        from berth.cli import keep  # noqa: PLC0415  the Kubernetes client is slow to import

        await keep.Keeping(
            kubeconfig=self.kubeconfig,
            wanted=self.settings.registration,
            manifest=self.manifest,
            source=self.source,
            registered=self.controller.registered,
            check=self.settings.certificates.check_seconds,
            writes=self.register,
        ).run()
