"""The Alibaba GPU trace of 2023 as published: nodes, Pods, and the order in which they came.

A folder holds `openb_node_list_gpu_node.csv`, `pods/openb_pod_list_TRACE.csv.gz` and, for the
seeds of the published runs, `arrivals/TRACE.csv.gz` (docs/reference/placement.md). The trace tells
no card's memory: a card counts as 1000 MiB, so that a share's milli are its MiB.
"""

from pathlib import Path

import msgspec
import numpy as np

from berth.errors import UsageError
from berth.model.device import Device
from berth.model.node import Node
from berth.model.request import WHOLE, DeviceRequest, PodRequest
from berth.simulator import listed
from berth.simulator.listed import Row

CARD = 1000
"""MiB of a card here, and milli of a card in the trace."""
VENDOR = "trace"
MOST_CARDS = 4096
"""More than any node has."""
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

    def check_load(self) -> None:
        """Raise UsageError where nothing could ever be offered."""
        if not self.capacity or not any(pod.milli for pod in self.pods):
            raise UsageError(f"{self.name}: no load can be offered where no card is, or is wanted")


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
    cluster = folder / "openb_node_list_gpu_node.csv"
    nodes = tuple(map(_node, listed.rows(cluster)))
    if len({node.name for node in nodes}) < len(nodes):
        raise UsageError(f"{cluster}: a node stands there twice; give each its own sn")
    pods = folder / "pods" / f"openb_pod_list_{name}.csv.gz"
    known = [one.name[len("openb_pod_list_") : -len(".csv.gz")] for one in _lists(folder)]
    if known and name not in known:
        raise UsageError(f"{folder}: has no trace {name}; known are {', '.join(known)}")
    found = Trace(name, folder, nodes, tuple(map(_pod, listed.rows(pods))))
    if not found.nodes or not found.pods:
        raise UsageError(f"{cluster if not found.nodes else pods}: nothing is listed there")
    return found


def _lists(folder: Path) -> list[Path]:
    return sorted((folder / "pods").glob("openb_pod_list_*.csv.gz"))


def order(trace: Trace, seed: int) -> tuple[list[int], list[int]]:
    """Return the Pods in the order of their coming, and each node's rank.

    As published where `arrivals/` has this seed, else drawn by the same rules with numpy. Raises
    UsageError.
    """
    trace.check_load()
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
    path = trace.folder / "arrivals" / f"{name}.csv.gz" if trace.folder else None
    found: dict[str, list[int]] = {}
    if path and path.exists():
        for line in listed.lines(path):
            kind, _, rest = line.partition(",")
            of, _, rest = rest.partition(",")
            if of == str(seed):
                found[kind] = _places(rest, f"{path}: {kind} of seed {seed}")
        if not _suits(trace, found):
            raise UsageError(
                f"{path}: the order of seed {seed} is of another list of nodes or Pods; "
                "take the file away, and an order is drawn"
            )
    return found


def _places(text: str, where: str) -> list[int]:
    try:
        return [listed.whole(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise UsageError(f"{where}: has something that is no whole number") from None


def _suits(trace: Trace, found: dict[str, list[int]]) -> bool:
    """Whether each place is one of the list, and each node has a rank."""
    pods, ranks = found.get("pods", ()), found.get("noderank")
    listed_pods = all(0 <= place < len(trace.pods) for place in pods)
    return listed_pods and (ranks is None or len(ranks) == len(trace.nodes))


def _drawn(trace: Trace, generator: np.random.Generator) -> tuple[list[int], list[int]]:
    """Shuffle; then add Pods drawn from the list, or drop some, to offer 130%."""
    pods = [int(index) for index in generator.permutation(len(trace.pods))]
    offered, wanted = sum(pod.milli for pod in trace.pods), OFFERED * trace.capacity
    while offered < wanted:
        pods.append(int(generator.integers(len(trace.pods))))
        offered += trace.pods[pods[-1]].milli
    while offered > wanted:
        offered -= trace.pods[pods.pop(int(generator.integers(len(pods))))].milli
    return pods, [int(rank) for rank in generator.permutation(len(trace.nodes))]


def _node(row: Row) -> Node:
    name, cards = row.text("sn"), row.number("gpu")
    if cards > MOST_CARDS:
        raise UsageError(f"{row.place}: gpu: {cards} are more cards than a node has")
    return Node(
        name=name,
        cpu_milli=row.number("cpu_milli"),
        memory_mib=row.number("memory_mib"),
        pods=1_000_000,
        devices=tuple(
            Device(
                uuid=f"{name}-{card}",
                vendor=VENDOR,
                model=row.text("model"),
                memory_mib=CARD,
                slots=CARD,
            )
            for card in range(cards)
        ),
    )


def _pod(row: Row) -> Arrival:
    count, milli = row.number("num_gpu"), row.number("gpu_milli", default=0)
    whole = milli >= CARD
    models = tuple(word for word in row.text("gpu_spec").split("|") if word)
    request = DeviceRequest(
        vendor=VENDOR,
        count=count,
        memory_mib=None if whole else milli,
        cores=WHOLE if whole else 0,
        models=models,
    )
    came, left = row.seconds("creation_time"), row.seconds("deletion_time")
    return Arrival(
        request=PodRequest(
            cpu_milli=row.number("cpu_milli"),
            memory_mib=row.number("memory_mib"),
            devices=(("main", request),) if count else (),
        ),
        milli=count * milli,
        lifetime=None if came is None or left is None else left - came,
    )
