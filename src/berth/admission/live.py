"""The configuration in use: one generation at a time, taken whole or not at all."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from berth import layered
from berth.admission import configuration
from berth.admission.callers import Callers
from berth.admission.rules import Rules
from berth.model.raw import Json
from berth.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where the configuration comes from; flags and environment win over the file."""

    config: Path | None = None
    device_config: Path | None = None
    flags: tuple[str, ...] = ()
    """What `--set` says: "server.port=9443"."""
    named: Mapping[str, str] = field(default_factory=dict)
    """What other flags set, each by its own name: {"--port": "server.port=9443"}."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that may change under us."""
        return tuple(file for file in (self.config, self.device_config) if file is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A configuration that was read and proved as a whole."""

    number: int
    settings: Settings
    rules: Rules
    callers: Callers | None = None
    """Who may call; None is everyone."""
    warnings: tuple[str, ...] = ()
    before: Rules | None = None
    """Those of the generation before, for a while: a Pod may just have been written under them."""


@dataclass(slots=True)
class Live:
    """Holds the one in use; a request takes it once, when all of it has come."""

    current: Generation


def read(sources: Sources, number: int = 1) -> Generation:
    """Read and prove a generation from its sources. Raises UsageError."""
    settings = layered.settings(sources.config, sources.flags, sources.named)
    rules, warnings = configuration.rules(settings, sources.device_config)
    return Generation(
        number=number,
        settings=settings,
        rules=rules,
        callers=configuration.callers(settings.callers),
        warnings=warnings,
    )


AT_START = (
    *("server.host", "server.port", "server.certFile", "server.keyFile", "server.caFile"),
    *("server.dnsNames", "server.idleSeconds", "server.handshakeSeconds", "server.headerSeconds"),
    *("server.hangSeconds", "callers.clientCaFile", "metrics", "reload", "certificates"),
    *("registration.name", "registration.url", "registration.namespace", "registration.service"),
    *("log.format", "log.flushSeconds"),
    *("quota.enforce", "quota.claimSeconds", "placement.enforce", "placement.pendingSeconds"),
    "classes",
)
"""What is read at the start alone; a group's name stands for all of it."""


def needs_restart(old: Settings, new: Settings) -> Iterator[str]:
    """Yield the settings that differ and that only a new process takes."""
    before, after = msgspec.to_builtins(old), msgspec.to_builtins(new)
    for name in AT_START:
        if _at(before, name) != _at(after, name):
            yield name


def _at(tree: Json, name: str) -> Json:
    for key in name.split("."):
        tree = tree[key] if isinstance(tree, dict) else None
    return tree
