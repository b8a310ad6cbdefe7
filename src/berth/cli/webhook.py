"""`berth webhook`: the process that kube-apiserver asks."""

import contextlib
import tempfile
from pathlib import Path

import click
import uvloop

from berth.admission.live import Live, Sources
from berth.certs import choice
from berth.cli import options, reload
from berth.cli.process import Webhook
from berth.errors import UsageError
from berth.observe import logs
from berth.observe.metrics import Metrics

_FLAGS = {
    "--host": "server.host",
    "--port": "server.port",
    "--cert-file": "server.certFile",
    "--key-file": "server.keyFile",
    "--url": "registration.url",
}


@click.command()
@options.configuration
@click.option("--host", help="Address to listen on (server.host).")
@click.option("--port", type=int, help="Port to listen on; 0 takes a free one (server.port).")
@click.option("--cert-file", help="PEM certificate chain (server.certFile).")
@click.option("--key-file", help="PEM private key (server.keyFile).")
@click.option("--register", is_flag=True, help="Keep the webhook configurations applied.")
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
    given = {f"--{name.replace('_', '-')}": value for name, value in flags.items()}
    named = {flag: f"{_FLAGS[flag]}={value}" for flag, value in given.items() if value is not None}
    sources = Sources(config=config, device_config=device_config, flags=settings, named=named)
    generation = reload.read(sources)
    loaded = generation.settings
    log = logs.start(loaded.log.level, loaded.log.format)
    server = loaded.server
    if bool(server.cert_file) != bool(server.key_file):
        raise UsageError(
            "server.certFile (--cert-file) and server.keyFile (--key-file) go together; "
            "give both or neither"
        )
    with contextlib.ExitStack() as stack:
        folder = loaded.certificates.folder
        if choice.needs_folder(loaded, registers=register):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
        webhook = Webhook(
            sources=sources,
            live=Live(generation),
            settings=loaded,
            folder=Path(folder),
            log=log,
            metrics=Metrics().with_process(),
        )
        uvloop.run(webhook.serve(register=register, kubeconfig=kubeconfig))
