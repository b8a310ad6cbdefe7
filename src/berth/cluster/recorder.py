"""What happens in a cluster, as the lines of a recording; two stores tell it.

A Pod is known by its uid: one that was made again under its name is another.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from berth.cluster import nodes, projections
from berth.cluster.charges import Reader
from berth.cluster.hashed import Hashed
from berth.model import node as model
from berth.model import recording
from berth.model.charge import Claim, Source
from berth.model.recording import Arrived, Bound, Left, Shown, Withdrawn
from berth.model.request import PodRequest
from berth.model.vendor import Vendor

Wanted: TypeAlias = Callable[[projections.Pod], PodRequest]
"""Says what a stored Pod wants."""
_Place: TypeAlias = tuple[str, tuple[Claim, ...]]
NOWHERE: _Place = ("", ())


def _start() -> float:
    return 0.0


class Recorder:
    """A listener of Nodes and of Pods."""

    def __init__(
        self,
        vendors: Sequence[Vendor],
        wanted: Wanted,
        hashed: Hashed,
        write: Callable[[recording.Entry], None],
    ) -> None:
        """Hand each line to `write`."""
        self.clock: Callable[[], float] = _start
        """The time that lines get, in seconds; 0 until another one is set."""
        self._vendors, self._reader = tuple(vendors), Reader(vendors)
        self._wanted, self._hashed, self._write = wanted, hashed, write
        self._nodes: dict[str, model.Node] = {}
        self._pods: dict[str, _Place] = {}
        """By uid."""

    def node(self, old: projections.Node | None, new: projections.Node | None) -> None:
        """Take a change of the Nodes, as a store tells it."""
        if new is None:
            if old is not None and self._nodes.pop(old.metadata.name, None) is not None:
                name = self._hashed.name(old.metadata.name)
                self._write(Withdrawn(at=self.clock(), node=name))
            return
        node, _ = nodes.read(new, self._vendors)
        if self._nodes.get(node.name) != node:
            self._nodes[node.name] = node
            self._write(Shown(at=self.clock(), node=self._hashed.node(node)))

    def pod(self, old: projections.Pod | None, new: projections.Pod | None) -> None:
        """Take a change of the Pods, as a store tells it."""
        if new is None or new.status.over:
            gone = new or old
            if gone is not None and self._pods.pop(gone.metadata.uid, None) is not None:
                self._write(Left(at=self.clock(), pod=self._hashed.name(gone.metadata.uid)))
            return
        uid = new.metadata.uid
        if uid not in self._pods:
            self._pods[uid] = NOWHERE
            request = self._hashed.request(self._wanted(new))
            self._write(Arrived(at=self.clock(), pod=self._hashed.name(uid), request=request))
        place = self._place(new)
        if place != self._pods[uid]:
            self._pods[uid] = place
            node, claims = self._hashed.name(place[0]), tuple(map(self._hashed.claim, place[1]))
            self._write(
                Bound(at=self.clock(), pod=self._hashed.name(uid), node=node, claims=claims)
            )

    def _place(self, pod: projections.Pod) -> _Place:
        if not pod.spec.node_name:
            return NOWHERE
        charge, _ = self._reader.charge(pod)
        known = charge.source in {Source.RECORDED, Source.DECIDED}
        return pod.spec.node_name, charge.claims if known else ()
