"""Quotas at work: what each namespace may hold, and what it holds.

One process has one event loop, and between the look at the sums and the claim nothing else runs:
two Pods cannot both take the last unit. Other replicas learn of a Pod when it is stored.
"""

from berth.admission import quota
from berth.admission.claims import Claim, Claims
from berth.admission.quota import Allowance, Limit
from berth.admission.rules import Rules
from berth.admission.usage import Usage
from berth.cluster.projections import Pod, ResourceQuota
from berth.cluster.store import NAMESPACE, Store


class Quotas:
    """Knows the limits of namespaces, and keeps count."""

    def __init__(self, pods: Store[Pod], quotas: Store[ResourceQuota], rules: Rules) -> None:
        """Count what the stores show by `rules`."""
        self.synced = False
        """Whether the stores show the whole cluster; before, nothing that is said here holds."""
        self.required = False
        """Whether no Pod may pass before."""
        self._pods = pods
        self._quotas = quotas
        self.usage = Usage(rules.reading)
        self._limits: dict[str, tuple[Limit, ...]] = {}
        """Only of namespaces that have some."""
        pods.listen(self.usage)
        quotas.listen(self._quota_changed)

    def allowance(
        self, namespace: str, rules: Rules, claims: Claims, known: Claim | None
    ) -> Allowance | None:
        """Return what a namespace has left beside `known`, None where it has no limits.

        Pods of such namespaces stay as they are.
        """
        self._follow(rules)
        limits = self._limits.get(namespace)
        if not limits:
            return None
        stored, claimed = self.usage.held(namespace), claims.held(namespace)
        own = known.uses if known else {}
        used = {
            name: stored.get(name, 0) + claimed.get(name, 0) - own.get(name, 0)
            for name in (limit.resource for limit in limits)
        }
        return Allowance(
            namespace=namespace, limits=limits, used=used, deny_unsized=rules.deny_unsized
        )

    def _follow(self, rules: Rules) -> None:
        """Count anew where the configuration is another."""
        if rules.reading is self.usage.rules:
            return
        self.usage.recount(self._pods, rules.reading)
        self._limits = {}
        for one in self._quotas:
            self._limit(one.metadata.namespace)

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
