"""The loop that keeps the certificate in use good, wherever it comes from."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from berth import clock
from berth.certs import authority, bundle
from berth.certs.authority import Pair
from berth.certs.clients import ClientAuthorities
from berth.certs.identity import Shown
from berth.certs.registered import Registered
from berth.certs.rotation import Terms
from berth.certs.source import Source
from berth.certs.status import Health, Status
from berth.cluster import files
from berth.errors import UsageError
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness

LOG = logging.getLogger("berth.certificates")
CERTIFICATE = "certificate"
REGISTRATION = "registration"
_SOON = 2.0  # seconds to the next try, while there is nothing to show
_LOOK = 10.0  # seconds to the next look at files, where no events come from their folder


@dataclass(slots=True, kw_only=True)
class Controller:
    """Shows what `source` has, and says in `readiness` why callers would not take it."""

    source: Source
    shown: Shown
    registered: Registered
    terms: Terms
    host: str
    """By which name the API server calls us."""
    strict: bool
    """The registration is ours to keep: while it does not vouch for us, we are not ready."""
    metrics: Metrics
    readiness: Readiness
    clients: ClientAuthorities | None = None
    """Who signs for callers; None: they are not asked."""
    status: Status = field(default_factory=Status)
    pair: Pair | None = None
    """What the source had; before that, `shown` holds a stand-in for the probes."""
    _told: dict[str, str] = field(default_factory=dict)

    async def run(self) -> None:
        """Look again and again."""
        async with asyncio.TaskGroup() as group:
            if self._watched:
                group.create_task(self._watch())
            while True:
                pause = await self.look()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self.registered.news.wait()

    async def look(self) -> float:
        """Look once, and return in how many seconds at the latest to look again."""
        self.registered.news.clear()
        trusted, error, until = self.status.trusted, "", clock.now() + self.terms.check
        try:
            turn = await self.source.turn(self.pair, self.registered)
            trusted, until = turn.trusted, turn.until
            if turn.pair is not None:
                self._show(turn.pair)
            self._ask_callers()
        except UsageError as fault:
            error = str(fault)
        except Exception as fault:
            # Whatever it is: the last good pair serves on, and the next look may go better.
            LOG.exception("certificates.fault")
            error = f"{type(fault).__name__}, see the log"
        self._note(trusted, error, clock.now())
        pause = (until - clock.now()).total_seconds()
        return max(0.0, min(pause, self.terms.check.total_seconds() if self.pair else _SOON))

    def _show(self, pair: Pair) -> None:
        self.shown.show(pair)
        self.pair = pair
        begins, ends = authority.life(pair.certificate)
        self.status = replace(self.status, leaf_begins=begins, leaf_ends=ends)
        self.metrics.certificates("ok").inc()
        self.metrics.expiry("leaf").set(ends.timestamp())
        LOG.info("certificates.shown", extra={"ends": ends.isoformat()})

    def _ask_callers(self) -> None:
        """Ask for certificates of other authorities from now on, where their file has changed."""
        if self.clients and self.clients.take() and self.shown.pair:
            self.shown.show(self.shown.pair)

    def _note(self, trusted: bytes, error: str, now: datetime) -> None:
        if trusted != self.status.trusted:
            self.registered.wanted.set()
        first = bundle.ends(trusted, now)
        self.status = replace(self.status, trusted=trusted)
        if first:
            self.metrics.expiry("authority").set(first.timestamp())
        if error:
            self.metrics.certificates("failed").inc()
        self._tell("certificates.failed", error)
        health = self.status.health(now)
        ends = f"{self.status.leaf_ends:%F %T} UTC" if self.status.leaf_ends else ""
        ending = health in {Health.ENDING, Health.EXPIRED}
        self._tell("certificates.ending", f"{health} {ends}" if ending else "")
        _put(self.readiness.notes, CERTIFICATE, f"ends on {ends}" if ending else "")
        expired = f"expired on {ends}" if health is Health.EXPIRED else ""
        missing = "none yet; see the log" if health is None else expired
        _put(self.readiness.missing, CERTIFICATE, missing)
        self._vouched()

    def _vouched(self) -> None:
        """Hold the pair in use against what the API server trusts."""
        if not self.registered.watched or self.pair is None:
            return
        why = ""
        if not self.registered.tried:
            why = "not looked at yet"
        elif self.registered.empty:
            why = "no webhook is registered"
        elif self.registered.bundle is not None:
            why = self.shown.distrusted(self.registered.bundle, self.host) or ""
            why = f"its caBundle does not vouch for us: {why}" if why else ""
            self._tell("registration.distrusts", why)
        about = self.readiness.missing if self.strict else self.readiness.notes
        _put(about, REGISTRATION, why)

    def _tell(self, event: str, why: str) -> None:
        """Warn of what is new; what goes on is told once."""
        if why and self._told.get(event) != why:
            LOG.warning(event, extra={"why": why})
        self._told[event] = why

    @property
    def _watched(self) -> Sequence[Path]:
        return (*self.source.watched, *([self.clients.file] if self.clients else []))

    async def _watch(self) -> None:
        """Ring when one of the files has changed."""
        every = min(self.terms.check.total_seconds(), _LOOK)
        while True:
            try:
                async for _ in files.changes(self._watched, every):
                    self.registered.news.set()
            except (OSError, RuntimeError):  # no such folder yet, or no watches left
                await asyncio.sleep(every)
                self.registered.news.set()


def _put(about: dict[str, str], what: str, why: str) -> None:
    """Say why, or take it back."""
    if why:
        about[what] = why
    else:
        about.pop(what, None)
