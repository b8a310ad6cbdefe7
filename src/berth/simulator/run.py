"""One run: Pods come one by one, each is placed for good or fails, and nothing leaves.

The published experiment of the FGD paper: a Pod that does not fit is dropped. After each Pod the
share of the cluster's cards that was offered so far (what failed included) and the share that is
allocated are noted; the figure at k% is the mean over the Pods at which the offered share rounds
to k.
"""

from collections import Counter
from collections.abc import Iterator
from hashlib import sha1

import msgspec

from berth.model.placement import Placement
from berth.model.snapshot import Snapshot
from berth.placement.decide import decide
from berth.placement.fragmentation import fragmented
from berth.placement.policy import Policy
from berth.placement.typical import Typical, typical
from berth.simulator.trace import Trace, order


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one run."""

    policy: str
    trace: str
    seed: int
    offered: float
    departures: bool = False
    gpu_allocation_percent: float
    rejected_percent: float
    """What of all cards that were wanted was rejected."""
    failed_pods: int
    """When so much was first offered; likewise the two below."""
    fragmentation_percent: float
    """What of all cards is left then, and useless to a typical request (FGD's measure)."""
    used_milli: int
    arrivals: int
    """Until one more percent was offered, or the list ended; likewise the two below."""
    first_failure: int = -1
    placements: str = ""
    """SHA-1 over the node rows chosen, -1 for a Pod that failed."""


class Run:
    """An experiment under way: a cluster, the Pods to come, and what has been noted."""

    def __init__(self, trace: Trace, seed: int) -> None:
        """Start with an empty cluster."""
        self.trace, self.seed = trace, seed
        self.order, ranks = order(trace, seed)
        ranked = zip(trace.nodes, ranks, strict=True)
        self.snapshot = Snapshot(msgspec.structs.replace(node, rank=rank) for node, rank in ranked)
        self.rows: list[int] = []
        self.offered = self.used = self.failed = 0
        self._at: tuple[int, int, int, float] | None = None
        self._noted: dict[int, list[float]] = {}

    @property
    def known(self) -> Typical:
        """The typical requests of the trace's list, which the published FGD knows beforehand."""
        return typical(Counter(pod.request.shape for pod in self.trace.pods), self.snapshot)

    def steps(self, policy: Policy, offered: float) -> Iterator[int]:
        """Place Pods until so much is offered and noted; yield how many were, after each."""
        capacity = self.trace.capacity
        for count, index in enumerate(self.order, 1):
            self._next(index, policy)
            percent = round(self.offered / capacity * 100)
            used = round(self.used / capacity * 100, 2)
            self._noted.setdefault(percent, []).append(used)
            if self._at is None and self.offered >= offered * capacity:
                self._at = self._now()
            yield count
            if percent > round(offered * 100):
                return

    def _next(self, index: int, policy: Policy) -> None:
        pod = self.trace.pods[index]
        self.snapshot.mix.arrived(pod.request.shape)
        decision = decide(pod.request, self.snapshot, policy)
        self.offered += pod.milli
        if isinstance(decision, Placement):
            self.snapshot.place(decision.allocation)
            self.used += pod.milli
            self.rows.append(self.snapshot.row[decision.allocation.node])
        else:
            self.failed += 1
            self.rows.append(-1)

    def _now(self) -> tuple[int, int, int, float]:
        return self.offered, self.failed, self.used, self.fragmentation()

    def fragmentation(self) -> float:
        """Return what is left and useless to a typical request of the trace, in % of all cards."""
        return float(fragmented(self.snapshot, self.known).sum() / self.trace.capacity * 100)

    def allocated(self, percent: int) -> float:
        """Return what is allocated at so much offered, in % of the cluster."""
        noted = self._noted.get(percent) or [
            value for off in (-1, 1) for value in self._noted.get(percent + off, [])
        ]
        if not noted:  # a small cluster, where one Pod is more than a percent of it
            noted = self._noted.get(max((at for at in self._noted if at < percent), default=0), [])
        return sum(noted) / len(noted) if noted else 0.0

    def result(self, policy: str, offered: float) -> Result:
        """Gather what came of it."""
        wanted, failed, used, lost = self._at or self._now()
        text = ",".join(map(str, self.rows))
        return Result(
            policy=policy,
            trace=self.trace.name,
            seed=self.seed,
            offered=offered,
            gpu_allocation_percent=round(self.allocated(round(offered * 100)), 3),
            rejected_percent=round((1 - used / max(1, wanted)) * 100, 3),
            failed_pods=failed,
            fragmentation_percent=round(lost, 3),
            arrivals=len(self.rows),
            used_milli=used,
            first_failure=self.rows.index(-1) if -1 in self.rows else -1,
            placements=sha1(text.encode(), usedforsecurity=False).hexdigest(),
        )
