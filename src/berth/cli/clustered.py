"""How commands that read a cluster ask it."""

import logging
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from berth.cluster import connection, kube
from berth.cluster.watch import Source


def _silent(_why: str) -> None:
    """Say nothing: what ends the command is said anyway."""


def source(kubeconfig: Path | None, failed: Callable[[str], None] = _silent) -> Source:
    """Return the way to the cluster; `failed` says why it was lost. Raises UsageError."""
    logging.getLogger("berth.watch").setLevel(logging.ERROR)  # `failed` is told the rest
    kube.configuration(kubeconfig)
    return way(kubeconfig, failed)


def way(kubeconfig: Path | None, failed: Callable[[str], None]) -> Source:
    """Return how a watch asks the cluster."""
    return Source(
        connect=lambda: connection.connect(kubeconfig),
        random=secrets.SystemRandom().random,
        clock=time.monotonic,
        failed=failed,
    )
