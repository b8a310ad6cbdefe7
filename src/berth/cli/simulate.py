"""`berth simulate`: what if a cluster had been filled by another policy."""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from math import isnan
from pathlib import Path
from typing import Literal

import click
import msgspec

from berth.cli import options, tables
from berth.cli.terminal import escaped
from berth.errors import UsageError
from berth.simulator.made import MOST
from berth.simulator.result import Done
from berth.simulator.runs import NAMES, Job, all_of, expected

DEFAULT = "scarcity"
WORKLOADS = (".yaml", ".yml")
PLOTS = (".png", ".svg")


@click.command()
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the Alibaba GPU trace of 2023; else the one that comes with Berth.",
)
@click.option(
    "--trace",
    type=options.NAMED,
    default="default",
    show_default=True,
    metavar="NAME|FILE.yaml",
    help="Which list of Pods of that trace, or a file with nodes and Pods of your own.",
)
@click.option("--recording", type=options.FILE, help="What `berth record` wrote, instead.")
@click.option(
    "policies",
    "--policy",
    multiple=True,
    default=[DEFAULT],
    show_default=True,
    type=click.Choice(NAMES),
    help="Policy to place by; several are run side by side.",
)
@click.option(
    "seeds",
    "--seed",
    multiple=True,
    default=[42],
    show_default=True,
    type=click.IntRange(min=0),
    help="Order of arrivals; 42 to 51 are those of the published runs.",
)
@click.option(
    "--offered",
    type=click.FloatRange(0.01, 1.3),
    help="How much to offer, in parts of the cluster's cards; 1 unless a file says when Pods come.",
)
@click.option(
    "arrivals",
    "--departures",
    default=0,
    type=click.IntRange(0, MOST),
    metavar="ARRIVALS",
    help="Let Pods leave too: so many come, at random times, and the first are not counted.",
)
@click.option(
    "lives",
    "--lifetimes",
    type=click.Choice(["exponential", "own"]),
    default="exponential",
    show_default=True,
    help="With --departures: how long they stay; own: as the list says, up to its 95th percentile.",
)
@click.option("--plot", type=options.FILE, metavar="FILE.png|svg", help="Draw what came of it.")
@click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True
)
def command(
    *,
    data: Path | None,
    trace: str,
    recording: Path | None,
    policies: tuple[str, ...],
    seeds: tuple[int, ...],
    offered: float | None,
    arrivals: int,
    lives: Literal["exponential", "own"],
    plot: Path | None,
    output: str,
) -> None:
    """Place the Pods of a trace by a policy, in virtual time.

    Each decision is the one that a cluster would get. Pods come one by one and stay, as in the
    published experiment, or leave with --departures; one that does not fit is dropped.
    """
    if offered is not None and isnan(offered):
        raise UsageError("--offered: nan is no number; write one from 0.01 to 1.3")
    file = recording or (Path(trace) if trace.endswith(WORKLOADS) else None)
    if recording and offered is not None:
        raise UsageError("--offered: the Pods of a recording come as they came; leave it out")
    if file and arrivals:
        raise UsageError("--departures: a file says itself how long Pods stay; leave it out")
    draw = _plotter(plot) if plot else None
    jobs = [
        Job(
            policy=policy,
            seed=seed,
            folder=data,
            trace=trace,
            file=file,
            recording=recording is not None,
            offered=offered,
            arrivals=arrivals,
            lives=lives,
            curve=plot is not None,
        )
        for policy in policies
        for seed in seeds
    ]
    done = _run(jobs)
    done.sort(key=lambda one: (policies.index(one.result.policy), seeds.index(one.result.seed)))
    results = [one.result for one in done]
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(results), indent=2))
    else:
        click.echo("\n".join(map(escaped, tables.lines(results))))
    if draw:  # last: where it cannot be written, hours of runs are not lost
        draw(done)


def _run(jobs: list[Job]) -> list[Done]:
    finished: list[Done] = []
    pods = sum(expected(job) for job in jobs)
    with click.progressbar(length=pods, label="placing Pods", file=sys.stderr) as bar:
        for step in all_of(jobs, os.cpu_count() or 1):
            if isinstance(step, Done):
                finished.append(step)
            else:
                bar.update(step)
        bar.update(pods)
    return finished


def _plotter(file: Path) -> Callable[[list[Done]], None]:
    """Return what draws to a file, found out before anything is run. Raises UsageError."""
    if file.suffix not in PLOTS:
        raise UsageError(f"--plot {file}: write a name that ends in {' or '.join(PLOTS)}")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"--plot {file}: there is no folder {file.parent}; make it first")
    try:
        plots = import_module("berth.cli.plots")
    except ImportError as error:
        raise UsageError(
            f"--plot needs matplotlib ({error}); install the extra: pip install 'berth-gpu[plot]'"
        ) from None
    draw: Callable[[Path, list[Done]], None] = plots.draw
    return lambda done: draw(file, done)
