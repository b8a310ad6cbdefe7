"""What a decision costs on a large cluster: `scripts/bench placement`.

Nodes of 8 cards, every fourth empty, the others half full; 20,000 Pods on 5,000 nodes. Each
decision that is measured is followed by its binding, and by the end of one that was bound before,
so the cluster stays as it is and whatever is kept between decisions pays for what has changed.
Times are taken by the clock and of the processor: where other programs run, the latter say more.
"""

import argparse
import json
import sys
from collections import deque
from random import Random
from statistics import quantiles
from time import perf_counter_ns, thread_time_ns

import msgspec

from benchmarks import ledger
from berth.cli import process
from berth.model.device import Device
from berth.model.node import Node
from berth.model.placement import Allocation, Placement
from berth.model.request import DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import decide
from berth.placement.held import allocate
from berth.placement.pick import Choice
from berth.placement.policies import POLICIES
from berth.placement.policy import Policy

HAMI = {1_000: 62_000, 5_000: 290_000}
"""Microseconds that the /filter of HAMi 2.10's extender takes, by nodes of 8 cards."""
MEMORY = 81_920
CARDS = 8
PODS_PER_NODE = 4
AT_ONCE = 100
"""Pods of the measured shape that are bound at any time."""


class Case(msgspec.Struct, kw_only=True):
    """One policy, size and shape; `cpu_` is time of the processor."""

    policy: str
    nodes: int
    gpus: int
    shape: str
    p50_us: float
    p99_us: float
    cpu_p50_us: float
    cpu_p99_us: float
    event_p50_us: float
    event_p99_us: float
    placed: int
    hami_ratio: float | None
    """How many times as long HAMi's /filter takes with as many nodes, where that was measured."""


def node(number: int) -> Node:
    """Return a node of 8 cards with 80 GiB in two linked halves."""
    devices = tuple(
        Device(
            uuid=f"GPU-{number:05}-{card}",
            vendor="nvidia",
            model="NVIDIA A100-SXM4-80GB",
            memory_mib=MEMORY,
            numa=card // 4,
            links=tuple(100 if card // 4 == other // 4 else 10 for other in range(CARDS)),
        )
        for card in range(CARDS)
    )
    return Node(name=f"node-{number:05}", cpu_milli=128_000, memory_mib=1 << 20, devices=devices)


def pod(cpu: int, memory: int, request: DeviceRequest) -> PodRequest:
    """Return a Pod of one container."""
    return PodRequest(cpu_milli=cpu, memory_mib=memory, devices=(("main", request),))


def share(cpu: int, memory: int, cores: int = 0) -> PodRequest:
    """Return a Pod that wants so much of one card."""
    request = DeviceRequest(vendor="nvidia", memory_mib=memory, cores=cores)
    return pod(cpu, 4 * cpu, request)


def cards(count: int, *, linked: bool = False) -> PodRequest:
    """Return a Pod that wants whole cards."""
    request = DeviceRequest(vendor="nvidia", cores=100, count=count, linked=linked)
    return pod(8_000 * count, 65_536 * count, request)


SHAPES = {
    "share": share(4_000, 10_240, 20),
    "whole": cards(1),
    "linked4": cards(4, linked=True),
    "whole8": cards(8),
}
MIX = [
    *[share(1_000 * cpu, 8_192 * part) for cpu in (1, 2, 4, 6) for part in (1, 2, 4, 6)],
    *[cards(1)] * 12,
    *[cards(2)] * 2,
    cards(4),
    cards(8),
]


def filled(nodes: int, generator: Random) -> Snapshot:
    """Return a cluster with as many Pods as fit of four per node, none on every fourth node."""
    snapshot = Snapshot(map(node, range(nodes)))
    taken = [row for row in range(nodes) if row % 4]
    for _ in range(nodes * PODS_PER_NODE):
        one = generator.choice(MIX)
        snapshot.mix.arrived(one.shape)
        row = generator.choice(taken)
        if snapshot.cpu[row] >= one.cpu_milli and snapshot.memory[row] >= one.memory_mib:
            held = allocate(one, snapshot, row, Choice())
            if held is not None:
                snapshot.place(held)
    return snapshot


def measure(
    snapshot: Snapshot, policy: Policy, wanted: PodRequest, rounds: int
) -> list[list[float]]:
    """Return microseconds of decisions, by clock and processor, and of events."""
    clock, processor, events = list[float](), list[float](), list[float]()
    bound: deque[Allocation] = deque()
    for _ in range(rounds):
        snapshot.mix.arrived(wanted.shape)
        start, cpu = perf_counter_ns(), thread_time_ns()
        decision = decide(wanted, snapshot, policy)
        processor.append((thread_time_ns() - cpu) / 1000)
        clock.append((perf_counter_ns() - start) / 1000)
        if isinstance(decision, Placement):
            start = perf_counter_ns()
            snapshot.place(decision.allocation)
            events.append((perf_counter_ns() - start) / 1000)
            bound.append(decision.allocation)
        if len(bound) > AT_ONCE:
            snapshot.undo(bound.popleft())
            snapshot.mix.departed()
    for left in bound:
        snapshot.undo(left)
    return [clock, processor, events]


def cases(nodes: int, name: str, rounds: int) -> list[Case]:
    """Measure one policy on a cluster of this size."""
    snapshot = filled(nodes, Random(1))
    process.settle()  # as the webhook does
    found = []
    for shape, wanted in SHAPES.items():
        times = measure(snapshot, POLICIES[name], wanted, rounds)
        clock, processor, events = (quantiles(one, n=100) for one in times)
        case = Case(
            policy=name,
            nodes=nodes,
            gpus=nodes * CARDS,
            shape=shape,
            p50_us=round(clock[49]),
            p99_us=round(clock[98]),
            cpu_p50_us=round(processor[49]),
            cpu_p99_us=round(processor[98]),
            event_p50_us=round(events[49], 1),
            event_p99_us=round(events[98], 1),
            placed=len(times[2]),
            hami_ratio=round(HAMI[nodes] / clock[49]) if nodes in HAMI else None,
        )
        fields = msgspec.structs.asdict(case).items()
        print(" ".join(f"{key}={value}" for key, value in fields), file=sys.stderr, flush=True)
        found.append(case)
    return found


def main() -> None:
    """Measure, and print JSON where that is wanted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--nodes", type=int, action="append")
    parser.add_argument("--policy", action="append", choices=POLICIES)
    arguments = parser.parse_args()
    found: list[Case] = []
    sizes = arguments.nodes or [1_000, 5_000]
    kept = ledger.costs(max(sizes), 2_000)  # first: its memory is what the process grows by
    print(kept, file=sys.stderr, flush=True)
    for nodes in sizes:
        for name in arguments.policy or POLICIES:
            found += cases(nodes, name, arguments.rounds)
    if arguments.json:
        print(json.dumps(msgspec.to_builtins({"cases": found, "ledger": kept})))


if __name__ == "__main__":
    main()
