"""Puts together what keeps `berth webhook` trusted: its certificate, and its registration."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from berth import clock
from berth.admission import guard, registration
from berth.admission.live import Live
from berth.certs import authority, choice, identity, store
from berth.certs.clients import ClientAuthorities
from berth.certs.controller import Controller
from berth.certs.identity import Shown
from berth.certs.registered import Registered
from berth.certs.source import Source
from berth.model.raw import JsonObject
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from berth.settings import Registration, Settings

LOG = logging.getLogger("berth.webhook")
_FIRST_LOOK_SECONDS = 5.0  # an API server that says nothing shall not keep the probes waiting


@dataclass(slots=True, kw_only=True)
class Certified:
    """The context to listen with, and the loops behind it."""

    settings: Settings
    live: Live
    kubeconfig: Path | None
    register: bool
    folder: Path
    """For CAs that nobody else shares."""
    metrics: Metrics
    readiness: Readiness
    shown: Shown = field(init=False)
    source: Source = field(init=False)
    registered: Registered = field(init=False)
    controller: Controller = field(init=False)

    def __post_init__(self) -> None:
        """Show a stand-in, which the probes take, until there is what callers trust."""
        own, wanted = self.settings.certificates, self.settings.registration
        file = self.settings.callers.client_ca_file
        clients = ClientAuthorities(Path(file)) if file else None
        if clients:
            clients.take()
        self.shown = Shown(clients.require if clients else identity.as_made)
        self.shown.show(authority.issue(identity.names(self.settings), clock.now()))
        kept = choice.store(self.settings, self.kubeconfig, self.folder, registers=self.register)
        self.source = choice.source(self.settings, kept)
        given = bool(self.settings.server.cert_file)
        shared = not given and choice.shared(own, wanted.url, registers=self.register)
        self.registered = Registered(watched=self.register or shared)
        self.controller = Controller(
            source=self.source,
            shown=self.shown,
            registered=self.registered,
            terms=choice.terms(own),
            host=identity.called(wanted),
            strict=self.register,
            clients=clients,
            metrics=self.metrics,
            readiness=self.readiness,
        )

    async def start(self) -> None:
        """Look for the certificate, so that the first caller finds it. Raises UsageError."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_LOOK_SECONDS):
                await self.controller.look()
        if choice.needs_folder(self.settings, registers=self.register):
            LOG.info("certificates.folder", extra={"ca_file": str(self.folder / store.TRUSTED)})

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """Yield what goes on beside the answers."""
        yield self.controller.run()
        if self.registered.watched:
            from berth.cli import keep  # noqa: PLC0415  the Kubernetes client is slow to import

            yield keep.Keeping(
                kubeconfig=self.kubeconfig,
                wanted=self._registration,
                manifests=self._manifests(),
                source=self.source,
                registered=self.registered,
                check=self.settings.certificates.check_seconds,
                writes=self.register,
                metrics=self.metrics,
            ).run()

    def _manifests(self) -> Callable[[bytes], Sequence[JsonObject]]:
        def manifests(trusted: bytes) -> Sequence[JsonObject]:
            about = (self.live.current.rules, self._registration(), trusted)
            # In this order: nothing is validated that could not be rewritten before.
            return registration.configuration(*about), guard.configuration(*about)

        return manifests

    def _registration(self) -> Registration:
        """Return what the settings say now, but for what our certificate was made for."""
        began = self.settings.registration
        return msgspec.structs.replace(
            self.live.current.settings.registration,
            name=began.name,
            url=began.url,
            namespace=began.namespace,
            service=began.service,
        )
