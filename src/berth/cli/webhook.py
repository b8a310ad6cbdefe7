"""`berth webhook`: the process that kube-apiserver asks."""

import asyncio
import gc
import logging
import signal
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click
import uvloop
from aiohttp import web

from berth import clock, settings
from berth.admission import configuration, registration, serve
from berth.admission.rules import Rules
from berth.certs import authority
from berth.cli import options
from berth.errors import UsageError
from berth.observe import logs

LOG = logging.getLogger("berth.webhook")


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
    sets = (
        *settings,
        *(f"{_KEYS[name]}={value}" for name, value in flags.items() if value is not None),
    )
    loaded = _load(config, sets)
    logs.start(loaded.log.level, loaded.log.format)
    rules, warnings = configuration.rules(loaded, device_config)
    for warning in warnings:
        LOG.warning("configuration.warning", extra={"why": warning})
    with tempfile.TemporaryDirectory() as folder:
        identity = certificate(loaded, Path(folder))
        uvloop.run(_serve(loaded, rules, identity, _Cluster(kubeconfig) if register else None))


_KEYS = {
    "host": "server.host",
    "port": "server.port",
    "cert_file": "server.certFile",
    "key_file": "server.keyFile",
    "url": "registration.url",
}


@dataclass(frozen=True, slots=True)
class _Cluster:
    kubeconfig: Path | None


@dataclass(frozen=True, slots=True)
class Identity:
    """What we show to callers, and the bundle by which they know it."""

    context: ssl.SSLContext
    authority: bytes


def _load(config: Path | None, sets: tuple[str, ...]) -> settings.Settings:
    return settings.load(config, sets)


def certificate(loaded: settings.Settings, folder: Path) -> Identity:
    """Load the configured pair, or make one in `folder`. Raises UsageError."""
    server = loaded.server
    if bool(server.cert_file) != bool(server.key_file):
        raise UsageError("server.certFile and server.keyFile go together; give both or neither")
    if server.cert_file:
        bundle = server.ca_file or server.cert_file
        return Identity(_context(server.cert_file, server.key_file), _read(Path(bundle)))
    pair = authority.issue(_server_names(loaded), clock.now())
    (folder / "tls.crt").write_bytes(pair.certificate)
    (folder / "tls.key").touch(mode=0o600)
    (folder / "tls.key").write_bytes(pair.key)
    return Identity(_context(str(folder / "tls.crt"), str(folder / "tls.key")), pair.authority)


def _context(cert_file: str, key_file: str) -> ssl.SSLContext:
    try:
        return serve.tls_context(cert_file, key_file)
    except OSError as error:  # an SSLError is one
        why = error.strerror or str(error)
        raise UsageError(f"{cert_file} with {key_file} cannot be used: {why}") from None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None


def _server_names(loaded: settings.Settings) -> tuple[str, ...]:
    registered = loaded.registration
    service = f"{registered.service}.{registered.namespace}.svc"
    host = urlsplit(registered.url).hostname
    found = ("127.0.0.1", *loaded.server.dns_names, service, f"{service}.cluster.local")
    return tuple(dict.fromkeys((*found, host) if host else found))


async def _serve(
    loaded: settings.Settings, rules: Rules, identity: Identity, cluster: _Cluster | None
) -> None:
    stop = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, stop.set)
    state = serve.State()
    runner, port = await listen(loaded.server, serve.application(rules, state), identity.context)
    state.ready = True
    gc.freeze()  # what start-up made stays; no collection need look at it again
    LOG.info("webhook.listening", extra={"host": loaded.server.host, "port": port})
    keeper = None
    if cluster is not None:
        manifest = registration.configuration(rules, loaded.registration, identity.authority)
        from berth.cli import keep  # noqa: PLC0415  the Kubernetes client is slow to import

        keeper = asyncio.create_task(
            keep.registered(cluster.kubeconfig, manifest, loaded.registration.refresh_seconds)
        )
        keeper.add_done_callback(lambda _: stop.set())
    await stop.wait()
    state.ready = False
    LOG.info("webhook.draining")
    if keeper is not None:
        keeper.cancel()
        await asyncio.gather(keeper, return_exceptions=True)
    await runner.cleanup()
    LOG.info("webhook.stopped")
    if keeper is not None and not keeper.cancelled() and keeper.exception():
        raise UsageError(str(keeper.exception()))


async def listen(
    server: settings.Server, app: web.Application, context: ssl.SSLContext
) -> tuple[web.AppRunner, int]:
    """Start serving; return the runner, to clean up, and the port. Raises UsageError."""
    runner = web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,  # a compressed body is refused, so never unpacked
        keepalive_timeout=server.idle_seconds,
        shutdown_timeout=server.drain_seconds,
    )
    await runner.setup()
    site = web.TCPSite(runner, server.host, server.port, ssl_context=context, backlog=1024)
    try:
        await site.start()
    except OSError as error:
        await runner.cleanup()
        where = f"{server.host}:{server.port}"
        raise UsageError(f"cannot listen on {where}: {error.strerror}; set server.port") from None
    return runner, int(runner.addresses[0][1])
