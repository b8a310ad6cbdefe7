"""The loop that looks at the webhook configurations, and keeps them as wanted, whoever writes them.

Of two replicas that know different CAs, the one that read first would take the other's away. So
they are read before the CAs are, and written only where they are still the ones read: then
what we write holds all that whoever wrote it before us knew.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from berth import clock, names
from berth.certs import bundle
from berth.certs.registered import Registered
from berth.certs.source import Source
from berth.cluster import kube
from berth.errors import UsageError
from berth.model.raw import JsonObject
from berth.observe.metrics import Metrics
from berth.settings import Registration

LOG = logging.getLogger("berth.registration")
_KINDS = (names.MUTATING, names.VALIDATING)
_AGAIN = 0.2  # seconds, where someone else wrote between our read and our write


@dataclass(slots=True, kw_only=True)
class Keeping:
    """What is kept, and with which CAs."""

    kubeconfig: Path | None
    wanted: Callable[[], Registration]
    """What the settings say now."""
    manifests: Callable[[bytes], Sequence[JsonObject]]
    """The configurations with a caBundle, in the order in which they are written."""
    source: Source
    registered: Registered
    check: float
    """Seconds between two looks."""
    writes: bool
    """Else it is looked at only, and others keep it."""
    metrics: Metrics
    _applied: float | None = None
    """When it was last applied; None also after a failure, as the next success is news."""

    async def run(self) -> None:
        """Look and apply, again and again. Raises UsageError where no cluster is known.

        An API server that does not answer is asked again: admission goes on meanwhile.
        """
        kube.configuration(self.kubeconfig)
        while True:
            self.registered.wanted.clear()
            try:
                pause = await self._round()
            except UsageError as error:
                pause = self._failed()
                LOG.warning("registration.failed", extra={"why": str(error)})
            except Exception:
                # Whatever it is: Pods are admitted meanwhile, and the next round may go better.
                pause = self._failed()
                LOG.exception("registration.fault")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self.registered.wanted.wait()

    async def _round(self) -> float:
        """Look, and apply where it is not as it should be or was not for long."""
        config = kube.configuration(self.kubeconfig)
        wanted = self.wanted()
        found = {
            kind: await kube.webhook_configuration(config, kind, wanted.name) for kind in _KINDS
        }
        there = {kind: one for kind, one in found.items() if one is not None}
        if len(there) < len(found) and self.writes:
            self.registered.outdated = True
            for kind in found.keys() - there:
                await kube.begin_configuration(config, kind, wanted.name)
            return 0
        entries = [set(bundle.split(entry)) for one in there.values() for entry in one.bundles]
        trusted = set.intersection(*entries) if entries else set()
        self.registered.looked(trusted, clock.now(), empty=not entries)
        pause = min(wanted.refresh_seconds, self.check)
        if not self.writes:
            return pause
        vouching = await self.source.trusted(trusted)
        right = bool(entries) and all(entry == set(bundle.split(vouching)) for entry in entries)
        time = asyncio.get_running_loop().time()
        fresh = self._applied is not None and time < self._applied + wanted.refresh_seconds
        if right and fresh and not self.registered.outdated:
            return pause
        self.registered.outdated = False
        for manifest in self.manifests(vouching):
            if not await kube.apply(config, manifest, there[str(manifest["kind"])]):
                self.registered.outdated = True
                return _AGAIN
        self.registered.looked(bundle.split(vouching), clock.now())
        # The first time, and again after a failure, is news; that it still stands is not.
        level = logging.INFO if self._applied is None or not right else logging.DEBUG
        LOG.log(level, "registration.applied")
        self.metrics.registrations("ok").inc()
        self._applied = time
        return pause

    def _failed(self) -> float:
        self._applied = None
        self.metrics.registrations("failed").inc()
        self.registered.failed()
        return min(self.wanted().refresh_seconds, self.check)
