"""The loop that keeps the webhook configuration as we want it, whatever others do to it."""

import asyncio
import logging
from pathlib import Path

from berth.cluster import kube
from berth.errors import UsageError
from berth.model.raw import JsonObject

LOG = logging.getLogger("berth.registration")


async def registered(kubeconfig: Path | None, manifest: JsonObject, every: float) -> None:
    """Apply `manifest` now and every `every` seconds. Raises UsageError where no cluster is known.

    An API server that does not answer is asked again: admission goes on meanwhile.
    """
    config = kube.configuration(kubeconfig)
    stands = False
    while True:
        try:
            await kube.apply(config, manifest)
        except UsageError as error:
            stands = False
            LOG.warning("registration.failed", extra={"why": str(error)})
        except Exception:
            # Whatever it is: Pods are admitted meanwhile, and the next round may go better.
            stands = False
            LOG.exception("registration.fault")
        else:
            # The first time, and again after a failure, is news; that it still stands is not.
            LOG.log(logging.DEBUG if stands else logging.INFO, "registration.applied")
            stands = True
        await asyncio.sleep(every)
