"""`berth unregister`: take the webhook out of the API server, before its server goes."""

import asyncio
from pathlib import Path

import click

from berth import layered, names
from berth.cli import options
from berth.cli.terminal import escaped
from berth.cluster import kube


@click.command()
@options.configuration
@options.kubeconfig
def command(
    *,
    config: Path | None,
    device_config: Path | None,  # noqa: ARG001  taken as by the other commands
    settings: tuple[str, ...],
    kubeconfig: Path | None,
) -> None:
    """Remove Berth's webhook configurations from a cluster."""
    name = layered.settings(config, settings).registration.name
    for kind in (names.VALIDATING, names.MUTATING):  # never validated without being rewritten
        gone = asyncio.run(kube.delete_configuration(kube.configuration(kubeconfig), kind, name))
        click.echo(escaped(f"{kind} {name} {'removed' if gone else 'was not there'}"))
