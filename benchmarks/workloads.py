"""Three made-up workloads beside the published trace: `scripts/bench workloads`.

The default policy must not depend on one task list. So: mostly small shares for inference; mostly
training on eight cards; and twenty nodes of mixed vendors and models, whose Pods want MiB of one
vendor's cards. Each is filled to 100% and run with departures at 90% and 95%, some seeds each.
"""

import argparse
import sys
from statistics import fmean

import msgspec

from berth.model.device import Device
from berth.model.node import Node
from berth.model.request import DeviceRequest, PodRequest
from berth.simulator.churn import Churn
from berth.simulator.result import Result
from berth.simulator.run import Run
from berth.simulator.runs import policy_of
from berth.simulator.schedule import steady
from berth.simulator.trace import CARD, Arrival, Trace

POLICIES = ("scarcity", "fragmentation", "best-fit", "first-fit", "binpack", "spread")
Kind = tuple[str, str, int]
"""Vendor, model, MiB."""
A100, A10, T4 = ("nvidia", "A100", 81_920), ("nvidia", "A10", 24_576), ("nvidia", "T4", 15_360)
ASCEND, MLU = ("ascend", "910B", 65_536), ("cambricon", "MLU370", 24_576)


def nodes(*groups: tuple[int, Kind, int, int]) -> tuple[Node, ...]:
    """Return so many nodes of a kind, with so many cards and CPU cores each."""
    return tuple(
        Node(
            name=f"{model}-{number}",
            cpu_milli=cores * 1000,
            memory_mib=cores * 8_192,
            devices=tuple(
                Device(uuid=f"{model}-{number}-{card}", vendor=vendor, model=model, memory_mib=mib)
                for card in range(cards)
            ),
        )
        for count, (vendor, model, mib), cards, cores in groups
        for number in range(count)
    )


def share(kind: Kind, mib: int, cpu: int) -> Arrival:
    """Return a Pod that wants so much of one card of a vendor, in milli of this kind."""
    request = DeviceRequest(vendor=kind[0], memory_mib=mib)
    return _arrival(request, cpu, mib * CARD // kind[2])


def whole(kind: Kind, count: int, cpu: int, *, model: bool = False) -> Arrival:
    """Return a Pod that wants cards alone, of a vendor or of one model."""
    models = (kind[1],) if model else ()
    request = DeviceRequest(vendor=kind[0], cores=100, count=count, models=models)
    return _arrival(request, cpu, count * CARD)


def _arrival(request: DeviceRequest, cpu: int, milli: int) -> Arrival:
    wanted = PodRequest(cpu_milli=cpu, memory_mib=cpu * 4, devices=(("main", request),))
    return Arrival(wanted, milli, None)


def trace(name: str, cluster: tuple[Node, ...], pods: list[tuple[int, Arrival]]) -> Trace:
    """Return a list with each Pod so many times."""
    each = tuple(pod for times, pod in pods for _ in range(times))
    return Trace(name, None, cluster, each)


def workloads() -> list[Trace]:
    """Return the three."""
    shares = [
        (times, share(A100, gib * 1024, cpu * 1000))
        for times, gib, cpu in ((30, 4, 2), (25, 8, 2), (20, 10, 4), (10, 20, 4), (6, 40, 8))
    ]
    training = [(4, share(A100, 20_480, 4_000)), (10, whole(A100, 1, 8_000))]
    mixed = [
        (20, share(T4, 4_096, 2_000)),
        (10, share(T4, 10_240, 4_000)),
        (8, share(A100, 40_960, 8_000)),
        (6, whole(A100, 1, 8_000)),
        (3, whole(A100, 4, 32_000, model=True)),
        (1, whole(A100, 8, 64_000, model=True)),
        (8, share(ASCEND, 16_384, 4_000)),
        (3, whole(ASCEND, 8, 96_000)),
        (6, share(MLU, 8_192, 2_000)),
        (3, whole(MLU, 2, 8_000)),
    ]
    return [
        trace("inference", nodes((150, A100, 8, 160)), [*shares, (8, whole(A100, 1, 8_000))]),
        trace(
            "training",
            nodes((150, A100, 8, 128)),
            [
                *training,
                (6, whole(A100, 2, 16000)),
                (8, whole(A100, 4, 32000)),
                (30, whole(A100, 8, 64000)),
            ],
        ),
        trace(
            "mixed",
            nodes((6, A100, 8, 128), (4, A10, 4, 64), (4, T4, 4, 48), (3, ASCEND, 8, 192))
            + nodes((3, MLU, 4, 64)),
            mixed,
        ),
    ]


def filled(work: Trace, policy: str, seed: int) -> Result:
    """Fill the cluster, as the published experiment does."""
    run = Run(work, seed)
    for _ in run.steps(policy_of(policy, run.cluster), 1.0):
        pass
    return run.result(policy, 1.0)


def churned(work: Trace, policy: str, seed: int, offered: float) -> Result:
    """Run ten mean lifetimes with departures."""
    mean = sum(pod.milli for pod in work.pods) / len(work.pods)
    arrivals = int(10 * offered * work.capacity / mean)
    churn = Churn(work, seed, steady(work, seed, arrivals, offered))
    for _ in churn.steps(policy_of(policy, churn.cluster)):
        pass
    return churn.result(policy, offered)


class Mean(msgspec.Struct, kw_only=True):
    """The mean over seeds."""

    workload: str
    policy: str
    departures: float | None
    seeds: int
    allocated: float
    rejected: float


def main() -> None:
    """Do all, and print a line of JSON for each mean."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--fill", action="store_true", help="without departures alone")
    parser.add_argument("--departures", action="append", type=float, help="with these loads alone")
    parser.add_argument("--workload", action="append", choices=[one.name for one in workloads()])
    arguments = parser.parse_args()
    seeds = range(1, arguments.seeds + 1)
    loads = arguments.departures or [None, *(() if arguments.fill else (0.9, 0.95))]
    for work in workloads():
        if work.name not in (arguments.workload or (work.name,)):
            continue
        for offered in loads:
            for policy in POLICIES:
                runs = [
                    churned(work, policy, seed, offered) if offered else filled(work, policy, seed)
                    for seed in seeds
                ]
                mean = Mean(
                    workload=work.name,
                    policy=policy,
                    departures=offered,
                    seeds=len(runs),
                    allocated=round(fmean(run.gpu_allocation_percent for run in runs), 2),
                    rejected=round(fmean(run.rejected_percent for run in runs), 2),
                )
                sys.stdout.write(msgspec.json.encode(mean).decode() + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
