"""Many runs: of several seeds and policies, on all cores."""

import multiprocessing
import os
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from ctypes import c_byte
from multiprocessing.sharedctypes import Synchronized  # noqa: TC003  the annotations are read
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from berth.errors import UsageError
from berth.placement.baselines import Random
from berth.placement.fragmentation import Fragmentation
from berth.placement.policies import POLICIES
from berth.placement.policy import Policy
from berth.simulator import made, recorded, schedule, trace
from berth.simulator.churn import Churn
from berth.simulator.cluster import Cluster
from berth.simulator.clustering import Clustering
from berth.simulator.result import Done
from berth.simulator.run import Run

EVERY = 0.2
"""Seconds between two looks at how far the runs are."""
NAMES = (*POLICIES, "clustering", "random")
FULL = 1.0
PODS = 8_300
"""About how many Pods of a published list it takes to offer all cards once: for the bar alone."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One run to do."""

    policy: str
    seed: int
    folder: Path | None = None
    """Of the published trace."""
    trace: str = "default"
    """Which of its lists."""
    file: Path | None = None
    """A workload of one's own, or with `recording` a recording, instead of that."""
    recording: bool = False
    offered: float | None = None
    arrivals: int = 0
    """With departures from the published list: how many Pods come; else 0."""
    lives: Literal["exponential", "own"] = "exponential"
    curve: bool = False
    """Whether the plot needs points."""

    @property
    def load(self) -> float:
        """How much is offered: all cards, unless it is said."""
        return FULL if self.offered is None else self.offered


def policy_of(name: str, cluster: Cluster) -> Policy:
    """Return a policy; FGD gets the list of typical requests, as it had when it was published."""
    if name == "random":
        return Random(np.random.default_rng(cluster.seed))
    if name == "clustering":
        return Clustering()
    return Fragmentation(cluster.known) if name == "fragmentation" else POLICIES[name]


def prepared(job: Job) -> Run | Churn:
    """Read what is to be run. Raises UsageError."""
    if job.file is None:
        of = trace.read(job.folder or trace.own(), job.trace)
        if not job.arrivals:
            return Run(of, job.seed, curve=job.curve)
        draw = schedule.own_lives if job.lives == "own" else schedule.steady
        return Churn(of, job.seed, draw(of, job.seed, job.arrivals, job.load), curve=job.curve)
    if job.recording:
        of, when = recorded.read(job.file)
        return Churn(of, job.seed, when, curve=job.curve)
    of, drawn = made.read(job.file, job.seed, job.load)
    if drawn is None:
        return Run(of, job.seed, curve=job.curve)
    return Churn(of, job.seed, drawn, curve=job.curve)


def expected(job: Job) -> int:
    """Say about how many Pods a run places, for the progress bar. Raises UsageError."""
    if job.file is None:
        return job.arrivals or round(PODS * job.load)
    run = prepared(job)
    return len(run.schedule.pods) if isinstance(run, Churn) else len(run.order)


def all_of(jobs: list[Job], cores: int) -> Iterator[int | Done]:
    """Do all jobs, and yield how many Pods were placed since, and each result when it is there.

    Raises UsageError.
    """
    if cores == 1 or len(jobs) == 1:
        for job in jobs:
            yield from one(job)
        return
    context = multiprocessing.get_context("spawn")
    placed, ended = context.Value("q", 0), context.RawValue("b", 0)
    seen = 0
    with ProcessPoolExecutor(min(cores, len(jobs)), context, _start, (placed, ended)) as pool:
        waiting = {pool.submit(_do, job) for job in jobs}
        try:
            while waiting:
                done, waiting = wait(waiting, EVERY, FIRST_COMPLETED)
                now = placed.get_obj().value  # one that was ended may have held the lock
                yield now - seen
                seen = now
                yield from [run.result() for run in done]
        except BrokenProcessPool:
            raise UsageError(
                "a process that placed Pods was ended from outside, as for want of memory; "
                "ask for fewer policies and seeds at once"
            ) from None
        finally:
            ended.value = 1
            pool.shutdown(cancel_futures=True)


def one(job: Job) -> Iterator[int | Done]:
    """Do one job, and yield 100 after each 100 Pods, then what came of it."""
    run = prepared(job)
    policy = policy_of(job.policy, run.cluster)
    offered = job.load
    steps = run.steps(policy, offered) if isinstance(run, Run) else run.steps(policy)
    for count in steps:
        if count % 100 == 0:
            yield 100
    if isinstance(run, Churn) and job.file is not None and job.offered is None:
        offered = load(run)
    yield run.done(job.policy, offered)


def load(run: Churn) -> float:
    """Return what would be used in the mean if nothing were rejected, in parts of all cards."""
    when, pods = run.schedule, run.cluster.trace.pods
    stays = np.minimum(when.times + when.lifetimes, when.end) - when.times
    milli = np.array([pods[place].milli for place in when.pods])
    area = float((stays * milli).sum()) if len(milli) else 0.0
    area += sum(pods[one.pod].milli * min(one.until, when.end) for one in when.there)
    return area / (run.cluster.trace.capacity * when.end or 1.0)


_placed: "Synchronized[int]"
"""In a process of the pool: how many Pods all of them have placed, for the progress bar."""
_ended: c_byte
"""There too: whether nobody waits for results any more."""


def _start(placed: "Synchronized[int]", ended: c_byte) -> None:
    global _placed, _ended
    _placed, _ended = placed, ended
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End where the command is killed: a process of a pool waits for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(job: Job) -> Done:
    for step in one(job):
        if isinstance(step, Done):
            return step
        if _ended.value:
            break
        with _placed.get_lock():
            _placed.value += step
    raise AssertionError("a run ends with its result, or where nobody waits for it")
