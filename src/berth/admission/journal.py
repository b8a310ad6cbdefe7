"""Who is told of each request: the log and the metrics. What a line holds is in told.py."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from berth.admission import told
from berth.admission.recall import Answered
from berth.errors import BadReview
from berth.model.decision import Decision, Verdict
from berth.observe.metrics import Metrics
from berth.observe.seldom import Seldom

LOG = logging.getLogger("berth.admission")
Write: TypeAlias = Callable[[str, Mapping[str, object]], None]
"""Takes the name and the fields of what happened: one call for each review."""
_SHOWN, _NAMES = 100, 5  # characters of a word that a caller chooses, and names in its certificate


class Fault(Exception):  # noqa: N818  reads as what happened
    """Stands in the log for an error whose text must not."""


@dataclass(frozen=True, slots=True)
class Journal:
    """Tells the log and the metrics what became of each request."""

    metrics: Metrics
    write: Write
    _busy: Seldom = field(default_factory=lambda: Seldom(LOG, "admission.overload", 10))
    _late: Seldom = field(default_factory=lambda: Seldom(LOG, "admission.late", 10))
    _strangers: Seldom = field(default_factory=lambda: Seldom(LOG, "caller.refused", 60))
    _unreadable: Seldom = field(default_factory=lambda: Seldom(LOG, "admission.unreadable", 1))

    def reviewed(self, done: Answered, about: Mapping[str, object], seconds: float) -> None:
        """Tell of a review that was answered after `seconds`; `about` goes into the line.

        A mistake of ours in the telling is told as a fault, and costs no Pod.
        """
        try:
            self._reviewed(done, about, seconds)
        except Exception as error:  # noqa: BLE001  whatever it is
            self.fault(error)

    def _reviewed(self, done: Answered, about: Mapping[str, object], seconds: float) -> None:
        review, decision = done.review, done.decision
        metrics, verdict = self.metrics, decision.verdict
        metrics.count(review.operation, review.resource, verdict)
        metrics.duration.add(seconds)
        for problem in decision.problems:
            metrics.refusals.add(problem.reason.value)
        if verdict is Verdict.PATCHED:
            metrics.patches.add(decision.dialect)
        if decision.would:
            for outcome in _outcomes(decision.would):
                metrics.audited.add(outcome)
        line = done.line or told.line(review, decision)
        fields = {**line, **about, "ms": int(seconds * 1_000_000) / 1000}
        self.write("admission.reviewed", fields)
        if LOG.isEnabledFor(logging.DEBUG):
            for number, step in enumerate(told.steps(decision)):
                LOG.debug("admission.step", extra={"uid": review.uid, "step": number, "what": step})

    def unreadable(self, error: BadReview) -> None:
        """Tell of a request that is no review."""
        self.metrics.count("", "", "unreadable")
        self._unreadable.say(status=error.status, why=str(error))

    def stranger(self, why: str, address: str, agent: str, names: list[str]) -> None:
        """Tell of a caller that may not call, and of what it says of itself."""
        self.metrics.count("", "", "stranger")
        self.metrics.strangers.inc()
        shown = [name[:_SHOWN] for name in names[:_NAMES]]
        self._strangers.say(why=why, address=address, agent=agent[:_SHOWN], names=shown)

    def overload(self, reason: str) -> None:
        """Tell of a request that was too much."""
        self.metrics.count("", "", "overload")
        self.metrics.rejected(reason).inc()
        self._busy.say(reason=reason)

    def late(self, seconds: float) -> None:
        """Tell of a request whose answer would have come too late, after `seconds`."""
        self.metrics.count("", "", "late")
        self._late.say(seconds=round(seconds, 3))

    def fault(self, error: Exception) -> None:
        """Tell of a mistake of ours: what it is and where, without its text.

        That may quote the Pod: "invalid literal for int() with base 10: 'a token'".
        """
        self.metrics.count("", "", "fault")
        shown = Fault(type(error).__name__)
        LOG.error("admission.fault", exc_info=(Fault, shown, error.__traceback__))


def _outcomes(would: Decision) -> Iterator[str]:
    """Yield under what a decision counts that was not carried out."""
    if would.verdict is Verdict.REFUSED:
        yield from dict.fromkeys(problem.reason.value for problem in would.problems)
    else:
        yield would.verdict
