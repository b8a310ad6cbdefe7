"""Reservations against a model, in virtual time: who holds what, and until when."""

import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from berth.cluster.fleet import Fleet
from berth.model.decision import Verdict
from berth.model.difference import differences
from tests.placing import SPACE, TIMES, Cluster, asking, found, given
from tests.pods import Pod

PODS = st.integers(0, 30)
UNSCHEDULABLE = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]


class Promised:
    """A Pod of the model: where it goes, and until when each replica keeps its place."""

    def __init__(self, name: str, pod: Pod, replica: int, now: float) -> None:
        """Begin as it is admitted by one of the replicas."""
        self.name, self.pod, self.by = name, pod, replica
        self.until: dict[int, float] = {replica: now + TIMES.unseen}
        self.stored = False
        self.bound = ""


class Promises(RuleBasedStateMachine):
    """Two replicas, one API server, and all that can become of a Pod."""

    def __init__(self) -> None:
        """Start with three nodes, on which a Pod is pinned to a third of a card."""
        super().__init__()
        flags = ("placement.delivery=pin", "placement.policy=binpack")
        self.cluster = Cluster("n1", "n2", "n3", flags=flags, replicas=2)
        self.all: list[Promised] = []
        self.number = 0

    @rule(replica=st.integers(0, 1), twice=st.booleans())
    def admit(self, replica: int, *, twice: bool) -> None:
        """Admit a Pod; the API server may ask a second time."""
        one = self.cluster.replicas[replica]
        decision = one.ask(asking())
        assert decision.verdict is Verdict.PATCHED
        if twice:
            assert one.ask(given(decision)).verdict is Verdict.UNCHANGED
        if found(decision).node:
            self.number += 1
            name = f"p{self.number}"
            self.all.append(Promised(name, given(decision), replica, self.cluster.now))

    def _one(self, number: int, *, stored: bool) -> Promised | None:
        some = [one for one in self.all if one.stored == stored]
        return some[number % len(some)] if some else None

    @rule(number=PODS)
    def refuse(self, number: int) -> None:
        """Refuse a Pod at last."""
        one = self._one(number, stored=False)
        if one:
            self.cluster.replicas[one.by].last(one.pod, refused=True)
            self.all.remove(one)

    @rule(number=PODS)
    def store(self, number: int) -> None:
        """Store a Pod, which all are shown."""
        one = self._one(number, stored=False)
        if one:
            one.stored = True
            self.cluster.show(one.pod, one.name)
            one.until = dict.fromkeys((0, 1), self.cluster.now + TIMES.pending)

    @rule(number=PODS)
    def label(self, number: int) -> None:
        """Change a Pod in what nobody cares for: its time goes on."""
        one = self._one(number, stored=True)
        if one and not one.bound:
            one.pod["metadata"]["labels"] = {"n": str(self.cluster.now)}
            self.cluster.show(one.pod, one.name)

    @rule(number=PODS)
    def give_up(self, number: int) -> None:
        """Let the scheduler say that no node takes it."""
        one = self._one(number, stored=True)
        if one and not one.bound:
            self.cluster.show(one.pod, one.name, conditions=UNSCHEDULABLE)
            one.until = {}

    @rule(number=PODS, node=st.sampled_from(["", "n2"]))
    def bind(self, number: int, node: str) -> None:
        """Bind a Pod, where it was sent or elsewhere."""
        one = self._one(number, stored=True)
        if one and not one.bound:
            pinned: Any = one.pod["spec"]["affinity"]["nodeAffinity"]
            terms = pinned["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
            one.bound = node or terms[0]["matchFields"][0]["values"][0]
            self.cluster.show(one.pod, one.name, on=one.bound)
            one.until = {}

    @rule(number=PODS)
    def delete(self, number: int) -> None:
        """Delete a Pod, bound or not."""
        one = self._one(number, stored=True)
        if one:
            self.cluster.gone(one.name)
            self.all.remove(one)

    @rule(seconds=st.sampled_from([1, 9, 30]))
    def wait(self, seconds: int) -> None:
        """Let time go by; a Pod that is not stored by then never is."""
        self.cluster.now += seconds
        self.all = [
            one
            for one in self.all
            if one.stored or any(until > self.cluster.now for until in one.until.values())
        ]

    @invariant()
    def each_replica_holds_what_it_should(self) -> None:
        """By number, and card by card: a count anew with the same reservations is the same."""
        for number, replica in enumerate(self.cluster.replicas):
            reservations = replica.placer.reservations
            owed = [one for one in self.all if one.until.get(number, 0) > self.cluster.now]
            assert len(reservations) == len(owed)
            reservations.expire()
            fleet = replica.placer.fleet
            picture = fleet.picture()
            ids = {found_id(one.pod) for one in owed}
            assert {one.uid for one in picture.reserved} == ids
            counted = Fleet.counted(
                replica.rules.vendors, self.cluster.nodes, self.cluster.pods, fleet.guessed
            )
            for charge in picture.reserved:
                assert charge.namespace == SPACE
                counted.hold(charge)
            assert not differences(counted.snapshot, fleet.snapshot)


def found_id(pod: Pod) -> str:
    """Return the id of the decision in a Pod."""
    found: str = json.loads(pod["metadata"]["annotations"]["berth.dev/decision"])["id"]
    return found


TestPromises = Promises.TestCase
TestPromises.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
