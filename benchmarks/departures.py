"""Pods that come and leave, in seven settings: `scripts/bench traces --departures`.

Pods are drawn from a list; they come in a Poisson stream at a load and stay for random times. Each
run becomes a line of JSON. Runs share all cores.
"""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from berth.simulator.result import Class, Done, Result
from berth.simulator.runs import Job, all_of

POLICIES = ("scarcity", "fragmentation", "best-fit", "first-fit")
SEEDS = (11, 12)


class Setting(msgspec.Struct, frozen=True):
    """One experiment."""

    trace: str
    offered: float
    arrivals: int = 80_000
    """About ten mean lifetimes."""
    lives: Literal["exponential", "own"] = "exponential"


SETTINGS = {
    1: Setting("default", 0.90),
    2: Setting("default", 0.95),
    3: Setting("multigpu20", 0.90),
    4: Setting("multigpu20", 0.95),
    5: Setting("cpu250", 0.95),
    6: Setting("gpuspec33", 0.95),
    7: Setting("default", 0.95, 150_000, "own"),
}


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One run; percent."""

    setting: int
    trace: str
    offered: float
    lifetimes: str
    arrivals: int
    policy: str
    seed: int
    allocated: float
    """Of all cards, in the mean over the time that is counted."""
    rejected: float
    """Of all cards that were wanted."""
    rejected_of_8: float
    """Of the Pods that want eight cards."""


def main(
    settings: Iterable[int],
    policies: Iterable[str],
    seeds: Iterable[int],
    folder: Path | None,
    arrivals: int | None,
) -> None:
    """Do all runs, and print a line for each as it ends; fewer `arrivals` are for a try."""
    for number in settings:
        one = SETTINGS[number]
        jobs = [
            Job(
                policy=policy,
                seed=seed,
                folder=folder,
                trace=one.trace,
                offered=one.offered,
                arrivals=arrivals or one.arrivals,
                lives=one.lives,
            )
            for policy in policies
            for seed in seeds
        ]
        for step in all_of(jobs, os.cpu_count() or 1):
            if isinstance(step, Done):
                line = _line(number, step.result)
                sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
                sys.stdout.flush()


def _line(number: int, done: Result) -> Line:
    large = done.classes.get("8 cards", Class())
    return Line(
        setting=number,
        trace=done.trace,
        offered=done.offered,
        lifetimes=SETTINGS[number].lives,
        arrivals=done.arrivals,
        policy=done.policy,
        seed=done.seed,
        allocated=done.gpu_allocation_percent,
        rejected=done.rejected_percent,
        rejected_of_8=round(large.failed / max(1, large.came) * 100, 2),
    )
