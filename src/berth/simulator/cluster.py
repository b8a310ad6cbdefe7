"""A simulated cluster under way: who came, who was placed, and what is used."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from berth.model.placement import Allocation, Placement
from berth.model.snapshot import Snapshot
from berth.placement.decide import Extent, decide
from berth.placement.fragmentation import fragmented
from berth.placement.policy import Policy
from berth.placement.typical import Typical, typical
from berth.simulator.result import Class, in_order, size_of
from berth.simulator.trace import Arrival, Trace

ONE = Extent(why=False)
"""Where a Pod goes, and no more."""


class Cluster:
    """The nodes of a trace, filled by one decision after the other."""

    def __init__(self, trace: Trace, seed: int, ranks: Iterable[int]) -> None:
        """Start with empty nodes; `ranks` break ties among them."""
        self.trace, self.seed = trace, seed
        ranked = zip(trace.nodes, ranks, strict=True)
        self.snapshot = Snapshot(msgspec.structs.replace(node, rank=rank) for node, rank in ranked)
        self.capacity = trace.capacity
        self.classes: dict[str, Class] = {}
        self.used = self.failed = 0

    @property
    def known(self) -> Typical:
        """The typical requests of the trace's list, which the published FGD knows beforehand."""
        return typical(Counter(pod.request.shape for pod in self.trace.pods), self.snapshot)

    def come(self, pod: Arrival, policy: Policy) -> Allocation | None:
        """Place a Pod, or drop it where it does not fit."""
        self.snapshot.mix.arrived(pod.request.shape)
        decision = decide(pod.request, self.snapshot, policy, ONE)
        of = self.classes.setdefault(size_of(pod.request), Class())
        of.came += 1
        if isinstance(decision, Placement):
            self.snapshot.place(decision.allocation)
            self.used += pod.milli
            return decision.allocation
        of.failed += 1
        self.failed += 1
        return None

    def leave(self, pod: Arrival, allocation: Allocation) -> None:
        """Let a Pod go that was placed."""
        self.snapshot.undo(allocation)
        self.snapshot.mix.departed()
        self.used -= pod.milli

    def counted(self) -> dict[str, Class]:
        """Return who came and failed so far, from small to large."""
        return {name: Class(of.came, of.failed) for name, of in in_order(self.classes).items()}

    def forget(self) -> None:
        """Count who comes and fails from now on."""
        self.classes, self.failed = {}, 0

    def fragmentation(self) -> float:
        """Return what is left and useless to a typical request of the trace, in % of all cards."""
        return float(fragmented(self.snapshot, self.known).sum() / max(1, self.capacity) * 100)

    def allocated(self) -> float:
        """Return what is used now, in % of all cards."""
        return self.used / max(1, self.capacity) * 100
