"""One run in which Pods come and leave, as a schedule says.

A Pod that does not fit when it comes is rejected. A Pod that is placed leaves when its lifetime is
over, wherever it is. What comes first may be left out of the count, until the cluster is full.
"""

import heapq
from collections.abc import Iterator

import msgspec

from berth.model.charge import Charge, allocation
from berth.model.placement import Allocation
from berth.model.request import PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.held import allocate
from berth.placement.pick import FULLEST
from berth.placement.policy import Policy
from berth.simulator.cluster import Cluster
from berth.simulator.result import Curve, Done, Point, Result
from berth.simulator.schedule import Change, Schedule, There
from berth.simulator.trace import CARD, Arrival, Trace, ranks

POINTS = 100
"""Points of a curve."""


class _Stays(msgspec.Struct):
    pod: Arrival
    allocation: Allocation


class Churn:
    """An experiment under way."""

    def __init__(self, trace: Trace, seed: int, schedule: Schedule, *, curve: bool = False) -> None:
        """Start with the Pods that are there before the first comes."""
        self.cluster = Cluster(trace, seed, ranks(trace, seed))
        self.schedule = schedule
        self._places: dict[int, _Stays] = {}
        self._leaving: list[tuple[float, int]] = []
        self._area = self._wanted_area = self._now = self._start = self._cards = 0.0
        self._wanted = self._rejected = 0
        self._changes = list(reversed(schedule.changes))
        self._points: list[Point] = []
        self._every = max(1, len(schedule.pods) // POINTS) if curve else 0
        for number, there in enumerate(schedule.there, 1):
            self._was_there(-number, there)

    def steps(self, policy: Policy) -> Iterator[int]:
        """Let all come, and yield how many have, after each."""
        schedule = self.schedule
        for count, index in enumerate(schedule.pods):
            self._until(float(schedule.times[count]))
            if count and count == schedule.counted:
                self._area = self._cards = 0.0
                self._start, self._wanted, self._rejected = self._now, 0, 0
                self.cluster.forget()
            self._come(int(index), count, policy)
            if self._every and count % self._every == 0:
                self._note()
            yield count + 1
        self._until(schedule.end)

    def _until(self, now: float) -> None:
        """Let pass what happens until then, in order; who leaves does so before a node changes."""
        while (at := self._next()) <= now:
            self._pass(at)
            if self._leaving and self._leaving[0][0] <= at:
                self._leave(heapq.heappop(self._leaving)[1])
            else:
                self._change(self._changes.pop())
        self._pass(now)

    def _next(self) -> float:
        leaving = self._leaving[0][0] if self._leaving else float("inf")
        return min(leaving, self._changes[-1].at if self._changes else float("inf"))

    def _leave(self, number: int) -> None:
        stays = self._places.pop(number, None)
        if stays is not None:
            self.cluster.leave(stays.pod, stays.allocation)

    def _pass(self, now: float) -> None:
        self._area += self.cluster.used * (now - self._now)
        self._cards += self.cluster.capacity * (now - self._now)
        self._now = now

    def _come(self, index: int, number: int, policy: Policy) -> None:
        pod = self.cluster.trace.pods[index]
        placed = self.cluster.come(pod, policy)
        self._wanted += pod.milli
        if placed is None:
            self._rejected += pod.milli
        else:
            self._stay(number, _Stays(pod, placed), float(self.schedule.lifetimes[number]))

    def _stay(self, number: int, stays: _Stays, lifetime: float) -> None:
        self._places[number] = stays
        heapq.heappush(self._leaving, (self._now + lifetime, number))

    def _was_there(self, number: int, there: There) -> None:
        snapshot, pod = self.cluster.snapshot, self.cluster.trace.pods[there.pod]
        snapshot.mix.arrived(pod.request.shape)
        if there.node in snapshot.row:
            held = _held(there, pod.request, snapshot)
            snapshot.place(held)
            self.cluster.used += pod.milli
            self._stay(number, _Stays(pod, held), there.until)

    def _change(self, change: Change) -> None:
        """Take a node as it is now; what is on it stays as far as its cards are still there."""
        snapshot = self.cluster.snapshot
        there = {
            number: stays
            for number, stays in self._places.items()
            if stays.allocation.node == change.name
        }
        row = snapshot.row.get(change.name)
        before = () if row is None else snapshot.nodes[row].devices
        self.cluster.capacity -= len(before) * CARD
        if change.node is None:
            for number in there:
                self._leave(number)
            snapshot.remove(change.name)
            return
        self.cluster.capacity += len(change.node.devices) * CARD
        snapshot.put(change.node)
        place = {device.uuid: at for at, device in enumerate(change.node.devices)}
        for stays in there.values():
            holds = tuple(
                msgspec.structs.replace(one, device=place[before[one.device].uuid])
                for one in stays.allocation.holds
                if before[one.device].uuid in place
            )
            stays.allocation = msgspec.structs.replace(stays.allocation, holds=holds)
            snapshot.place(stays.allocation)

    def _note(self) -> None:
        fragmented = self.cluster.fragmentation()
        self._points.append(Point(self._now, self.cluster.allocated(), fragmented))

    def done(self, policy: str, offered: float) -> Done:
        """Gather what came of it, with its curve."""
        curve = Curve(tuple(self._points), self.schedule.unit)
        return Done(self.result(policy, offered), curve)

    def result(self, policy: str, offered: float) -> Result:
        """Gather what came of it: means over the time that was counted."""
        return Result(
            policy=policy,
            trace=self.cluster.trace.name,
            seed=self.cluster.seed,
            offered=round(offered, 4),
            departures=True,
            gpu_allocation_percent=round(self._area / (self._cards or 1.0) * 100, 3),
            rejected_percent=round(self._rejected / max(1, self._wanted) * 100, 3),
            failed_pods=self.cluster.failed,
            fragmentation_percent=round(self.cluster.fragmentation(), 3),
            used_milli=self.cluster.used,
            arrivals=len(self.schedule.pods),
            classes=self.cluster.counted(),
        )


def _held(there: There, wanted: PodRequest, snapshot: Snapshot) -> Allocation:
    """Return what a Pod holds that is there already: what is known, else what it would get."""
    row = snapshot.row[there.node]
    if not there.claims:
        got = allocate(wanted, snapshot, row, FULLEST)
        if got is not None:
            return got
    charge = Charge(
        namespace="",
        name="",
        uid="",
        node=there.node,
        cpu_milli=wanted.cpu_milli,
        memory_mib=wanted.memory_mib,
        other=wanted.other,
        claims=there.claims,
        init=tuple(name for name, _ in wanted.init_devices),
        sidecars=wanted.sidecars,
    )
    return allocation(charge, snapshot.nodes[row].devices)[0]
