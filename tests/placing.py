"""Placing on stores that a test fills: a cluster in memory, and a clock that a test sets."""

from collections.abc import Mapping
from copy import deepcopy
from itertools import count
from typing import Any

import msgspec

from berth import layered
from berth.admission import configuration
from berth.admission.claims import Claims
from berth.admission.placer import Placer
from berth.admission.standings import Standings
from berth.cluster import projections
from berth.cluster.reservations import Times
from berth.cluster.store import Store
from berth.model import decided
from berth.model.decided import Decided
from berth.model.decision import Decision
from tests.e2e import gpu_nodes
from tests.pods import Pod, gpu_pod
from tests.quotas import watched
from tests.reviews import SPACE, last_word, review

GPU, MEMORY = "nvidia.com/gpu", "nvidia.com/gpumem"
TIMES = Times(unseen=10, pending=60)


class Replica:
    """What one process knows."""

    def __init__(self, cluster: "Cluster", *flags: str) -> None:
        """Start it with these settings."""
        self.rules, _ = configuration.rules(layered.settings(None, flags), None)
        self.placer = Placer(cluster.nodes, cluster.pods, self.rules, lambda: cluster.now, TIMES)
        self.placer.synced = True
        self.claims = Claims(TIMES.unseen, lambda: cluster.now)
        ids = count(1)
        self.standings = Standings(
            self.claims, lambda: f"{id(self)}-{next(ids)}", None, self.placer
        )
        cluster.pods.listen(self.standings.pod)

    def ask(self, pod: Pod, *, dry_run: bool = False) -> Decision:
        """Ask for a Pod, as the API server does once."""
        return self.standings.decide(review(pod, dry_run=dry_run), pod, self.rules)

    def last(self, pod: Pod, *, refused: bool = False) -> None:
        """Show the Pod as it will be stored, at /validate."""
        self.standings.finish(review(pod), last_word(pod, refused=refused))

    def left(self, node: str, card: int = 0) -> int:
        """Return the MiB that are free on a card."""
        self.placer.reservations.expire()
        snapshot = self.placer.fleet.snapshot
        return int(snapshot.mem_left[snapshot.row[node], card])


class Cluster:
    """What the API server stores, and the replicas that watch it."""

    def __init__(self, *nodes: str, flags: tuple[str, ...] = (), replicas: int = 1) -> None:
        """Start with nodes of four cards each."""
        self.now = 0.0
        self.nodes: Store[projections.Node] = Store({})
        self.pods: Store[projections.Pod] = Store({})
        self._versions = count(1)
        for name in nodes:
            self.node(gpu_nodes.node(name))
        self.replicas = [Replica(self, *flags) for _ in range(replicas)]

    def node(self, raw: Any) -> None:
        """Let a node come, or change."""
        raw["metadata"] |= {"uid": raw["metadata"]["name"], "resourceVersion": self._version()}
        self.nodes.put(msgspec.convert(raw, projections.Node))

    def show(self, pod: Pod, name: str, on: str = "", **status: Any) -> None:
        """Let the watch show a Pod as it is stored."""
        stored = {**pod, "spec": {**pod["spec"], **({"nodeName": on} if on else {})}}
        self.pods.put(watched(stored, name, int(self._version()), **status))

    def gone(self, name: str) -> None:
        """Let the watch tell that a Pod is deleted."""
        self.pods.remove((SPACE, name))

    def _version(self) -> str:
        return str(next(self._versions))


def asking(memory: int = 13_000, annotations: Mapping[str, str] | None = None) -> Pod:
    """Return a Pod that shares a card; its annotations are of the domain hami.io."""
    pod = gpu_pod({GPU: "1", MEMORY: str(memory), "cpu": "1"})
    pod["metadata"] = {"generateName": "gpu-"}
    if annotations:
        pod["metadata"]["annotations"] = {f"hami.io/{key}": annotations[key] for key in annotations}
    return pod


def given(decision: Decision) -> Pod:
    """Return the decided Pod, to go on with."""
    return deepcopy(decision.pod)


def found(decision: Decision) -> Decided:
    """Return the decision that stands in the decided Pod."""
    read = decided.read(given(decision)["metadata"]["annotations"]["berth.dev/decision"])
    assert read is not None
    return read
