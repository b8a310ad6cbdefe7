"""What the ledger costs: `scripts/bench ledger`.

5,000 nodes of 8 cards as HAMi's agents register them and 20,000 bound Pods with HAMi's records:
first sync, memory, and what one event costs, the reading of its annotations included. A bound Pod
is one that the ledger has not seen; then it is deleted. Times are of the processor.
"""

import argparse
import gc
import json
import resource
from collections.abc import Callable
from random import Random
from statistics import quantiles
from time import thread_time_ns
from typing import TypeVar

import msgspec
import orjson

from benchmarks.placed import CARDS, SHARES, bound, node
from berth.cluster import projections
from berth.cluster.fleet import Fleet
from berth.vendors import VENDORS

T = TypeVar("T")


class Costs(msgspec.Struct, kw_only=True):
    """Seconds, MiB, and microseconds of the processor."""

    nodes: int
    pods: int
    nodes_seconds: float
    pods_seconds: float
    memory_mib: int
    """What the ledger adds to the process, beside the Nodes and Pods themselves."""
    bound_p50_us: float
    bound_p99_us: float
    deleted_p50_us: float
    deleted_p99_us: float


def fresh(pod: projections.Pod) -> projections.Pod:
    """Return a Pod as the watch brings it: from its bytes."""
    return msgspec.json.decode(orjson.dumps(msgspec.to_builtins(pod)), type=projections.Pod)


def microseconds(tell: Callable[[T | None, T | None], None], old: T | None, new: T | None) -> float:
    """Return how long one event takes."""
    began = thread_time_ns()
    tell(old, new)
    return (thread_time_ns() - began) / 1000


def resident() -> int:
    """Return the MiB that the process has had at the most."""
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def costs(nodes: int, rounds: int) -> Costs:
    """Fill a ledger, and tell it of as many Pods more."""
    generator = Random(1)

    def some(number: int) -> projections.Pod:
        on, card = generator.randrange(nodes), generator.randrange(CARDS)
        return bound(number, on, card, generator.choice(SHARES))

    there = [node(number) for number in range(nodes)]
    pods = [some(number) for number in range(4 * nodes)]
    more = [fresh(some(number)) for number in range(4 * nodes, 4 * nodes + rounds)]
    before, fleet = resident(), Fleet(VENDORS)
    nodes_seconds = sum(microseconds(fleet.node, None, one) for one in there) / 1e6
    pods_seconds = sum(microseconds(fleet.pod, None, one) for one in pods) / 1e6
    memory = resident() - before
    bound_us = quantiles([microseconds(fleet.pod, None, one) for one in more], n=100)
    deleted_us = quantiles([microseconds(fleet.pod, one, None) for one in more], n=100)
    return Costs(
        nodes=nodes,
        pods=len(pods),
        nodes_seconds=round(nodes_seconds, 2),
        pods_seconds=round(pods_seconds, 2),
        memory_mib=memory,
        bound_p50_us=round(bound_us[49], 1),
        bound_p99_us=round(bound_us[98], 1),
        deleted_p50_us=round(deleted_us[49], 1),
        deleted_p99_us=round(deleted_us[98], 1),
    )


def main() -> None:
    """Print the costs, with --json as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    found = msgspec.to_builtins(costs(wanted.nodes, wanted.rounds))
    if wanted.json:
        print(json.dumps(found))
    else:
        print(" ".join(f"{name}={value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
