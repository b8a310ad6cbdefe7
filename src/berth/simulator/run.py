"""One run: Pods come one by one, each is placed for good or fails, and nothing leaves.

The published experiment of the FGD paper: a Pod that does not fit is dropped. After each Pod the
share of the cluster's cards that was offered so far (what failed included) and the share that is
allocated are noted; the figure at k% is the mean over the Pods at which the offered share rounds
to k.
"""

from collections.abc import Iterator
from hashlib import sha1

import msgspec

from berth.placement.policy import Policy
from berth.simulator.cluster import Cluster
from berth.simulator.result import Class, Curve, Done, Point, Result
from berth.simulator.trace import Trace, order


class _Moment(msgspec.Struct, frozen=True):
    """How it stood when so much was offered, and no more."""

    offered: int
    failed: int
    used: int
    fragmented: float
    classes: dict[str, Class]


class Run:
    """An experiment under way: a cluster, the Pods to come, and what has been noted."""

    def __init__(self, trace: Trace, seed: int, *, curve: bool = False) -> None:
        """Start with an empty cluster; for a `curve`, note the fragmentation of each percent."""
        self.trace, self.seed = trace, seed
        self.order, ranks = order(trace, seed)
        self.cluster = Cluster(trace, seed, ranks)
        self.rows: list[int] = []
        self.offered = 0
        self._at: _Moment | None = None
        self._noted: dict[int, list[float]] = {}
        self._curve = curve
        self._points: list[Point] = []

    def steps(self, policy: Policy, offered: float) -> Iterator[int]:
        """Place Pods until so much is offered and noted; yield how many were, after each.

        What is reported is how it stood before the Pod that would have offered more, as in the
        exact replay; where the list ends with that one, at its end.
        """
        capacity = self.cluster.capacity
        most = round(offered * capacity)
        for count, index in enumerate(self.order, 1):
            if self._at is None and self.offered + self.trace.pods[index].milli > most:
                self._at = self._now()
            self._next(index, policy)
            percent = round(self.offered / capacity * 100)
            self._note(percent)
            yield count
            if percent > round(offered * 100):
                return
        self._at = None

    def _next(self, index: int, policy: Policy) -> None:
        pod = self.trace.pods[index]
        allocation = self.cluster.come(pod, policy)
        self.offered += pod.milli
        self.rows.append(self.cluster.snapshot.row[allocation.node] if allocation else -1)

    def _note(self, percent: int) -> None:
        used = round(self.cluster.used / self.cluster.capacity * 100, 2)
        if self._curve and percent not in self._noted:
            self._points.append(Point(percent, used, self.cluster.fragmentation()))
        self._noted.setdefault(percent, []).append(used)

    def _now(self) -> _Moment:
        cluster = self.cluster
        fragmented, classes = cluster.fragmentation(), cluster.counted()
        return _Moment(self.offered, cluster.failed, cluster.used, fragmented, classes)

    def allocated(self, percent: int) -> float:
        """Return what is allocated at so much offered, in % of the cluster."""
        noted = self._noted.get(percent) or [
            value for off in (-1, 1) for value in self._noted.get(percent + off, [])
        ]
        if not noted:  # a small cluster, where one Pod is more than a percent of it
            noted = self._noted.get(max((at for at in self._noted if at < percent), default=0), [])
        return sum(noted) / len(noted) if noted else 0.0

    def done(self, policy: str, offered: float) -> Done:
        """Gather what came of it, with its curve."""
        points = (
            Point(one.at, self.allocated(int(one.at)), one.fragmented) for one in self._points
        )
        return Done(self.result(policy, offered), Curve(tuple(points)))

    def result(self, policy: str, offered: float) -> Result:
        """Gather what came of it."""
        at = self._at or self._now()
        text = ",".join(map(str, self.rows))
        return Result(
            policy=policy,
            trace=self.trace.name,
            seed=self.seed,
            offered=offered,
            gpu_allocation_percent=round(self.allocated(round(offered * 100)), 3),
            rejected_percent=round((1 - at.used / at.offered) * 100, 3) if at.offered else 0.0,
            failed_pods=at.failed,
            fragmentation_percent=round(at.fragmented, 3),
            arrivals=len(self.rows),
            used_milli=at.used,
            first_failure=self.rows.index(-1) if -1 in self.rows else -1,
            placements=sha1(text.encode(), usedforsecurity=False).hexdigest(),
            classes=at.classes,
        )
