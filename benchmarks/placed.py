"""What placing adds to the webhook's answer: `scripts/bench placed`.

5,000 nodes of 8 cards as HAMi's agents register them, half full with 20,000 bound Pods, all told
by two stores as the watches do. Each answer that is measured is followed by what the watches then
tell, bound after that, and the end of one that was bound before: not part of the answer, but what
it has to make good for is. Without placing, the same bodies are answered by the same code. Times
are of the processor, by the clock where said: where other programs run, the former say more.
"""

import argparse
import json
import resource
import sys
from collections import deque
from itertools import count
from random import Random
from statistics import quantiles
from time import perf_counter, perf_counter_ns, thread_time_ns

import msgspec
import orjson

from benchmarks import bodies
from berth import layered
from berth.admission import configuration, mutate, wire
from berth.admission.claims import Claims
from berth.admission.placer import Placer
from berth.admission.rules import Rules
from berth.admission.standings import Standings
from berth.cli import process
from berth.cluster import projections
from berth.cluster.projections import Amounts, Condition, Container, Metadata, NodeStatus, PodSpec
from berth.cluster.reservations import Times
from berth.cluster.store import Store
from berth.model.raw import JsonObject

CARDS = 8
MEMORY = 81_920
AT_ONCE = 100
"""Pods of the measured kind that are bound at any time."""
SHARES = ((10_240, 0), (20_480, 0), (40_960, 0), (81_920, 100))
"""MiB and cores of the Pods that are there."""
DELIVERIES = ("prefer", "require", "pin")


def uuid(number: int, card: int) -> str:
    """Return the UUID of a card."""
    return f"GPU-{number:05}-{card}"


def node(number: int) -> projections.Node:
    """Return a node that registers its cards."""
    each = [
        {
            "id": uuid(number, card),
            "index": card,
            "count": 10,
            "devmem": MEMORY,
            "devcore": 100,
            "type": "NVIDIA-NVIDIA A100-SXM4-80GB",
            "mode": "hami-core",
            "numa": card // 4,
            "health": True,
        }
        for card in range(CARDS)
    ]
    name = f"node-{number:05}"
    return projections.Node(
        metadata=Metadata(
            name=name,
            uid=name,
            labels={"kubernetes.io/hostname": name},
            annotations={"hami.io/node-nvidia-register": orjson.dumps(each).decode()},
        ),
        status=NodeStatus(
            allocatable={"cpu": "128", "memory": "1Ti", "pods": "110", "nvidia.com/gpu": "80"},
            conditions=(Condition("Ready", "True"),),
        ),
    )


def bound(number: int, on: int, card: int, share: tuple[int, int]) -> projections.Pod:
    """Return a Pod that holds so much of a card, as HAMi's scheduler records it."""
    memory, cores = share
    asks = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": str(memory), "cpu": "4", "memory": "16Gi"}
    record = f"{uuid(on, card)},NVIDIA,{memory},{cores}:;"
    return projections.Pod(
        metadata=Metadata(
            namespace="team-b",
            name=f"pod-{number}",
            uid=str(number),
            annotations={"hami.io/vgpu-devices-allocated": record},
        ),
        spec=PodSpec(
            containers=(Container(name="main", resources=Amounts(limits=asks, requests=asks)),),
            node_name=f"node-{on:05}",
        ),
    )


class Cluster:
    """Two stores, and a webhook's standings that listen to them."""

    def __init__(self, nodes: int, rules: Rules) -> None:
        """Fill three nodes of four, a card each with one Pod, until half is held."""
        self.rules = rules
        self.pods: Store[projections.Pod] = Store({})
        here: Store[projections.Node] = Store({})
        self.placer = Placer(here, self.pods, rules, perf_counter, Times())
        self.placer.synced = True
        ids = count()
        claims = Claims(10, perf_counter)
        self.standings = Standings(claims, lambda: f"{next(ids):016}", None, self.placer)
        self.pods.listen(self.standings.pod)
        began = perf_counter()
        here.replace(map(node, range(nodes)))
        self.nodes_seconds = perf_counter() - began
        generator = Random(1)
        taken = [(on, card) for on in range(nodes) if on % 4 for card in range(CARDS)]
        places = generator.sample(taken, min(len(taken), 4 * nodes))
        each = [
            bound(number, on, card, generator.choice(SHARES))
            for number, (on, card) in enumerate(places)
        ]
        began = perf_counter()
        self.pods.replace(each)
        self.pods_seconds = perf_counter() - began
        self._numbers = count(len(each))

    def told(self, answered: JsonObject, *, on: str = "") -> projections.Pod:
        """Let the watch show what was answered, and that it is bound; return it."""
        stored = orjson.loads(orjson.dumps(answered))
        number = str(next(self._numbers))
        stored["metadata"] |= {"name": f"new-{number}", "namespace": "team-a", "uid": number}
        stored["metadata"]["resourceVersion"] = number
        pod = msgspec.convert(stored, projections.Pod)
        self.pods.put(pod)
        stored["spec"]["nodeName"] = on
        stored["metadata"]["resourceVersion"] = f"{number}.1"
        pod = msgspec.convert(stored, projections.Pod)
        self.pods.put(pod)
        return pod


