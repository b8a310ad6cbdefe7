"""Many runs: of several seeds and policies, on all cores."""

import multiprocessing
from collections.abc import Iterator
from multiprocessing.sharedctypes import Synchronized  # noqa: TC003  the annotations are read
from pathlib import Path

import msgspec
import numpy as np

from berth.placement.baselines import Random
from berth.placement.fragmentation import Fragmentation
from berth.placement.policies import POLICIES
from berth.placement.policy import Policy
from berth.simulator.churn import Churn
from berth.simulator.clustering import Clustering
from berth.simulator.run import Result, Run
from berth.simulator.trace import read

EVERY = 0.2
"""Seconds between two looks at how far the runs are."""
NAMES = (*POLICIES, "clustering", "random")


class Job(msgspec.Struct, frozen=True):
    """One run to do."""

    folder: Path
    trace: str
    policy: str
    seed: int
    offered: float
    arrivals: int = 0
    """With departures: how many Pods come; else 0."""


def policy_of(name: str, run: Run) -> Policy:
    """Return a policy; FGD gets the list of typical requests, as it had when it was published."""
    if name == "random":
        return Random(np.random.default_rng(run.seed))
    if name == "clustering":
        return Clustering()
    return Fragmentation(run.known) if name == "fragmentation" else POLICIES[name]


def all_of(jobs: list[Job], cores: int) -> Iterator[int | Result]:
    """Do all jobs, and yield how many Pods were placed since, and each result when it is there."""
    if cores == 1 or len(jobs) == 1:
        for job in jobs:
            yield from one(job)
        return
    context = multiprocessing.get_context("spawn")
    placed = context.Value("q", 0)
    seen = 0
    with context.Pool(min(cores, len(jobs)), _start, (placed,)) as pool:
        waiting = [pool.apply_async(_do, (job,)) for job in jobs]
        while waiting:
            waiting[0].wait(EVERY)
            yield placed.value - seen
            seen = placed.value
            done = [run for run in waiting if run.ready()]
            yield from [run.get() for run in done]
            waiting = [run for run in waiting if run not in done]


def one(job: Job) -> Iterator[int | Result]:
    """Do one job, and yield 100 after each 100 Pods, then the result."""
    if job.arrivals:
        churn = Churn(read(job.folder, job.trace), job.seed, job.arrivals, job.offered)
        for count in churn.steps(policy_of(job.policy, churn.run)):
            if count % 100 == 0:
                yield 100
        yield churn.result(job.policy)
        return
    run = Run(read(job.folder, job.trace), job.seed)
    for count in run.steps(policy_of(job.policy, run), job.offered):
        if count % 100 == 0:
            yield 100
    yield run.result(job.policy, job.offered)


_placed: "Synchronized[int]"
"""In a process of the pool: how many Pods all of them have placed, for the progress bar."""


def _start(placed: "Synchronized[int]") -> None:
    global _placed  # noqa: PLW0603  a pool hands its processes shared values in no other way
    _placed = placed


def _do(job: Job) -> Result:
    for step in one(job):
        if isinstance(step, Result):
            return step
        with _placed.get_lock():
            _placed.value += step
    raise AssertionError("a run ends with its result")
