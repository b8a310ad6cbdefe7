"""One run with departures: Pods come and leave at the same rate, and the cluster stays so full.

Pods are drawn from the list with replacement; they come in a Poisson stream whose load, if nothing
were rejected, is `offered` of the cluster's cards, and stay for exponential times. A Pod that does
not fit is rejected. The first part, until the cluster is full, is not counted.
"""

import heapq
from collections.abc import Iterator

import numpy as np

from berth.model.placement import Allocation, Placement
from berth.placement.decide import decide
from berth.placement.policy import Policy
from berth.simulator.run import Result, Run
from berth.simulator.trace import Trace

WARM = 0.4
"""The part of the arrivals that is not counted."""


class Churn:
    """An experiment under way. Time is counted in mean lifetimes."""

    def __init__(self, trace: Trace, seed: int, arrivals: int, offered: float) -> None:
        """Draw who comes, when, and for how long."""
        generator = np.random.default_rng(seed)
        self.run = Run(trace, seed)
        self.offered = offered
        self.pods = generator.integers(len(trace.pods), size=arrivals)
        mean = sum(pod.milli for pod in trace.pods) / len(trace.pods)
        rate = offered * trace.capacity / mean
        self.lifetimes = generator.exponential(1.0, arrivals)
        self.times = np.cumsum(generator.exponential(1 / rate, arrivals))
        self._leaving: list[tuple[float, int, Allocation]] = []
        self._counted = self._now = 0.0
        self._wanted = self._rejected = self._failed = 0

    def steps(self, policy: Policy) -> Iterator[int]:
        """Let all come, and yield how many have, after each."""
        for count, index in enumerate(self.pods):
            now = float(self.times[count])
            self._leave(now)
            if count == int(WARM * len(self.pods)):
                self._counted, self._start = 0.0, now
                self._wanted = self._rejected = self._failed = 0
            self._come(int(index), count, policy)
            yield count + 1

    def _leave(self, now: float) -> None:
        while self._leaving and self._leaving[0][0] <= now:
            gone, number, allocation = heapq.heappop(self._leaving)
            self._pass(gone)
            self.run.snapshot.undo(allocation)
            self.run.snapshot.mix.departed()
            self.run.used -= self.run.trace.pods[int(self.pods[number])].milli
        self._pass(now)

    def _pass(self, now: float) -> None:
        self._counted += self.run.used * (now - self._now)
        self._now = now

    def _come(self, index: int, number: int, policy: Policy) -> None:
        pod = self.run.trace.pods[index]
        self.run.snapshot.mix.arrived(pod.request.shape)
        decision = decide(pod.request, self.run.snapshot, policy)
        self._wanted += pod.milli
        if isinstance(decision, Placement):
            self.run.snapshot.place(decision.allocation)
            self.run.used += pod.milli
            leaves = self._now + float(self.lifetimes[number])
            heapq.heappush(self._leaving, (leaves, number, decision.allocation))
        else:
            self._rejected += pod.milli
            self._failed += 1

    def result(self, policy: str) -> Result:
        """Gather what came of it: means over the time that was counted."""
        span = (self._now - self._start) * self.run.trace.capacity
        return Result(
            policy=policy,
            trace=self.run.trace.name,
            seed=self.run.seed,
            offered=self.offered,
            departures=True,
            gpu_allocation_percent=round(self._counted / span * 100, 3),
            rejected_percent=round(self._rejected / max(1, self._wanted) * 100, 3),
            failed_pods=self._failed,
            fragmentation_percent=round(self.run.fragmentation(), 3),
            used_milli=self.run.used,
            arrivals=len(self.pods),
        )
