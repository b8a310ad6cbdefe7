"""`berth policy`: the backstop that needs no server, as YAML; `show`: which rules hold where."""

from pathlib import Path

import click

from berth.admission import backstop
from berth.cli import configured, effective, options, printed
from berth.cli.terminal import escaped
from berth.errors import UsageError


@click.group(invoke_without_command=True)
@options.configuration
@click.pass_context
def command(
    context: click.Context,
    *,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Print a policy that refuses Pods which the webhook did not rewrite.

    Pipe it into `kubectl apply -f -`, again after each change of the settings. The API server
    evaluates it by itself, so that failurePolicy Ignore lets no such Pod through.
    """
    if context.invoked_subcommand is not None:
        return
    loaded, rules = configured.read(config, device_config, settings)
    found = backstop.objects(rules, loaded.registration, loaded.language)
    click.echo(printed.objects(found), nl=False)


@command.command(short_help="Print which rules hold for which Pods.")
@options.configuration
@click.option("-n", "--namespace", default="", help="Only what holds in this namespace.")
@click.option("--conversion", default="", help="Its label berth.dev/conversion, if it has one.")
def show(
    *,
    namespace: str,
    conversion: str,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Print which rules hold for which Pods, in the order in which they are looked at."""
    if conversion and not namespace:
        raise UsageError("--conversion: is the label of a namespace; name that with --namespace")
    loaded, rules = configured.read(config, device_config, settings)
    for line in effective.lines(rules, loaded, namespace, conversion):
        click.echo(escaped(line))
