"""The loop that takes a new configuration while the process runs."""

import asyncio
import logging
import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec
import orjson

from berth.admission import live
from berth.admission.callers import Callers
from berth.admission.live import Generation, Live, Sources
from berth.admission.rules import Rules
from berth.admission.told import HIDDEN
from berth.cluster import files
from berth.errors import UsageError
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from berth.settings import Injection, Settings

LOG = logging.getLogger("berth.configuration")
_MOST_READS = 5  # of files that change while they are read
BELIEVED_SECONDS = 180
"""For so long the rules before a reload are believed at /validate: kubelet may take 90 seconds to
bring a ConfigMap to the other replicas, which go by them until then, and the API server takes 60
at most for one creation (its --request-timeout)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloader:
    """Takes new generations into `live`, whole or not at all."""

    sources: Sources
    live: Live
    started: Settings
    """What the process was started with."""
    metrics: Metrics
    readiness: Readiness
    changed: Callable[[], None]
    """Called after a new generation is in use."""
    later: Callable[[float, Callable[[], None]], object]
    """Calls something after so many seconds, as `call_later` of an event loop."""
    _asked: asyncio.Event = field(default_factory=asyncio.Event)

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hear SIGHUP from now on."""
        loop.add_signal_handler(signal.SIGHUP, self._asked.set)

    async def heed(self) -> None:
        """Take a generation for each SIGHUP, and one for all that come meanwhile.

        To read the files takes as long as a hundred decisions: one for each of a storm of signals
        would hold up admission until the watchdog ends the process.
        """
        while True:
            await self._asked.wait()
            self._asked.clear()
            self.take()
            await asyncio.sleep(0)  # what came meanwhile is answered first

    def take(self) -> None:
        """Read the sources, and put the generation in use if it proves good."""
        old = self.live.current
        try:
            new = read(self.sources, old.number + 1)
        except UsageError as error:
            self._refuse(str(error))
            return
        except Exception as fault:
            # A mistake of ours: the process has a good generation, and answers on with it.
            LOG.exception("configuration.fault")
            self._refuse(f"{type(fault).__name__}, see the log")
            return
        if (new.settings, new.rules) == (old.settings, old.rules):
            self.readiness.notes.pop("configuration", None)
            return
        # Where only other settings changed, Pods may still come that were written before that.
        before = old.before
        if new.rules != old.rules:
            before = old.rules
            self.later(BELIEVED_SECONDS, partial(self._disbelieve, before))
        self.live.current = replace(new, before=before, callers=self._askable(new.callers))
        self.metrics.reloads("ok").inc()
        self.readiness.notes.pop("configuration", None)
        tell(new, self.metrics)
        restart = list(live.needs_restart(self.started, new.settings))
        self.readiness.notes.pop("restart", None)
        if restart:
            self.readiness.notes["restart"] = f"a new process is needed for {', '.join(restart)}"
            LOG.warning("configuration.restart", extra={"settings": restart})
        LOG.info("configuration.taken", extra={"generation": new.number})
        self.changed()

    def _disbelieve(self, before: Rules) -> None:
        """Believe rules no more whose Pods have all come; others may have taken their place."""
        if self.live.current.before is before:
            self.live.current = replace(self.live.current, before=None)

    def _askable(self, known: Callers | None) -> Callers | None:
        """Return who may call, without what the handshakes of this process do not ask for.

        Else a `clientCaFile` that is new in the settings would shut everyone out until a restart.
        """
        if known is None or self.started.callers.client_ca_file:
            return known
        asked = replace(known, certificate=False, names=frozenset())
        return None if asked == Callers() else asked

    def _refuse(self, why: str) -> None:
        number = self.live.current.number
        self.metrics.reloads("failed").inc()
        self.readiness.notes["configuration"] = (
            f"generation {number} goes on, as the new one cannot be used: {why}"
        )
        LOG.error("configuration.refused", extra={"why": why, "generation": number})

    async def watch(self, every: float) -> None:
        """Take a generation whenever a file changes, for as long as the process runs."""
        while self.sources.files:
            known = files.read(self.sources.files)  # before we use them, or a change is lost
            self.take()
            try:
                async for _ in files.changes(self.sources.files, every, known):
                    self.take()
            except (OSError, RuntimeError) as error:
                # The folder is gone, or the node has no watches left: both may come again.
                LOG.warning("configuration.unwatched", extra={"why": str(error)})
            await asyncio.sleep(every)


def read(sources: Sources, number: int = 1) -> Generation:
    """Read a generation whose files belong together. Raises UsageError.

    A volume with both files may be swapped after the first was read: then both are read anew.
    """
    found = files.read(sources.files)
    for _ in range(_MOST_READS):
        new = live.read(sources, number)
        before, found = found, files.read(sources.files)
        if found == before:
            return new
    raise UsageError("the files change all the time; they are read again when they rest")


def tell(generation: Generation, metrics: Metrics) -> None:
    """Make a generation known: its number, its warnings, its log level."""
    logging.getLogger().setLevel(generation.settings.log.level.upper())
    metrics.generation.set(generation.number)
    for warning in generation.warnings:
        LOG.warning("configuration.warning", extra={"why": warning})


def shown(generation: Generation) -> bytes:
    """Write what is in use, for people. Values that an injection sets are hidden, as secrets."""
    hidden = msgspec.structs.replace(
        generation.settings,
        injections=tuple(_hushed(injection) for injection in generation.settings.injections),
    )
    every = {
        "generation": generation.number,
        "settings": msgspec.to_builtins(hidden),
        "vendors": msgspec.to_builtins(generation.rules.vendors, enc_hook=_named),
        "warnings": list(generation.warnings),
    }
    return orjson.dumps(every, option=orjson.OPT_INDENT_2)


def _named(value: object) -> str:
    """Show a vendor's rule by its name."""
    return str(getattr(value, "__qualname__", value))


def _hushed(injection: Injection) -> Injection:
    env = tuple(msgspec.structs.replace(entry, value=HIDDEN) for entry in injection.env)
    return msgspec.structs.replace(injection, env=env)
