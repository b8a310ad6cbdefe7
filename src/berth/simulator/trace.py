"""The Alibaba GPU trace of 2023 as published: nodes, Pods, and the order in which they came.

A folder holds `openb_node_list_gpu_node.csv`, `pods/openb_pod_list_TRACE.csv.gz` and, for the
seeds of the published runs, `arrivals/TRACE.csv.gz` (docs/reference/placement.md). The trace tells
no card's memory: a card counts as 1000 MiB, so that a share's milli are its MiB.
"""

import csv
import gzip
from pathlib import Path

import msgspec
import numpy as np

from berth.errors import UsageError
from berth.model.device import Device
from berth.model.node import Node
from berth.model.request import WHOLE, DeviceRequest, PodRequest

CARD = 1000
"""MiB of a card here, and milli of a card in the trace."""
VENDOR = "trace"
OFFERED = 1.3
"""The published runs offer 130% of the cluster's cards."""

PUBLISHED = {
    "random": "01-Random",
    "dot-product": "02-DotProd",
    "clustering": "03-GpuClustering",
    "packing": "04-GpuPacking",
    "best-fit": "05-BestFit",
    "fragmentation": "06-FGD",
}
"""Our policies whose results were published, and what they are called there."""


class Arrival(msgspec.Struct, frozen=True):
    """One Pod of the list."""

    request: PodRequest
    milli: int
    """Of cards, all that it wants."""
    lifetime: float | None
    """Seconds from creation to deletion, where the list tells them."""


class Trace(msgspec.Struct, frozen=True):
    """A list of Pods beside the cluster that they are offered to."""

    name: str
    folder: Path | None
    """Where the published order of arrivals may be; None where there is none."""
    nodes: tuple[Node, ...]
    pods: tuple[Arrival, ...]

    @property
    def capacity(self) -> int:
        """Milli of all cards."""
        return sum(len(node.devices) for node in self.nodes) * CARD


def own() -> Path:
    """Return the folder of the trace that comes with Berth. Raises UsageError."""
    here = Path(__file__).resolve()
    for above in (here.parents[1], here.parents[3]):
        folder = above / "data" / "alibaba-gpu-2023"
        if folder.is_dir():
            return folder
    raise UsageError("no trace is installed; give its folder with --data")


def read(folder: Path, name: str) -> Trace:
    """Read a trace by the name that its files have. Raises UsageError."""
    try:
        nodes = (folder / "openb_node_list_gpu_node.csv").read_text().splitlines()
        with gzip.open(folder / "pods" / f"openb_pod_list_{name}.csv.gz", "rt") as file:
            pods = file.read().splitlines()
        return Trace(name, folder, tuple(map(_node, csv.DictReader(nodes))), _pods(pods))
    except (OSError, KeyError, ValueError) as error:
        raise UsageError(f"trace {name} cannot be read from {folder}: {error}") from error


def order(trace: Trace, seed: int) -> tuple[list[int], list[int]]:
    """Return the Pods in the order of their coming, and each node's rank.

    As published where `arrivals/` has this seed, else drawn by the same rules with numpy.
    """
    found = _published(trace, seed)
    if len(found) == 2:
        return found["pods"], found["noderank"]
    return _drawn(trace, np.random.default_rng(seed))


def ranks(trace: Trace, seed: int) -> list[int]:
    """Return each node's rank alone, where Pods come in another order."""
    found = _published(trace, seed)
    drawn = np.random.default_rng(seed).permutation(len(trace.nodes))
    return found.get("noderank") or [int(rank) for rank in drawn]


def _published(trace: Trace, seed: int) -> dict[str, list[int]]:
    name = "default" if trace.name.startswith("gpuspec") else trace.name
    found: dict[str, list[int]] = {}
    path = trace.folder / "arrivals" / f"{name}.csv.gz" if trace.folder else None
    if path and path.exists():
        with gzip.open(path, "rt") as file:
            for line in file:
                kind, of, rest = line.rstrip("\n").split(",", 2)
                if int(of) == seed:
                    found[kind] = [int(word) for word in rest.replace(",", " ").split()]
    return found


def _drawn(trace: Trace, generator: np.random.Generator) -> tuple[list[int], list[int]]:
    """Shuffle; then add Pods drawn from the list, or drop some, to offer 130%."""
    pods = [int(index) for index in generator.permutation(len(trace.pods))]
    offered, wanted = sum(pod.milli for pod in trace.pods), OFFERED * trace.capacity
    if not offered or not wanted:
        raise UsageError(f"{trace.name}: no load can be offered where no card is, or is wanted")
    while offered < wanted:
        pods.append(int(generator.integers(len(trace.pods))))
        offered += trace.pods[pods[-1]].milli
    while offered > wanted:
        offered -= trace.pods[pods.pop(int(generator.integers(len(pods))))].milli
    return pods, [int(rank) for rank in generator.permutation(len(trace.nodes))]


def _node(row: dict[str, str]) -> Node:
    cards = int(row["gpu"])
    return Node(
        name=row["sn"],
        cpu_milli=int(row["cpu_milli"]),
        memory_mib=int(row["memory_mib"]),
        pods=1_000_000,
        devices=tuple(
            Device(
                uuid=f"{row['sn']}-{card}",
                vendor=VENDOR,
                model=row["model"],
                memory_mib=CARD,
                slots=CARD,
            )
            for card in range(cards)
        ),
    )


def _pods(lines: list[str]) -> tuple[Arrival, ...]:
    return tuple(_pod(row) for row in csv.DictReader(lines))


def _pod(row: dict[str, str]) -> Arrival:
    count, milli = int(row["num_gpu"]), int(row["gpu_milli"] or 0)
    whole = milli >= CARD
    models = tuple(word for word in (row.get("gpu_spec") or "").split("|") if word)
    request = DeviceRequest(
        vendor=VENDOR,
        count=count,
        memory_mib=None if whole else milli,
        cores=WHOLE if whole else 0,
        models=models,
    )
    times = row.get("creation_time"), row.get("deletion_time")
    return Arrival(
        request=PodRequest(
            cpu_milli=int(row["cpu_milli"]),
            memory_mib=int(row["memory_mib"]),
            devices=(("main", request),) if count else (),
        ),
        milli=count * milli,
        lifetime=float(times[1]) - float(times[0]) if times[0] and times[1] else None,
    )
