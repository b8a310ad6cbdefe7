"""Puts together what is known of the cluster: watches, and what listens to them."""

import asyncio
import secrets
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from berth.admission.claims import Claims
from berth.admission.classes import MAPPED
from berth.admission.live import Live
from berth.admission.quotas import Quotas
from berth.admission.standings import Standings
from berth.cli import clustered
from berth.cluster import kube
from berth.cluster.mirror import NODES, PODS
from berth.cluster.projections import (
    DeviceClass,
    LimitRange,
    Object,
    Pod,
    ResourceQuota,
    RuntimeClass,
)
from berth.cluster.store import BY_NAMESPACE
from berth.cluster.watch import Resource, Watch
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from berth.settings import Settings

if TYPE_CHECKING:
    from berth.admission.placer import Placer

_QUOTAS = Resource(
    name="resourcequotas",
    kind=ResourceQuota,
    path="/api/v1/resourcequotas",
    indexes=BY_NAMESPACE,
)
_RUNTIMES = Resource(
    name="runtimeclasses", kind=RuntimeClass, path="/apis/node.k8s.io/v1/runtimeclasses"
)
_DEVICES = Resource(
    name="deviceclasses",
    kind=DeviceClass,
    path="/apis/resource.k8s.io/v1/deviceclasses",
    indexes={MAPPED: lambda one: filter(None, [one.spec.extended_resource_name])},
)
_RANGES = Resource(
    name="limitranges",
    kind=LimitRange,
    path="/api/v1/limitranges",
    indexes=BY_NAMESPACE,
)
_SHOWN_SECONDS = 10
Kind = TypeVar("Kind", bound=Object)


@dataclass(slots=True, kw_only=True)
class Counting:
    """How the cluster stands, and the loops that keep that true. Raises UsageError.

    It is an error where no cluster is known.
    """

    settings: Settings
    live: Live
    kubeconfig: Path | None
    metrics: Metrics
    readiness: Readiness
    counts: bool
    """Whether quotas are ours to keep."""
    placed: bool
    """Whether Pods are ours to place."""
    standings: Standings = field(init=False)
    _pods: Watch[Pod] = field(init=False)
    _places: "Placer | None" = field(init=False, default=None)
    _loops: list[Coroutine[None, None, None]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        """Prepare; nothing is asked yet."""
        kube.configuration(self.kubeconfig)
        required = self.settings.placement.enforce == "always"
        # A translation asks for cards: percent of none that is known would be refused.
        asked = required or (self.placed and bool(self.settings.conversions))
        self._pods = self._watch(PODS, waits=self.counts or asked)
        if self.placed:
            self._places = self._placer(required=required, waits=asked)
        claims = Claims(self.settings.quota.claim_seconds, time.monotonic)
        self.standings = Standings(
            claims,
            lambda: secrets.token_hex(8),
            self._quotas() if self.counts else None,
            self._places,
        )
        self._pods.store.listen(self.standings.pod)
        if self.settings.classes.runtime:
            self._loops.append(self._runtimes(self._watch(_RUNTIMES, waits=False)))
        if self.settings.classes.device:
            self._loops.append(self._devices(self._watch(_DEVICES, waits=False)))
        if self.settings.classes.limit_range:
            self._loops.append(self._ranges(self._watch(_RANGES, waits=False)))
        self.metrics.claims.set_function(lambda: len(claims))

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """Yield what goes on beside the answers, to their very end."""
        yield from self._loops

    def shown(self, loop: asyncio.AbstractEventLoop) -> bytes:
        """Write the fleet as this replica knows it; called from other threads than the loop's."""
        from berth.model import picture  # noqa: PLC0415  numpy is slow to import

        async def taken() -> picture.Picture:
            return self._places.fleet.picture() if self._places else picture.Picture()

        found = asyncio.run_coroutine_threadsafe(taken(), loop).result(_SHOWN_SECONDS)
        return picture.write(found)

    def _quotas(self) -> Quotas:
        limits = self._watch(_QUOTAS, waits=True)
        quotas = Quotas(self._pods.store, limits.store, self.live.current.rules)
        quotas.required = self.settings.quota.enforce == "always"
        self._loops.append(self._first_lists(quotas, limits))
        return quotas

    def _placer(self, *, required: bool, waits: bool) -> "Placer":
        from berth.admission.placer import Placer  # noqa: PLC0415  numpy is slow to import
        from berth.cluster.reservations import Times  # noqa: PLC0415

        nodes = self._watch(NODES, waits=waits)
        times = Times(
            unseen=self.settings.quota.claim_seconds,
            pending=self.settings.placement.pending_seconds,
        )
        rules = self.live.current.rules
        placer = Placer(nodes.store, self._pods.store, rules, time.monotonic, times)
        placer.required, placer.name = required, secrets.token_hex(8)
        self.metrics.reservations.set_function(lambda: len(placer.reservations))
        self.metrics.overlaps.set_function(lambda: placer.reservations.overlaps)
        self._loops.append(self._first_lists(placer, nodes))
        return placer

    def _watch(self, resource: Resource[Kind], *, waits: bool) -> Watch[Kind]:
        """Return a watch; with `waits` we are not ready before its first list is read."""
        name = resource.name
        said = self.readiness.missing if waits else self.readiness.notes
        subject = _subject(name)

        def failed(why: str) -> None:
            self.metrics.watch_errors(name).inc()
            if subject in said:
                said[subject] = f"its first list could not be read: {why}"

        watch = Watch(resource, clustered.way(self.kubeconfig, failed))
        said[subject] = "its first list is not read yet"
        self.metrics.staleness(name).set_function(lambda: watch.status().staleness_seconds)
        self.metrics.watched(name).set_function(lambda: len(watch.store))
        self.metrics.watch_errors(name)
        self._loops.append(watch.run())
        return watch

    async def _first_lists(self, part: "Quotas | Placer", other: Watch[Kind]) -> None:
        """Let a part be asked once all that it listens to was read."""
        await self._read(self._pods)
        await self._read(other)
        part.synced = True
        await _stay()

    async def _runtimes(self, watch: Watch[RuntimeClass]) -> None:
        await self._read(watch)
        self.standings.classes.runtimes = watch.store
        await _stay()

    async def _devices(self, watch: Watch[DeviceClass]) -> None:
        await self._read(watch)
        self.standings.classes.devices = watch.store
        await _stay()

    async def _ranges(self, watch: Watch[LimitRange]) -> None:
        await self._read(watch)
        self.standings.classes.ranges = watch.store
        await _stay()

    async def _read(self, watch: Watch[Kind]) -> None:
        """Wait until the first list of a resource was read, and say so."""
        await watch.synced()
        subject = _subject(watch.status().resource)
        self.readiness.missing.pop(subject, None)
        self.readiness.notes.pop(subject, None)


async def _stay() -> None:
    """Never end, as whoever ends by himself ends the process."""
    await asyncio.get_running_loop().create_future()


def _subject(resource: str) -> str:
    return f"watch {resource}"
