"""`berth simulate`: what if the cluster of a trace had been filled by another policy."""

import os
import sys
from pathlib import Path
from statistics import fmean

import click
import msgspec

from berth.simulator.run import Result
from berth.simulator.runs import NAMES, Job, all_of
from berth.simulator.trace import own

DEFAULT = "scarcity"
PODS = 8_300
"""About how many Pods of a published list it takes to offer all cards once: for the bar alone."""


@click.command()
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the Alibaba GPU trace of 2023; else the part of it that comes with Berth.",
)
@click.option("--trace", default="default", show_default=True, help="Which list of Pods.")
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
    help="Order of arrivals; 42 to 51 are those of the published runs.",
)
@click.option(
    "--offered",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0.01, 1.3),
    help="How much to offer, in parts of the cluster's cards.",
)
@click.option(
    "arrivals",
    "--departures",
    default=0,
    metavar="ARRIVALS",
    help="Let Pods leave too: so many come, at random times, and the first 40% are not counted.",
)
@click.option(
    "-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True
)
def command(
    *,
    data: Path | None,
    trace: str,
    policies: tuple[str, ...],
    seeds: tuple[int, ...],
    offered: float,
    arrivals: int,
    output: str,
) -> None:
    """Place the Pods of a trace by a policy, in virtual time.

    Each decision is the one that a cluster would get. Pods come one by one and stay, as in the
    published experiment, or leave with --departures; one that does not fit is dropped.
    """
    folder = data or own()
    jobs = [
        Job(folder, trace, policy, seed, offered, arrivals) for policy in policies for seed in seeds
    ]
    results = _run(jobs)
    results.sort(key=lambda done: (policies.index(done.policy), seeds.index(done.seed)))
    if output == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(results), indent=2))
    else:
        click.echo("\n".join(table(results)))


def _run(jobs: list[Job]) -> list[Result]:
    results: list[Result] = []
    expected = sum(job.arrivals or round(PODS * job.offered) for job in jobs)
    with click.progressbar(length=expected, label="placing Pods", file=sys.stderr) as bar:
        for step in all_of(jobs, os.cpu_count() or 1):
            if isinstance(step, Result):
                results.append(step)
            else:
                bar.update(step)
        bar.update(expected)
    return results


def table(results: list[Result]) -> list[str]:
    """Return lines for a terminal: each run, and the mean of each policy with several seeds."""
    head = f"{'policy':<14} {'trace':<12} {'seed':>5} {'GPUs %':>8} {'fragm. %':>9}"
    lines = [f"{head} {'rejected %':>10} {'failed':>7}"]
    for policy in dict.fromkeys(done.policy for done in results):
        runs = [done for done in results if done.policy == policy]
        lines += [_line(done, str(done.seed)) for done in runs]
        if len(runs) > 1:
            allocated = fmean(done.gpu_allocation_percent for done in runs)
            fragmented = fmean(done.fragmentation_percent for done in runs)
            rejected = fmean(done.rejected_percent for done in runs)
            failed = fmean(done.failed_pods for done in runs)
            lines.append(
                f"{policy:<14} {runs[0].trace:<12} {'mean':>5} "
                f"{allocated:8.2f} {fragmented:9.2f} {rejected:10.2f} {failed:7.0f}"
            )
    return lines


def _line(done: Result, seed: str) -> str:
    return (
        f"{done.policy:<14} {done.trace:<12} {seed:>5} {done.gpu_allocation_percent:8.2f} "
        f"{done.fragmentation_percent:9.2f} {done.rejected_percent:10.2f} {done.failed_pods:7}"
    )
