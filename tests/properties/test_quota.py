"""Quota under every order of passes, copies, refusals, deletions, news from the watch, and time."""

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from berth import layered, names
from berth.admission import configuration, usage
from berth.model.decision import Decision, Verdict
from berth.model.reason import Reason
from tests.pods import Pod, gpu_pod
from tests.quotas import Cluster, carrying, mark
from tests.reviews import SPACE

MEMORY = "nvidia.com/gpumem"
MOST = 10
LIFE = 10.0
RULES, _ = configuration.rules(layered.settings(None), None)
OTHER, _ = configuration.rules(layered.settings(None), None)
AMOUNTS = st.integers(1, 6)
WHICH = st.integers(0, 99)


@dataclass
class Creation:
    """A creation: the Pod as it stands after our last answer, and what we owe it."""

    pod: Pod
    name: str
    amount: int
    mark: str
    until: float
    again: bool = False


def asking(amount: int, metadata: Pod) -> Pod:
    """Return a Pod with a share of `amount` MiB."""
    pod = gpu_pod({"nvidia.com/gpu": "1", MEMORY: str(amount)})
    pod["metadata"] = metadata
    return pod


def held(pod: Any) -> int:
    """Return the MiB that a stored Pod says it has."""
    return int(pod.spec.containers[0].resources.limits[MEMORY])


