"""The ledger of the fleet: every node, and what every bound Pod holds of it, kept up by events.

One event changes one row: its cost depends neither on how many Pods there are nor on how many
nodes, but for a node that registers anew, on which its own Pods are placed once more. Which Pods
hold what is told by the Pods alone, so events may come in any order: a Pod whose node is not known
waits for it, and one that holds a card its node does not list holds it once the node lists it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Self, TypeAlias

import msgspec

from berth.cluster import nodes, projections
from berth.cluster.census import Census
from berth.cluster.charges import Reader
from berth.model.charge import Charge, Claim, Source, allocation
from berth.model.node import Node
from berth.model.picture import Picture
from berth.model.placement import Allocation
from berth.model.snapshot import Snapshot
from berth.model.terms import NO_TERMS, Terms
from berth.model.vendor import Vendor

Key: TypeAlias = tuple[str, str]
"""Namespace and name of a Pod; a node's has no namespace."""
Guess: TypeAlias = Callable[[projections.Pod, Snapshot], tuple[Claim, ...]]
"""Says which cards of its node a bound Pod holds of which nothing else does.

The snapshot has the Pod's node, and on it what is known of all other Pods. Nothing may be placed.
"""


def unknown(pod: projections.Pod, snapshot: Snapshot) -> tuple[Claim, ...]:
    """Guess nothing: such a Pod holds CPU and memory only."""
    del pod, snapshot
    return ()


class _Bound(msgspec.Struct):
    pod: projections.Pod | None
    """None for a reservation."""
    charge: Charge
    problems: tuple[str, ...] = ()
    placed: Allocation | None = None
    missing: tuple[str, ...] = ()
    """UUIDs that it holds and its node does not list."""


