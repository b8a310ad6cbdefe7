"""Quotas on stores that a test fills: a cluster in memory, and a clock that a test sets."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import msgspec

from berth.admission.claims import Claims
from berth.admission.quotas import Quotas
from berth.admission.rules import Rules
from berth.admission.standing import marked
from berth.admission.standings import Standings
from berth.cluster import projections
from berth.cluster.store import BY_NAMESPACE, Store
from berth.model import decided
from berth.model.decided import Decided
from berth.model.decision import Decision, Verdict
from tests.pods import Pod
from tests.reviews import SPACE, last_word, review


def watched(pod: Pod, name: str = "", version: int = 1, **status: Any) -> projections.Pod:
    """Return a Pod as the watch shows it: what is not kept is left out, amounts are text."""
    metadata = {"uid": name, **pod["metadata"], "resourceVersion": str(version)}
    metadata |= {"name": name or metadata["name"], "namespace": SPACE}
    raw = {**pod, "metadata": metadata, "status": status}
    return msgspec.convert(_stored(raw), projections.Pod)


def _stored(value: Any, key: str = "") -> Any:
    """Return a value as the API server stores it: without null, and amounts as text."""
    if isinstance(value, dict):
        kept = {name: _stored(one, name) for name, one in value.items() if one is not None}
        if key == "resources" and "limits" in kept:
            kept["requests"] = kept["limits"] | kept.get("requests", {})
        return {name: str(one) for name, one in kept.items()} if key in _AMOUNTS else kept
    return [_stored(one) for one in value] if isinstance(value, list) else value


_AMOUNTS = ("limits", "requests")


def quota(hard: Mapping[str, str], name: str = "gpu", version: int = 1) -> Any:
    """Return a ResourceQuota as the watch shows it."""
    metadata = {"name": name, "namespace": SPACE, "uid": name, "resourceVersion": str(version)}
    return msgspec.convert(
        {"metadata": metadata, "spec": {"hard": dict(hard)}}, projections.ResourceQuota
    )


class Cluster:
    """What the API server stores, and the Quotas of one replica."""

    def __init__(self, rules: Rules, hard: Mapping[str, str] | None = None) -> None:
        """Start without Pods, with one ResourceQuota where `hard` is given."""
        self.rules = rules
        self.now = 0.0
        self.pods: Store[projections.Pod] = Store({})
        self.limits: Store[projections.ResourceQuota] = Store(BY_NAMESPACE)
        self.claims = Claims(10, lambda: self.now)
        ids = count(1)
        self.quotas = Quotas(self.pods, self.limits, rules)
        self.quotas.synced = True
        self.standings = Standings(self.claims, lambda: f"id-{next(ids)}", self.quotas)
        self.pods.listen(self.standings.pod)
        self._versions = count(1)
        if hard is not None:
            self.limits.put(quota(hard))

    def ask(self, pod: Pod, *, dry_run: bool = False, deny_unsized: bool = False) -> Decision:
        """Ask for a Pod, as the API server does once."""
        rules = replace(self.rules, deny_unsized=deny_unsized) if deny_unsized else self.rules
        return self.standings.decide(review(pod, dry_run=dry_run), pod, rules)

    def last(self, pod: Pod, *, refused: bool = False, dry_run: bool = False) -> None:
        """Show the Pod as it will be stored, at /validate."""
        self.standings.finish(review(pod, dry_run=dry_run), last_word(pod, refused=refused))

    def stored(self) -> Mapping[str, int]:
        """Return the sums that are kept of what the watch has shown."""
        return self.quotas.usage.held(SPACE)

    def show(self, pod: Pod, name: str = "", **status: Any) -> projections.Pod:
        """Let the watch show a Pod as it is stored."""
        shown = watched(pod, name, next(self._versions), **status)
        self.pods.put(shown)
        return shown

    def create(self, pod: Pod, name: str = "") -> bool:
        """Create a Pod from one question to the watch's showing it."""
        decision = self.ask(pod)
        if decision.verdict is Verdict.REFUSED:
            return False
        self.show(decision.pod, name)
        return True


def mark(decision: Decision) -> str | None:
    """Return the id that stands in the decided Pod."""
    return marked(decision.pod) or None


def carrying(id_: str) -> str:
    """Return the annotation of a Pod that carries this id."""
    return decided.write(Decided(id=id_))
