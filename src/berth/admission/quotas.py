"""Quotas at work: what each namespace may hold, what it holds, and what is on its way there.

One process has one event loop, and between the look at the sums and the claim nothing else runs:
two Pods cannot both take the last unit. Other replicas learn of a Pod when it is stored.
"""

from collections.abc import Callable

from berth import names
from berth.admission import mutate, quota
from berth.admission.claims import Claim, Claims
from berth.admission.quota import Allowance, Limit
from berth.admission.rules import Rules
from berth.admission.usage import Usage
from berth.admission.wire import Review
from berth.cluster.projections import Pod, ResourceQuota
from berth.cluster.store import Store
from berth.model.decision import Decision, Verdict
from berth.model.raw import JsonObject

NAMESPACE = "namespace"
"""The index that the store of ResourceQuotas needs."""


class Quotas:
    """Decides about Pods in namespaces with limits, and keeps count."""

    def __init__(
        self,
        pods: Store[Pod],
        quotas: Store[ResourceQuota],
        claims: Claims,
        make_id: Callable[[], str],
        rules: Rules,
    ) -> None:
        """Count what the stores show by `rules`; `make_id` gives an id that nobody has had."""
        self.synced = False
        """Whether the stores show the whole cluster; before, `decide` must not be asked."""
        self.required = False
        """Whether no Pod may pass before."""
        self.claims = claims
        self._pods = pods
        self._quotas = quotas
        self._make_id = make_id
        self.usage = Usage(rules.reading)
        self._limits: dict[str, tuple[Limit, ...]] = {}
        """Only of namespaces that have some."""
        pods.listen(self._pod_changed)
        quotas.listen(self._quota_changed)

    def decide(
        self, review: Review, raw: JsonObject, rules: Rules, *, deny_unsized: bool = False
    ) -> Decision:
        """Decide about a new Pod, and claim what it takes. Raises BadReview.

        A dry run is answered as any other and claims nothing.
        """
        self._follow(rules)
        limits = self._limits.get(review.namespace)
        if not limits:  # such Pods stay as they are
            return mutate.decide(raw, review.namespace, rules, review.user)
        known = None if review.dry_run else self._known(review, raw)
        allowance = Allowance(
            namespace=review.namespace,
            limits=limits,
            used=self._used(review.namespace, limits, known),
            decision=known.decision if known else self._make_id(),
            deny_unsized=deny_unsized,
        )
        decision = mutate.decide(raw, review.namespace, rules, review.user, allowance)
        if not review.dry_run:
            self._settle(review, decision, allowance)
        return decision

    def finish(self, review: Review, decision: Decision) -> None:
        """Take our last word on a Pod, after all that changes it: it holds nothing if refused."""
        mark = _mark(review.object)
        if review.dry_run or not review.creates_pod or mark is None:
            return
        if decision.verdict is Verdict.REFUSED:
            self.claims.drop(mark, review.namespace)
        else:
            self.claims.seal(mark, review.namespace)

    def _known(self, review: Review, raw: JsonObject) -> Claim | None:
        """Return the claim of an earlier pass over this very creation."""
        mark = _mark(raw)
        if mark is None:
            return None
        return self.claims.known(mark, review.namespace, review.shown_name)

    def _used(
        self, namespace: str, limits: tuple[Limit, ...], known: Claim | None
    ) -> dict[str, int]:
        stored, claimed = self.usage.held(namespace), self.claims.held(namespace)
        own = known.uses if known else {}
        return {
            name: stored.get(name, 0) + claimed.get(name, 0) - own.get(name, 0)
            for name in (limit.resource for limit in limits)
        }

    def _settle(self, review: Review, decision: Decision, allowance: Allowance) -> None:
        asks = quota.asked(decision.demand) if decision.demand else quota.Asked()
        if decision.verdict is Verdict.REFUSED or not quota.counts(asks, allowance):
            self.claims.drop(allowance.decision, review.namespace)
            return
        name = review.shown_name
        self.claims.claim(allowance.decision, review.namespace, name, asks.amounts)

    def _follow(self, rules: Rules) -> None:
        """Count anew where the configuration is another."""
        if rules.reading is self.usage.rules:
            return
        self.usage.recount(self._pods, rules.reading)
        self._limits = {}
        for one in self._quotas:
            self._limit(one.metadata.namespace)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        self.usage(old, new)
        mark = new.metadata.annotations.get(names.DECISION) if new else None
        if new and mark:  # from now on its sum is among those of the stored
            self.claims.drop(mark, new.metadata.namespace)

    def _quota_changed(self, old: ResourceQuota | None, new: ResourceQuota | None) -> None:
        changed = new or old
        if changed and (old is None or new is None or old.spec != new.spec):
            self._limit(changed.metadata.namespace)

    def _limit(self, namespace: str) -> None:
        there = self._quotas.by(NAMESPACE, namespace)
        hard = [(one.metadata.name, one.spec.hard) for one in there]
        self._limits[namespace] = quota.limits(hard, self.usage.rules.options.owners)
        if not self._limits[namespace]:
            del self._limits[namespace]


def _mark(raw: JsonObject | None) -> str | None:
    metadata = (raw or {}).get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    mark = annotations.get(names.DECISION) if isinstance(annotations, dict) else None
    return mark if isinstance(mark, str) else None
