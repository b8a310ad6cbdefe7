"""`scripts/cluster`: a control plane to play with, which stays until it is told to go."""

import shutil
import sys
from pathlib import Path

import click

from tests.cluster import build, cache, controlplane
from tests.cluster.controlplane import ControlPlane
from tests.cluster.errors import ClusterError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cluster() -> None:
    """Run a real Kubernetes control plane on loopback, without containers."""


@cluster.command()
def up() -> None:
    """Start it, building its programs first where that was not done yet."""
    with cache.lock(_folder(), say=_say):
        plane = _running()
        if plane is None:
            programs = build.programs(say=_say)
            _clear()
            _say("starting the control plane")
            plane = controlplane.start(_folder(), programs=programs, tied=False)
            click.echo(f"Kubernetes {plane.version()} runs at {plane.url}.")
        else:
            click.echo(f"Kubernetes {plane.version()} runs already, at {plane.url}.")
    click.echo(f"kubeconfig: {plane.kubeconfig}")
    click.echo("To use it:")
    click.echo(f"  export KUBECONFIG={plane.kubeconfig}")
    click.echo(f"  {plane.kubectl} get namespaces")
    click.echo("To stop it: scripts/cluster down")


@cluster.command()
def down() -> None:
    """Stop it and remove what it stored; the built programs stay."""
    with cache.lock(_folder(), say=_say):
        there = _folder().exists()
        _clear()
    click.echo("The control plane is stopped." if there else "No control plane runs.")


@cluster.command()
def status() -> None:
    """Say what runs and where; exit 1 where nothing does."""
    plane = _running()
    if plane is not None:
        click.echo(f"Kubernetes {plane.version()} runs at {plane.url}.")
        click.echo(f"kubeconfig: {plane.kubeconfig}")
        return
    ended = controlplane.ended(_folder())
    if cache.busy(_folder()):
        click.echo("A control plane is being built, started or stopped: wait for it.")
    elif ended:
        click.echo(
            f"The control plane is not whole, as {' and '.join(ended)} ended (logs in "
            f"{_folder()}): replace it with scripts/cluster up."
        )
    elif _folder().exists():
        click.echo(
            "The start of a control plane was cut short: start it again with scripts/cluster up."
        )
    else:
        click.echo("No control plane runs: start one with scripts/cluster up.")
    sys.exit(1)


def main() -> None:
    """Run the command; a user's mistake is one sentence, not a traceback."""
    try:
        cluster(prog_name="scripts/cluster")
    except ClusterError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)


def _folder() -> Path:
    return cache.root() / "cluster"


def _running() -> ControlPlane | None:
    plane = controlplane.find(_folder())
    return None if controlplane.ended(_folder()) else plane


def _clear() -> None:
    controlplane.stop(_folder())
    shutil.rmtree(_folder(), ignore_errors=True)


def _say(line: str) -> None:
    click.echo(line, err=True)


if __name__ == "__main__":
    main()
