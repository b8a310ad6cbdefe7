"""Puts together what keeps count of quotas: two watches, and what listens to them."""

import asyncio
import secrets
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from berth.admission.claims import Claims
from berth.admission.live import Live
from berth.admission.quotas import NAMESPACE, Quotas
from berth.cluster import connection, kube
from berth.cluster.projections import Object, Pod, ResourceQuota
from berth.cluster.watch import Resource, Source, Watch
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from berth.settings import Quota

_PODS = Resource(name="pods", kind=Pod, path="/api/v1/pods")
_QUOTAS = Resource(
    name="resourcequotas",
    kind=ResourceQuota,
    path="/api/v1/resourcequotas",
    indexes={NAMESPACE: lambda one: [one.metadata.namespace]},
)
Kind = TypeVar("Kind", bound=Object)


@dataclass(slots=True, kw_only=True)
class Counting:
    """The quotas to decide by, and the loops that keep them true. Raises UsageError.

    It is an error where no cluster is known.
    """

    settings: Quota
    live: Live
    kubeconfig: Path | None
    metrics: Metrics
    readiness: Readiness
    quotas: Quotas = field(init=False)
    _pods: Watch[Pod] = field(init=False)
    _limits: Watch[ResourceQuota] = field(init=False)

    def __post_init__(self) -> None:
        """Prepare; nothing is asked yet."""
        kube.configuration(self.kubeconfig)
        self._pods = self._watch(_PODS)
        self._limits = self._watch(_QUOTAS)
        self.quotas = Quotas(
            self._pods.store,
            self._limits.store,
            Claims(self.settings.claim_seconds, time.monotonic),
            lambda: secrets.token_hex(8),
            self.live.current.rules,
        )
        self.quotas.required = self.settings.enforce == "always"
        self.metrics.claims.set_function(lambda: len(self.quotas.claims))

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """Yield what goes on beside the answers, to their very end."""
        yield self._pods.run()
        yield self._limits.run()
        yield self._first_lists()

    def _watch(self, resource: Resource[Kind]) -> Watch[Kind]:
        name = resource.name
        missing, subject = self.readiness.missing, f"watch {name}"

        def failed(why: str) -> None:
            self.metrics.watch_errors(name).inc()
            if subject in missing:
                missing[subject] = f"its first list could not be read: {why}"

        source = Source(
            connect=lambda: connection.connect(self.kubeconfig),
            random=secrets.SystemRandom().random,
            clock=time.monotonic,
            failed=failed,
        )
        watch = Watch(resource, source)
        missing[subject] = "its first list is not read yet"
        self.metrics.staleness(name).set_function(lambda: watch.status().staleness_seconds)
        self.metrics.watched(name).set_function(lambda: len(watch.store))
        self.metrics.watch_errors(name)
        return watch

    async def _first_lists(self) -> None:
        for watch in (self._pods, self._limits):
            await watch.synced()
            del self.readiness.missing[f"watch {watch.status().resource}"]
        self.quotas.synced = True
        await asyncio.get_running_loop().create_future()  # who ends by himself, ends the process
