"""Asks a fleet where Pods could go: for `berth explain --cluster` and `--snapshot`."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from berth import closest, names
from berth.admission import affinity, placing, stored
from berth.admission.placing import Wish
from berth.admission.rules import Rules
from berth.admission.standing import Placing
from berth.admission.wanted import wanted
from berth.cli import clustered, fleets, placed, placed_rows
from berth.cli.explained import Explained, Told
from berth.cli.where import Fleet, Now, policy_for, where
from berth.errors import BadReview, UsageError
from berth.model import decided
from berth.model.charge import Charge
from berth.model.decision import Decision, Verdict
from berth.model.demand import Demand
from berth.model.placed import Delivery, Placed
from berth.model.pod import Pod
from berth.model.raw import JsonObject, annotations, child
from berth.model.request import PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.policies import POLICIES
from berth.words.catalogue import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How the fleet is asked."""

    rules: Rules
    zone: Callable[[str], Rules]
    """The rules by which a namespace's Pods are written."""
    language: Language
    policy: str | None = None
    """By name, in place of each Pod's own."""

    def __post_init__(self) -> None:
        """Raise UsageError for a policy that there is not."""
        if self.policy is not None and self.policy not in POLICIES:
            hint = closest.hint(self.policy, POLICIES)
            raise UsageError(f"--policy {self.policy}: is no policy{hint}")

    def add(self, found: Explained, fleet: Fleet) -> Explained:
        """Add where a Pod could go, as it is once it is admitted. Raises UsageError."""
        if found.decision.verdict is Verdict.REFUSED:
            return found
        raw = found.decision.pod
        with _taken():
            stack = self.zone(found.namespace).options.stack
            wish = stored.request(raw, self.rules.reading, stack)
            return replace(found, place=self._told(raw, found.namespace, wish, fleet))

    def live(self, pod: str, namespace: str, kubeconfig: Path | None) -> Explained:
        """Explain a Pod of the cluster, as its author wrote it. Raises UsageError."""
        space, slash, name = pod.rpartition("/")
        key = (space if slash else namespace, name)
        found = fleets.of_cluster(clustered.source(kubeconfig), self.rules, key)
        raw: JsonObject = found.pod or {}
        with _taken():
            stack = self.zone(key[0]).options.stack
            demand, wish = stored.authored(raw, self.rules.reading, stack)
            told = self._told(raw, key[0], wish, found.fleet, _standing(raw, found.now))
        decision = Decision(verdict=Verdict.UNCHANGED, pod=raw, demand=demand)
        return Explained(
            source=found.fleet.source,
            kind="Pod",
            name="/".join(key),
            where="",
            namespace=key[0],
            before=raw,
            decision=decision,
            place=told,
        )

    def _told(
        self,
        raw: JsonObject,
        namespace: str,
        wish: PodRequest,
        fleet: Fleet,
        now: Now | None = None,
    ) -> Told:
        chosen = policy_for(raw, namespace, self.rules, self.policy)
        request = stored.applied(namespace, raw, wish, self.rules)
        found = where(request, chosen, fleet, now)
        language = self.language
        return Told(
            lines=tuple(placed.said(found, language)),
            learned=tuple(placed.taught(found.learned, language)) if found.learned else (),
            row=placed_rows.row(found),
        )


@contextlib.contextmanager
def _taken() -> Iterator[None]:
    """Say of what has not the shape of a Pod that Kubernetes would not take it."""
    try:
        yield
    except BadReview as error:
        raise UsageError(f"{error}; Kubernetes would not take it") from None


def refusing(rules: Rules, namespace: str, snapshot: Snapshot) -> Placing:
    """Return what refuses a Pod that no node takes, where the settings say so, and no more."""
    manner = rules.placements.of(namespace)

    def place(pod: Pod, demand: Demand) -> Placed | None:
        full = manner.refuses(pod.priority_class)
        if manner.delivery is Delivery.OFF or not (full or manner.refuses_never):
            return None
        stack = rules.options.stack
        if affinity.bound(pod) or not placing.has_cards(demand, stack, snapshot):
            return None
        asked = wanted(pod, demand, rules.known, stack)
        request = rules.terms.applied(asked, namespace, pod.labels, pod.annotations)
        wish = Wish(
            id="",
            policy=placing.policy_of(pod, manner),
            delivery=manner.delivery,
            refuses_full=full,
            refuses_never=manner.refuses_never,
        )
        found = placing.place(request, snapshot, wish)
        return found if found.refused else None

    return place


def fleet_of(kubeconfig: Path | None, snapshot: str | None, rules: Rules) -> Fleet:
    """Read the fleet that is to be asked. Raises UsageError."""
    if snapshot is not None:
        return fleets.of_file(snapshot)
    return fleets.of_cluster(clustered.source(kubeconfig), rules).fleet


def _standing(raw: JsonObject, held: Charge | None) -> Now:
    """Say how a Pod of the cluster stands."""
    phase, text = child(raw, "status").get("phase"), annotations(raw).get(names.DECISION)
    return Now(phase=str(phase or "Unknown"), held=held, decided=decided.read(text))