class Fleet:
    """What is true now of all nodes and cards."""

    def __init__(
        self, vendors: Sequence[Vendor], guess: Guess = unknown, terms: Terms = NO_TERMS
    ) -> None:
        """Know nothing; `node` and `pod` are to be told of two stores' changes."""
        self.snapshot = Snapshot()
        self.generation = 0
        """Grows by one with each change of what is known."""
        self.census = Census()
        self.guess = guess
        self._vendors, self._reader = tuple(vendors), Reader(vendors, terms)
        self._nodes: dict[str, Node] = {}
        self._wrong: dict[str, tuple[str, ...]] = {}
        self._pods: dict[Key, _Bound] = {}
        self._on: dict[str, dict[Key, _Bound]] = {}
        self._reserved: dict[str, _Bound] = {}

    def node(self, old: projections.Node | None, new: projections.Node | None) -> None:
        """Take a change of the Nodes, as a store tells it."""
        if new is None:
            gone = self._nodes.pop(old.metadata.name, None) if old is not None else None
            if gone is not None:
                self.census.change(gone.devices, ())
                self._leave(gone.name)
            return
        node, problems = nodes.read(new, self._vendors)
        if self._wrong.get(node.name, ()) != problems:
            self._wrong[node.name] = problems
            self.generation += 1
        known = self._nodes.get(node.name)
        if known != node:
            self._nodes[node.name] = node
            self.census.change(known.devices if known else (), node.devices)
            self._register(node)

    def pod(self, old: projections.Pod | None, new: projections.Pod | None) -> None:
        """Take a change of the Pods, as a store tells it."""
        if new is None or not new.spec.node_name or new.status.over:
            gone = new or old
            if gone is not None:
                self._guess_again(self._drop(gone.key))
            return
        key = new.key
        known = self._pods.get(key)
        if known is not None and known.pod is not None and _alike(known.pod, new):
            return
        charge, problems = self._reader.charge(new)
        if known is not None:
            if charge.source is Source.GUESSED and _same_guess(known.charge, charge):
                charge = msgspec.structs.replace(charge, claims=known.charge.claims)
        left = self._drop(key)
        bound = self._pods[key] = _Bound(new, charge, problems)
        self._take(key, bound)
        self._guess_again(left)

    def hold(self, charge: Charge) -> bool:
        """Reserve what a Pod that is on its way will hold, by its charge's uid.

        Return whether some card is now promised beyond what it has.
        """
        self.release(charge.uid)
        bound = self._reserved[charge.uid] = _Bound(None, charge)
        self._take(("", charge.uid), bound)
        return bound.placed is not None and _beyond(bound.placed, self.snapshot)

    def release(self, uid: str) -> None:
        """Give back what is reserved under this uid, if anything is."""
        bound = self._reserved.pop(uid, None)
        if bound is not None:
            self._undo(("", uid), bound)

    def problems(self) -> tuple[str, ...]:
        """Return all that is wrong with what Nodes and Pods say, in order of their names."""
        said = [
            f"Node {name}: {problem}"
            for name, problems in self._wrong.items()
            for problem in problems
        ]
        for (namespace, name), bound in self._pods.items():
            each = [*bound.problems, *(f"{uuid} is no card of its node" for uuid in bound.missing)]
            said += [f"Pod {namespace}/{name}: {problem}" for problem in each]
        return tuple(sorted(said))

    def picture(self) -> Picture:
        """Return all that is known, as a value to write down."""
        return Picture(
            generation=self.generation,
            nodes=tuple(self._nodes[name] for name in sorted(self._nodes)),
            pods=tuple(self._pods[key].charge for key in sorted(self._pods)),
            reserved=tuple(self._reserved[uid].charge for uid in sorted(self._reserved)),
            problems=self.problems(),
        )

    @classmethod
    def counted(
        cls,
        vendors: Sequence[Vendor],
        nodes: Iterable[projections.Node],
        pods: Iterable[projections.Pod],
        guess: Guess = unknown,
        terms: Terms = NO_TERMS,
    ) -> Self:
        """Count all anew from what two stores have."""
        fleet = cls(vendors, guess, terms)
        for node in nodes:
            fleet.node(None, node)
        for pod in pods:
            fleet.pod(None, pod)
        return fleet

    def guessed(self, pod: projections.Pod, snapshot: Snapshot) -> tuple[Claim, ...]:
        """Guess as before: for a count anew, that must agree, and for a change of settings."""
        bound = self._pods.get(pod.key)
        known = bound is not None and bound.charge.uid == pod.metadata.uid
        if bound is None or not known or bound.charge.source is not Source.GUESSED:
            return self.guess(pod, snapshot)
        return bound.charge.claims

    def _take(self, key: Key, bound: _Bound) -> None:
        node = bound.charge.node
        self._on.setdefault(node, {})[key] = bound
        self.generation += 1
        if node in self._nodes:
            self._place(bound, self._nodes[node])

    def _drop(self, key: Key) -> _Bound | None:
        bound = self._pods.pop(key, None)
        if bound is not None:
            self._undo(key, bound)
        return bound

    def _undo(self, key: Key, bound: _Bound) -> None:
        on = self._on[bound.charge.node]
        del on[key]
        if not on:
            del self._on[bound.charge.node]
        if bound.placed is not None:
            self.snapshot.undo(bound.placed)
        self.generation += 1

    def _leave(self, name: str) -> None:
        self.snapshot.remove(name)
        self._wrong.pop(name, None)
        for bound in self._on.get(name, {}).values():
            bound.placed, bound.missing = None, ()
            if bound.charge.source is Source.GUESSED:
                bound.charge = msgspec.structs.replace(bound.charge, claims=())
        self.generation += 1

    def _register(self, node: Node) -> None:
        """Take a node as it is now, and place on it again what is there, guesses last."""
        self.snapshot.put(node)
        there = list(self._on.get(node.name, {}).values())
        for bound in there:
            bound.placed = None
        for bound in sorted(there, key=lambda one: one.charge.source is Source.GUESSED):
            self._place(bound, node)
        self.generation += 1

    def _guess_again(self, left: _Bound | None) -> None:
        """Guess for those that found no card free on a node where a Pod may have left one."""
        if left is None or not left.charge.claims:
            return
        name = left.charge.node
        for bound in self._on.get(name, {}).values():
            missed = bound.charge.source is Source.GUESSED and not bound.charge.claims
            if missed and bound.placed is not None:
                self.snapshot.undo(bound.placed)
                self._place(bound, self._nodes[name])

    def _guessed(self, pod: projections.Pod, name: str) -> tuple[Claim, ...]:
        """Guess; what is only promised keeps no Pod that is there from a card."""
        promised = [
            bound.placed
            for bound in self._on[name].values()
            if bound.pod is None and bound.placed is not None
        ]
        claims = self.guess(pod, self.snapshot)
        if claims or not promised:
            return claims
        for one in promised:
            self.snapshot.undo(one)
        claims = self.guess(pod, self.snapshot)
        for one in promised:
            self.snapshot.place(one)
        return claims

    def _place(self, bound: _Bound, node: Node) -> None:
        charge = bound.charge
        if charge.source is Source.GUESSED and bound.pod is not None:
            has = {device.uuid for device in node.devices}
            if not charge.claims or any(claim.uuid not in has for claim in charge.claims):
                claims = self._guessed(bound.pod, node.name)
                charge = bound.charge = msgspec.structs.replace(charge, claims=claims)
        bound.placed, bound.missing = allocation(charge, node.devices)
        self.snapshot.place(bound.placed)


def _beyond(placed: Allocation, snapshot: Snapshot) -> bool:
    row = snapshot.row[placed.node]
    return any(
        min(grid[row, hold.device] for grid in (snapshot.mem_left, snapshot.cores_left)) < 0
        or snapshot.slots_left[row, hold.device] < 0
        for hold in placed.holds
    )


def _same_guess(one: Charge, other: Charge) -> bool:
    return one.source is Source.GUESSED and one.uid == other.uid and one.node == other.node


def _alike(one: projections.Pod, other: projections.Pod) -> bool:
    """Say whether nothing changed that is counted, as when a Pod becomes ready."""
    before, after = one.metadata, other.metadata
    was, now = one.status, other.status
    return (
        before.uid == after.uid
        and before.annotations == after.annotations
        and before.labels == after.labels
        and one.spec == other.spec
        and was.init_container_statuses == now.init_container_statuses
        and was.container_statuses == now.container_statuses
        and was.conditions == now.conditions
    )
