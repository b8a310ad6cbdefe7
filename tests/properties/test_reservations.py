"""Reservations against a model, in virtual time: who holds what, and until when."""

import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from berth.cluster.fleet import Fleet
from berth.model.decision import Verdict
from berth.model.difference import differences
from tests.placing import TIMES, Cluster, asking, found, given
from tests.pods import Pod
from tests.reviews import SPACE

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

    @rule(number=PODS, fate=st.sampled_from(["stored", "stored", "refused"]))
    def decide(self, number: int, fate: str) -> None:
        """Store a Pod, which all are shown, or refuse it at last."""
        some = [one for one in self.all if not one.stored]
        if not some:
            return
        one = some[number % len(some)]
        if fate == "refused":
            self.cluster.replicas[one.by].last(one.pod, refused=True)
            self.all.remove(one)
        else:
            one.stored = True
            self.cluster.show(one.pod, one.name)
            one.until = dict.fromkeys((0, 1), self.cluster.now + TIMES.pending)

    @rule(number=PODS, fate=st.sampled_from(["there", "elsewhere", "nowhere", "deleted", "label"]))
    def proceed(self, number: int, fate: str) -> None:
        """Bind a Pod, give it up, delete it, or change what nobody cares for."""
        some = [one for one in self.all if one.stored]
        if not some:
            return
        one = some[number % len(some)]
        if fate == "deleted":
            self.cluster.gone(one.name)
            self.all.remove(one)
        elif one.bound:
            pass
        elif fate == "label":
            one.pod["metadata"]["labels"] = {"n": str(self.cluster.now)}
            self.cluster.show(one.pod, one.name)
        elif fate == "nowhere":
            self.cluster.show(one.pod, one.name, conditions=UNSCHEDULABLE)
            one.until = {}
        else:
            one.bound = "n2" if fate == "elsewhere" else decided(one.pod)["node"]
            self.cluster.show(one.pod, one.name, on=one.bound)
            one.until = {}

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
            # By the id of the decision, or by the Pod's uid where another replica made it.
            known = {one.uid for one in picture.reserved}
            for one in owed:
                assert len({decided(one.pod)["id"], one.name} & known) == 1
            assert len(known) == len(owed)
            counted = Fleet.counted(
                replica.rules.vendors, self.cluster.nodes, self.cluster.pods, fleet.guessed
            )
            for charge in picture.reserved:
                assert charge.namespace == SPACE
                counted.hold(charge)
            assert not differences(counted.snapshot, fleet.snapshot)


def decided(pod: Pod) -> dict[str, Any]:
    """Return the decision in a Pod."""
    found: dict[str, Any] = json.loads(pod["metadata"]["annotations"]["berth.dev/decision"])
    return found


TestPromises = Promises.TestCase
TestPromises.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