class Counting(RuleBasedStateMachine):
    """An API server that stores Pods, a watch that tells of them later, and one replica."""

    def __init__(self) -> None:
        """Start with one quota and no Pod."""
        super().__init__()
        self.cluster = Cluster(RULES, {f"limits.{MEMORY}": str(MOST)})
        self.under_way: list[Creation] = []
        self.stored: dict[str, Creation] = {}
        self.news: list[tuple[str, Creation]] = []
        self.claims: dict[str, Creation] = {}
        """Whom a claim is owed, by mark, whether or not its time is over."""
        self.over: list[Creation] = []
        """Pods that have ended and are stored yet."""
        self.late = False
        """Whether a Pod was seen only after its claim had ended, so that it counted for nothing."""
        self.number = 0

    def owed(self) -> int:
        """Return what is claimed, by our own book."""
        return sum(one.amount for one in self.claims.values() if one.until > self.cluster.now)

    def seen(self) -> int:
        """Return what is in use, by a count of what the watch has shown."""
        return sum(
            held(pod)
            for pod in self.cluster.pods
            if pod.status.phase not in ("Failed", "Succeeded")
        )

    def take(self, decision: Decision, name: str, amount: int) -> Creation:
        """Write down what an admitted Pod is owed."""
        given = mark(decision)
        assert given is not None
        until = self.cluster.now + LIFE
        made = Creation(deepcopy(decision.pod), name, amount, given, until)
        self.claims[given] = made
        return made

    @rule(amount=AMOUNTS, copied=WHICH, generated=st.booleans())
    def ask(self, amount: int, copied: int, *, generated: bool) -> None:
        """Somebody creates a Pod, perhaps with an id in it that is another's, or nobody's."""
        self.number += 1
        name = f"pod-{self.number}"
        metadata: Pod = {"generateName": f"{name}-"} if generated else {"name": name}
        others = ["made-up", *(f"id-{number}" for number in range(1, 30))]
        if copied % 2:
            metadata["annotations"] = {names.DECISION: carrying(others[copied % len(others)])}
        room = MOST - self.seen() - self.owed()
        decision = self.cluster.ask(asking(amount, metadata))
        assert (decision.verdict is Verdict.REFUSED) == (amount > room)
        if decision.verdict is Verdict.REFUSED:
            assert {one.reason for one in decision.problems} == {Reason.QUOTA}
        else:
            assert mark(decision) not in self.claims
            self.under_way.append(self.take(decision, name, amount))

    @rule(amount=AMOUNTS)
    def rehearse(self, amount: int) -> None:
        """Ask in a dry run: the same answer, and the invariants see that nothing is claimed."""
        dry = self.cluster.ask(asking(amount, {"name": "dry"}), dry_run=True)
        room = MOST - self.seen() - self.owed()
        assert (dry.verdict is Verdict.REFUSED) == (amount > room)

    @precondition(lambda self: any(not one.again for one in self.under_way))
    @rule(amount=AMOUNTS, which=WHICH)
    def ask_again(self, amount: int, which: int) -> None:
        """Another webhook changed the Pod, so the API server asks a second time."""
        once = [one for one in self.under_way if not one.again]
        made = once[which % len(once)]
        self.under_way.remove(made)
        known = made.until > self.cluster.now
        if known:
            del self.claims[made.mark]
        resources: Any = made.pod["spec"]["containers"][0]["resources"]
        resources["limits"][MEMORY] = resources["requests"][MEMORY] = str(amount)
        room = MOST - self.seen() - self.owed()
        decision = self.cluster.ask(made.pod)
        assert (decision.verdict is Verdict.REFUSED) == (amount > room)
        if decision.verdict is not Verdict.REFUSED:
            assert (mark(decision) == made.mark) == known
            after = self.take(decision, made.name, amount)
            after.again = True
            self.under_way.append(after)

    @precondition(lambda self: self.under_way)
    @rule(which=WHICH, kept=st.booleans())
    def finish(self, which: int, *, kept: bool) -> None:
        """Store the Pod, or have it refused by somebody after us."""
        made = self.under_way.pop(which % len(self.under_way))
        if kept:
            self.stored[made.name] = made
            self.news.append(("here", made))
            self.late |= made.until <= self.cluster.now

    @precondition(lambda self: self.stored)
    @rule(which=WHICH, what=st.sampled_from(["ended", "gone"]))
    def leave(self, which: int, what: str) -> None:
        """Let a Pod end, or be deleted."""
        made = self.stored.pop(sorted(self.stored)[which % len(self.stored)])
        self.news.append((what, made))
        if what == "ended":
            self.over.append(made)

    @precondition(lambda self: self.over)
    @rule()
    def clean(self) -> None:
        """Delete a Pod that has ended."""
        self.news.append(("gone", self.over.pop()))

    @precondition(lambda self: self.news)
    @rule(most=st.integers(1, 3))
    def show(self, most: int) -> None:
        """Let the watch tell of what came next."""
        for _ in range(min(most, len(self.news))):
            what, made = self.news.pop(0)
            if what == "gone":
                self.cluster.pods.remove((SPACE, made.name))
            else:
                phase = "Failed" if what == "ended" else "Pending"
                self.cluster.show(made.pod, made.name, phase=phase)
                self.claims.pop(made.mark, None)

    @rule(seconds=st.sampled_from([0.1, 5.0, LIFE]))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.cluster.now += seconds
        unseen = [made for what, made in self.news if what == "here"]
        self.late |= any(made.until <= self.cluster.now for made in unseen)

    @rule()
    def count_anew(self) -> None:
        """Another generation of the configuration, by which everything is counted again."""
        self.cluster.rules = OTHER if self.cluster.rules is RULES else RULES

    @invariant()
    def sums_equal_a_recount(self) -> None:
        """Hold what is kept change by change against a count of all Pods."""
        recount: Counter[str] = Counter()
        for pod in self.cluster.pods:
            recount.update(usage.holds(pod, RULES))
        assert self.cluster.stored() == recount
        assert recount[MEMORY] == self.seen()

    @invariant()
    def claims_are_what_is_owed(self) -> None:
        """No claim is lost before its time, none outlives it, none counts twice."""
        assert self.cluster.claims.held(SPACE).get(MEMORY, 0) == self.owed()

    @invariant()
    def never_beyond_the_limit(self) -> None:
        """As long as each Pod is seen in time, what is stored fits the quota."""
        if not self.late:
            assert sum(made.amount for made in self.stored.values()) <= MOST


Counting.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestCounting = Counting.TestCase
