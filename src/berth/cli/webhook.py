"""`berth webhook`: the process that kube-apiserver asks."""

import asyncio
import contextlib
import gc
import logging
import signal
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
import uvloop

from berth import settings as configured
from berth.admission import configuration, registration, serve
from berth.admission.rules import Rules
from berth.certs import choice, store
from berth.certs.source import Source
from berth.cli import options
from berth.cli.certified import Certified
from berth.errors import UsageError
from berth.observe import logs
from berth.settings import Settings

LOG = logging.getLogger("berth.webhook")
_FLAGS = {
    "host": "server.host",
    "port": "server.port",
    "cert_file": "server.certFile",
    "key_file": "server.keyFile",
    "url": "registration.url",
}


@click.command()
@options.configuration
@click.option("--host", help="Address to listen on (server.host).")
@click.option("--port", type=int, help="Port to listen on; 0 takes a free one (server.port).")
@click.option("--cert-file", help="PEM certificate chain (server.certFile).")
@click.option("--key-file", help="PEM private key (server.keyFile).")
@click.option("--register", is_flag=True, help="Keep the MutatingWebhookConfiguration applied.")
@click.option("--url", help="https://host:port to register instead of the Service.")
@options.kubeconfig
def command(
    *,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
    register: bool,
    kubeconfig: Path | None,
    **flags: str | int | None,
) -> None:
    """Serve admission for a cluster.

    Without certificate files, Berth makes a CA and a certificate of its own.
    """
    named = [f"{_FLAGS[name]}={value}" for name, value in flags.items() if value is not None]
    loaded = configured.load(config, (*settings, *named))
    log = logs.start(loaded.log.level, loaded.log.format)
    rules, warnings = configuration.rules(loaded, device_config)
    for warning in warnings:
        LOG.warning("configuration.warning", extra={"why": warning})
    server = loaded.server
    if bool(server.cert_file) != bool(server.key_file):
        raise UsageError("server.certFile and server.keyFile go together; give both or neither")
    with contextlib.ExitStack() as stack:
        folder = loaded.certificates.folder
        if choice.needs_folder(loaded, registers=register):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            LOG.info("certificates.folder", extra={"ca_file": str(Path(folder) / store.TRUSTED)})
        kept = choice.store(loaded, kubeconfig, Path(folder), registers=register)
        source = choice.source(loaded, kept)
        webhook = Webhook(settings=loaded, rules=rules, source=source, log=log)
        uvloop.run(webhook.serve(register=register, kubeconfig=kubeconfig))


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """All that the process was started with."""

    settings: Settings
    rules: Rules
    source: Source
    log: logs.GatheringHandler

    async def serve(self, *, register: bool, kubeconfig: Path | None) -> None:
        """Serve until SIGTERM or SIGINT, then finish what is under way. Raises UsageError."""
        stop, state = asyncio.Event(), serve.State()
        loop = asyncio.get_running_loop()

        def end() -> None:
            if stop.is_set():  # asked twice: whatever is under way, let it go
                state.quiet.set()
            stop.set()

        for signum in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(signum, end)
        if self.settings.log.flush_seconds:
            self.log.gather(lambda flush: loop.call_later(self.settings.log.flush_seconds, flush))
        app = serve.application(self.rules, state, self.log.event)
        certified = Certified(
            settings=self.settings,
            source=self.source,
            manifest=partial(registration.configuration, self.rules, self.settings.registration),
            unready=state.unready,
            kubeconfig=kubeconfig,
            register=register,
        )
        await certified.start()
        runner, port = await serve.listen(self.settings.server, app, certified.shown.context)
        state.most_in_flight = self.settings.server.most_in_flight
        state.body_seconds = self.settings.server.body_seconds
        state.ready = True
        settle()
        LOG.info("webhook.listening", extra={"host": self.settings.server.host, "port": port})
        try:
            async with certified.kept(stop):
                await stop.wait()
        finally:
            LOG.info("webhook.draining", extra={"in_flight": state.in_flight})
            await state.drained(self.settings.server.drain_seconds)
            await runner.cleanup()
            LOG.info("webhook.stopped")
            self.log.gather(None)


def settle() -> None:
    """Have the collector look seldom: what the start made stays, and requests make no cycles."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
