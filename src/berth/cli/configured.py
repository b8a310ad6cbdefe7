"""The configuration that a command is given: settings and rules, with what is odd about them."""

from pathlib import Path

from berth import layered
from berth.admission import configuration
from berth.admission.rules import Rules
from berth.cli.terminal import warn
from berth.settings import Settings


def read(
    config: Path | None, device_config: Path | None, flags: tuple[str, ...]
) -> tuple[Settings, Rules]:
    """Read both files and the flags, saying the warnings on stderr. Raises UsageError."""
    settings = layered.settings(config, flags)
    rules, warnings = configuration.rules(settings, device_config)
    for warning in warnings:
        warn(warning)
    return settings, rules
