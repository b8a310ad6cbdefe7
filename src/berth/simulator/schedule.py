"""Who comes when, and how long he stays: drawn at random, from the list of a trace."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from berth.model.charge import Claim
from berth.model.node import Node
from berth.simulator.trace import Trace

Floats = NDArray[np.float64]
WARM = 0.4
"""The part of the arrivals that is not counted: until the cluster is as full as it gets."""
WARM_OWN = 0.5
"""The same under the trace's own lifetimes, of which some are long."""
CAPPED = 95
"""Own lifetimes are cut at this percentile: 1% of the tasks hold 90% of all GPU time else."""
UNKNOWN = 540.0
"""Seconds that a Pod stays whose lifetime the list does not tell: the median of the others."""
SPREAD = 0.1
"""By so much each own lifetime is longer or shorter, so that no two runs are alike."""
FOR_GOOD = np.inf


class There(msgspec.Struct, frozen=True):
    """A Pod that was there before the first came: its place in the list, and on the cluster."""

    pod: int
    node: str
    claims: tuple[Claim, ...]
    until: float


class Change(msgspec.Struct, frozen=True):
    """A node that comes or changes, or leaves where there is none."""

    at: float
    name: str
    node: Node | None


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the trace's list, a time and a lifetime for each Pod that comes, in order."""

    pods: NDArray[np.int64]
    times: Floats
    lifetimes: Floats
    """In the unit of times; infinite where a Pod stays for good."""
    unit: str = "mean lifetimes"
    counted: int = 0
    """How many come before anything is counted."""
    end: float
    there: tuple[There, ...] = ()
    changes: tuple[Change, ...] = ()
    """In the order of their times."""


def steady(trace: Trace, seed: int, arrivals: int, offered: float) -> Schedule:
    """Keep the cluster at a load: a Poisson stream, and exponential times of one mean for all."""
    trace.check_load()
    generator = np.random.default_rng(seed)
    pods = generator.integers(len(trace.pods), size=arrivals)
    mean = sum(pod.milli for pod in trace.pods) / len(trace.pods)
    lifetimes = generator.exponential(1.0, arrivals)
    times = np.cumsum(generator.exponential(mean / (offered * trace.capacity), arrivals))
    return _counted_late(pods, times, lifetimes, WARM)


def own_lives(trace: Trace, seed: int, arrivals: int, offered: float) -> Schedule:
    """Do the same with the lifetimes of the list, in seconds, cut at the 95th percentile."""
    trace.check_load()
    generator = np.random.default_rng(seed)
    pods = generator.integers(len(trace.pods), size=arrivals)
    each = np.array([pod.lifetime or UNKNOWN for pod in trace.pods])
    each = np.clip(each, 1.0, np.percentile(each, CAPPED))
    lifetimes = each[pods] * generator.uniform(1 - SPREAD, 1 + SPREAD, arrivals)
    rate = offered * trace.capacity / float((_milli(trace) * each).mean())
    times = np.cumsum(generator.exponential(1 / rate, arrivals))
    found = _counted_late(pods, times, lifetimes, WARM_OWN)
    return msgspec.structs.replace(found, unit="seconds")


def _milli(trace: Trace) -> Floats:
    return np.array([pod.milli for pod in trace.pods], dtype=np.float64)


def _counted_late(
    pods: NDArray[np.int64], times: Floats, lifetimes: Floats, warm: float
) -> Schedule:
    return Schedule(
        pods=pods,
        times=times,
        lifetimes=lifetimes,
        counted=int(warm * len(pods)),
        end=float(times[-1]),
    )