class Case(msgspec.Struct, kw_only=True):
    """One kind of Pod and way of delivery, in microseconds of the processor; without and with."""

    nodes: int
    body: str
    policy: str
    delivery: str
    without_p50_us: float
    without_p99_us: float
    with_p50_us: float
    with_p99_us: float
    more_p50_us: float
    clock_p50_us: float
    clock_p99_us: float
    placed: int


def without(body: bytes, rules: Rules, rounds: int) -> list[float]:
    """Return what answers cost where no fleet is known."""
    found = []
    for _ in range(rounds):
        began = thread_time_ns()
        review = wire.decode(body)
        assert review.object is not None
        wire.answer(review, mutate.decide(review.object, review.namespace, rules), 1)
        found.append((thread_time_ns() - began) / 1000)
    return found


def placed(cluster: Cluster, body: bytes, rounds: int) -> tuple[list[float], list[float], int]:
    """Return what answers cost with it, by processor and by clock, and how many were placed."""
    spent, clock, done = list[float](), list[float](), 0
    alive: deque[projections.Pod] = deque()
    for _ in range(rounds):
        began, cpu = perf_counter_ns(), thread_time_ns()
        review = wire.decode(body)
        assert review.object is not None
        decision = cluster.standings.decide(review, review.object, cluster.rules)
        wire.answer(review, decision, 1)
        spent.append((thread_time_ns() - cpu) / 1000)
        clock.append((perf_counter_ns() - began) / 1000)
        if decision.placed and decision.placed.decided.node:
            done += 1
            alive.append(cluster.told(decision.pod, on=decision.placed.decided.node))
        if len(alive) > AT_ONCE:
            cluster.pods.remove(alive.popleft().key)
    for pod in alive:
        cluster.pods.remove(pod.key)
    return spent, clock, done


def cases(nodes: int, policies: list[str], rounds: int) -> list[Case]:
    """Measure each body under each policy and delivery on a cluster of this size."""
    usual, _ = configuration.rules(layered.settings(None), None)
    cluster = Cluster(nodes, usual)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    took = f"nodes {cluster.nodes_seconds:.1f} s, Pods {cluster.pods_seconds:.1f} s"
    print(f"{nodes} nodes: {took}, {peak} MiB at the most", file=sys.stderr)
    process.settle()
    found = []
    for policy in policies:
        for delivery in DELIVERIES:
            flags = (f"placement.policy={policy}", f"placement.delivery={delivery}")
            cluster.rules, _ = configuration.rules(layered.settings(None, flags), None)
            for name in ("gpu", "train"):
                body = bodies.bodies()[name]
                before = quantiles(without(body, usual, rounds), n=100)
                placed(cluster, body, 20)  # what a new kind of Pod costs once is not meant here
                times = placed(cluster, body, rounds)
                after, clock = quantiles(times[0], n=100), quantiles(times[1], n=100)
                case = Case(
                    nodes=nodes,
                    body=name,
                    policy=policy,
                    delivery=delivery,
                    without_p50_us=before[49],
                    without_p99_us=before[98],
                    with_p50_us=after[49],
                    with_p99_us=after[98],
                    more_p50_us=after[49] - before[49],
                    clock_p50_us=clock[49],
                    clock_p99_us=clock[98],
                    placed=times[2],
                )
                found.append(case)
                print(_row(case), file=sys.stderr)
    return found


def _row(case: Case) -> str:
    return (
        f"{case.policy:14} {case.delivery:8} {case.body:6} without {case.without_p50_us:5.0f} us, "
        f"with {case.with_p50_us:5.0f} (p99 {case.with_p99_us:5.0f}), "
        f"{case.more_p50_us:5.0f} more; by the clock {case.clock_p50_us:5.0f}, "
        f"p99 {case.clock_p99_us:5.0f}; placed {case.placed}"
    )


def main() -> None:
    """Print a line for each case, and with --json all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--policy", action="append")
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--json", action="store_true")
    wanted = parser.parse_args()
    found = cases(wanted.nodes, wanted.policy or ["scarcity"], wanted.rounds)
    if wanted.json:
        print(json.dumps({"cases": msgspec.to_builtins(found)}))


if __name__ == "__main__":
    main()
