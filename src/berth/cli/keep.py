"""The loop that keeps the webhook configuration as we want it, whatever others do to it."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path

from berth.cluster import kube
from berth.errors import UsageError
from berth.model.raw import JsonObject
from berth.observe.metrics import Metrics

LOG = logging.getLogger("berth.registration")


async def registered(
    kubeconfig: Path | None,
    manifest: Callable[[], tuple[JsonObject, float]],
    changed: asyncio.Event,
    metrics: Metrics,
) -> None:
    """Apply what `manifest` gives now, when `changed`, and whenever its seconds are over.

    Raises UsageError where no cluster is known. An API server that does not answer is asked again:
    admission goes on meanwhile.
    """
    config = kube.configuration(kubeconfig)
    stands = False
    while True:
        changed.clear()
        wanted, every = manifest()
        try:
            await kube.apply(config, wanted)
        except UsageError as error:
            stands = False
            metrics.registrations("failed").inc()
            LOG.warning("registration.failed", extra={"why": str(error)})
        except Exception:
            # Whatever it is: Pods are admitted meanwhile, and the next round may go better.
            stands = False
            metrics.registrations("failed").inc()
            LOG.exception("registration.fault")
        else:
            # The first time, and again after a failure, is news; that it still stands is not.
            LOG.log(logging.DEBUG if stands else logging.INFO, "registration.applied")
            metrics.registrations("ok").inc()
            stands = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(changed.wait(), every)
