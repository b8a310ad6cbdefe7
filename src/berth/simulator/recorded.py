"""A recording of a live cluster as a trace and the schedule by which its Pods came and left.

A Pod stays as long as it ran, from when it was bound; one that never was, until it was deleted.
Those that ran when the recording began are there from the start, on the nodes where they were.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import numpy as np

from berth.errors import UsageError
from berth.model import recording
from berth.model.node import Node
from berth.model.recording import Arrived, Begin, Bound, End, Left, Shown, Withdrawn
from berth.model.request import PodRequest
from berth.model.snapshot import Snapshot
from berth.simulator.arrivals import arrival
from berth.simulator.schedule import FOR_GOOD, Change, Schedule, There
from berth.simulator.trace import Trace


class _Pod(msgspec.Struct):
    """A Pod of the recording."""

    request: PodRequest
    came: float
    bound: Bound | None = None
    left: float = FOR_GOOD

    @property
    def there(self) -> bool:
        """Whether it ran when the recording began."""
        return self.bound is not None and self.bound.at == 0

    @property
    def lifetime(self) -> float:
        """How long it stays, in seconds."""
        return self.left - (self.bound.at if self.bound else self.came)


class _Story(msgspec.Struct):
    """All that was recorded."""

    nodes: dict[str, Node] = {}
    """Those of the beginning."""
    there: set[str] = set()
    """The names of those that are there now."""
    changes: list[Change] = []
    pods: dict[str, _Pod] = {}
    end: float = 0.0

    def take(self, line: recording.Entry) -> None:
        """Take the next line."""
        self.end = line.at
        match line:
            case Shown(at=at, node=node):
                self._shown(node, at)
            case Withdrawn(at=at, node=name):
                if name not in self.there:
                    raise UsageError(f"node {name} of the recording is not there at {at} seconds")
                self.there.remove(name)
                self.changes.append(Change(at, name, None))
            case Arrived(at=at, pod=name, request=request):
                self.pods[name] = _Pod(request, at)
            case Bound(pod=name):
                self._bound(name, line)
            case Left(at=at, pod=name):
                self._pod(name, at).left = at
            case Begin() | End():
                pass

    def _shown(self, node: Node, at: float) -> None:
        self.there.add(node.name)
        if at:
            self.changes.append(Change(at, node.name, node))
        else:
            self.nodes[node.name] = node

    def _bound(self, name: str, line: Bound) -> None:
        """Take a binding, or what it is now known of its cards; the time is that of the first."""
        pod = self._pod(name, line.at)
        at = pod.bound.at if pod.bound else line.at
        pod.bound = msgspec.structs.replace(line, at=at)

    def _pod(self, name: str, at: float) -> _Pod:
        if name not in self.pods:
            raise UsageError(f"Pod {name} of the recording has not arrived by {at} seconds")
        return self.pods[name]


def read(file: Path) -> tuple[Trace, Schedule]:
    """Read a recording. Raises UsageError."""
    try:
        story = _told(recording.read(file.read_bytes()))
        return _trace(file.stem, story)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None


def _told(lines: Iterable[recording.Entry]) -> _Story:
    story = _Story()
    for line in lines:
        story.take(line)
    if not story.nodes:
        raise UsageError("no node was there when the recording began, so nothing can be placed")
    return story


def _trace(name: str, story: _Story) -> tuple[Trace, Schedule]:
    nodes = tuple(story.nodes.values())
    cards = Snapshot([*nodes, *_later(story)])
    each = list(story.pods.values())
    pods = tuple(arrival(pod.request, cards, pod.lifetime) for pod in each)
    coming = [place for place, pod in enumerate(each) if not pod.there]
    there = tuple(
        There(place, pod.bound.node, pod.bound.claims, pod.left)
        for place, pod in enumerate(each)
        if pod.bound and pod.there
    )
    return Trace(name, None, nodes, pods), Schedule(
        pods=np.array(coming, dtype=np.int64),
        times=np.array([each[place].came for place in coming]),
        lifetimes=np.array([each[place].lifetime for place in coming]),
        unit="seconds",
        end=story.end,
        there=there,
        changes=tuple(story.changes),
    )


def _later(story: _Story) -> Iterable[Node]:
    """Yield each node that came later, once."""
    late = {one.name: one.node for one in story.changes if one.node is not None}
    return (node for name, node in late.items() if name not in story.nodes)
