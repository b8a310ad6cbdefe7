"""What commands that read a cluster share: how it is asked, and by which configuration."""

import logging
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from berth import layered
from berth.admission import configuration
from berth.admission.rules import Rules
from berth.cli.terminal import warn
from berth.cluster import connection, kube
from berth.cluster.watch import Source


def _silent(_why: str) -> None:
    """Say nothing: what ends the command is said anyway."""


def source(kubeconfig: Path | None, failed: Callable[[str], None] = _silent) -> Source:
    """Return the way to the cluster; `failed` says why it was lost. Raises UsageError."""
    logging.getLogger("berth.watch").setLevel(logging.ERROR)  # `failed` is told the rest
    kube.configuration(kubeconfig)
    return Source(
        connect=lambda: connection.connect(kubeconfig),
        random=secrets.SystemRandom().random,
        clock=time.monotonic,
        failed=failed,
    )


def rules(config: Path | None, device_config: Path | None, settings: tuple[str, ...]) -> Rules:
    """Resolve the configuration, saying its warnings on stderr. Raises UsageError."""
    found, warnings = configuration.rules(layered.settings(config, settings), device_config)
    for warning in warnings:
        warn(warning)
    return found
