"""`berth policy`: the backstop that needs no server, as YAML for kubectl apply."""

from pathlib import Path

import click

from berth import settings as configured
from berth.admission import backstop, configuration
from berth.cli import options, printed


@click.command()
@options.configuration
def command(*, config: Path | None, device_config: Path | None, settings: tuple[str, ...]) -> None:
    """Print a policy that refuses Pods which the webhook did not rewrite.

    Pipe it into `kubectl apply -f -`, again after each change of the settings. The API server
    evaluates it by itself, so that failurePolicy Ignore lets no such Pod through.
    """
    loaded = configured.load(config, settings)
    rules, warnings = configuration.rules(loaded, device_config)
    for warning in warnings:
        click.echo(f"berth: {warning}", err=True)
    click.echo(
        printed.objects(backstop.objects(rules, loaded.registration, loaded.language)), nl=False
    )
