"""`berth webhook`: the process that kube-apiserver asks."""

import contextlib
import logging
import tempfile
from pathlib import Path

import click
import uvloop

from berth import clock
from berth.admission import live
from berth.admission.live import Live, Sources
from berth.certs import clients, identity
from berth.cli import options
from berth.cli.process import Webhook
from berth.errors import UsageError
from berth.observe import logs
from berth.observe.metrics import Metrics

LOG = logging.getLogger("berth.webhook")
_OWN_CA = (
    "each replica makes a CA of its own, and they overwrite each other's registration; "
    "give server.certFile and server.keyFile where there are several"
)
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
    sources = Sources(config=config, device_config=device_config, flags=(*settings, *named))
    generation = live.read(sources)
    loaded = generation.settings
    log = logs.start(loaded.log.level, loaded.log.format)
    server = loaded.server
    if bool(server.cert_file) != bool(server.key_file):
        raise UsageError("server.certFile and server.keyFile go together; give both or neither")
    if register and not server.cert_file and not loaded.registration.url:
        LOG.warning("registration.own_ca", extra={"why": _OWN_CA})
    with contextlib.ExitStack() as stack:
        if server.cert_file:
            shown = identity.load(server)
        else:  # a folder only here: in a Pod, the file system may be read-only
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            shown = identity.make(server, loaded.registration, clock.now(), folder)
        if loaded.callers.client_ca_file:
            clients.require_client_ca(shown.context, loaded.callers.client_ca_file)
        webhook = Webhook(
            sources=sources,
            live=Live(generation),
            settings=loaded,
            identity=shown,
            log=log,
            metrics=Metrics().with_process(),
        )
        uvloop.run(webhook.serve(register=register, kubeconfig=kubeconfig))
