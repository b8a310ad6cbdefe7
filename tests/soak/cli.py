"""`scripts/soak`: Pod creations while the webhook is replaced, changed, killed and flooded."""

import signal
import sys
import tempfile
from pathlib import Path

import click

from tests.cluster import build, controlplane, namespaces
from tests.cluster.errors import ClusterError
from tests.soak import overload, report, rotations, scenarios
from tests.soak.scenarios import Ground

SCENARIOS = {
    "quiet": scenarios.quiet,
    "rolling-restart": scenarios.rolling_restart,
    "rolling-update": scenarios.rolling_update,
    "leaf-rotation": rotations.leaf,
    "ca-on-volumes": rotations.ca_on_volumes,
    "ca-rotation": rotations.ca_of_our_own,
    "reload": scenarios.reload,
    "killed-fail": scenarios.killed_fail,
    "killed-ignore": scenarios.killed_ignore,
    "killed-backstop": scenarios.killed_backstop,
    "overload-slow": overload.slow,
    "overload-large": overload.large,
    "overload-cost": overload.cost,
}


@click.command()
@click.argument("scenarios", nargs=-1, type=click.Choice(list(SCENARIOS)))
@click.option("--seconds", default=30.0, show_default=True, help="How long each load lasts.")
@click.option("--rate", default=200.0, show_default=True, help="Creations offered each second.")
@click.option("--set", "settings", multiple=True, help="A setting of the replicas: key=value.")
def soak(
    scenarios: tuple[str, ...], seconds: float, rate: float, settings: tuple[str, ...]
) -> None:
    """Run SCENARIOS, or all, on a real control plane; exit 1 where a promise is broken."""
    results = []
    programs = build.programs(say=_say)
    with (
        tempfile.TemporaryDirectory() as folder,
        controlplane.running(Path(folder) / "plane", programs=programs) as plane,
        namespaces.own(plane) as namespace,
    ):
        ground = Ground(
            plane=plane,
            folder=Path(folder),
            namespace=namespace,
            creations=int(seconds * rate),
            per_second=rate,
            flags=tuple(word for setting in settings for word in ("--set", setting)),
        )
        for name in scenarios or SCENARIOS:
            _say(f"{name} …")
            results.append(SCENARIOS[name](ground))
            for line in (report.table(results[-1:]), *results[-1].lines()):
                _say(line)
    click.echo(report.table(results))
    sys.exit(any(result.broken for result in results))


def _say(line: str) -> None:
    click.echo(line, err=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # all that was started is stopped
    try:
        soak(prog_name="scripts/soak")
    except ClusterError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
