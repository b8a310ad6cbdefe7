"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from berth.model import duration

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(dir_okay=False, path_type=Path)
NAMED = click.Path(readable=False)
"""What may also be a folder, - or a URL: checked where it is read, but a shell completes files."""


class Duration(click.ParamType[float]):
    """A length of time, as seconds."""

    name = "DURATION"

    def convert(
        self, value: str | float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it."""
        if not isinstance(value, str):
            return float(value)
        try:
            return duration.parse(value)
        except duration.NotADuration as error:
            return self.fail(str(error), param, ctx)


DURATION = Duration()


def configuration(function: F) -> F:
    """Add --config, --device-config and --set."""
    for option in (
        click.option(
            "settings",
            "--set",
            multiple=True,
            metavar="KEY=VALUE",
            help="Set one setting, such as server.port=9443 (wins over file and environment).",
        ),
        click.option("--device-config", type=FILE, help="HAMi's device-config.yaml."),
        click.option("--config", type=FILE, help="Berth's settings file."),
    ):
        function = option(function)
    return function


snapshot = click.option(
    "--snapshot",
    type=NAMED,
    metavar="FILE|URL",
    help="Know the cards of what `berth snapshot` wrote, or of a webhook's /debug/fleet.",
)
kubeconfig = click.option(
    "--kubeconfig", type=FILE, help="Cluster to talk to; else the Pod's own, or KUBECONFIG."
)
