"""What is told of each review: a log line, the metrics, and the audit annotations.

No value of a variable is in any of them, as Pods keep tokens there.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TypeAlias

import msgspec

from berth.admission import wire
from berth.errors import BadReview
from berth.model.decision import Decision, Verdict
from berth.model.demand import Demand, Share
from berth.model.placed import Placed
from berth.model.raw import Json, JsonObject
from berth.observe.metrics import Metrics
from berth.observe.seldom import Seldom

LOG = logging.getLogger("berth.admission")
Write: TypeAlias = Callable[[str, Mapping[str, object]], None]
"""Takes the name and the fields of what happened: one call for each review."""
HIDDEN = "(hidden)"
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}.*")
_LONGEST, _MOST = 253, 32
"""No name in Kubernetes is longer, and nobody reads more of a kind; a Pod can have 50,000."""
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

    def reviewed(
        self, review: wire.Review, decision: Decision, about: Mapping[str, object], seconds: float
    ) -> None:
        """Tell of a review that was answered after `seconds`; `about` goes into the line.

        A mistake of ours in the telling is told as a fault, and costs no Pod.
        """
        try:
            self._reviewed(review, decision, about, seconds)
        except Exception as error:  # noqa: BLE001  whatever it is
            self.fault(error)

    def _reviewed(
        self, review: wire.Review, decision: Decision, about: Mapping[str, object], seconds: float
    ) -> None:
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
        told = line(review, decision)
        told |= about
        told["ms"] = round(seconds * 1000, 3)
        self.write("admission.reviewed", told)
        if LOG.isEnabledFor(logging.DEBUG):
            for number, step in enumerate(steps(decision)):
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


def line(review: wire.Review, decision: Decision) -> dict[str, object]:
    """Return the fields of a log line that follow from the review and what was decided.

    In audit, codes, reasons and patch are those of what was not done.
    """
    told = decision.would or decision
    fields: dict[str, object] = {
        "uid": review.uid[:_LONGEST],
        "namespace": review.namespace[:_LONGEST],
        "pod": review.shown_name[:_LONGEST],
        "owner": review.owner[:_LONGEST],
        "operation": review.operation[:_LONGEST],
        "dry_run": review.dry_run,
        "asked": asked(decision.demand)[:_MOST] if decision.demand else [],
        "decision": decision.verdict,
    }
    if decision.would:
        fields["would"] = told.verdict
    codes = {problem.reason.value: None for problem in told.problems} if told.problems else ()
    fields["codes"] = [*codes]
    if decision.placed:
        fields |= _placed(decision.placed)
    fields["said"] = told.said[:_MOST]
    fields["reasons"] = [_short(reason) for reason in told.first_reasons]
    said, patch = decision.warnings[:_MOST], told.operations[:_MOST]
    fields["warnings"] = [_short(warning.text()) for warning in said] if said else []
    fields["patch"] = [_hushed(operation) for operation in patch] if patch else []
    return fields


def _placed(placed: Placed) -> dict[str, object]:
    """Say where it goes, and how its scheduler is told."""
    decided = placed.decided
    return {
        "id": decided.id,
        "policy": decided.policy,
        "delivery": placed.delivery.value,
        "node": decided.node,
        "candidates": decided.candidates,
        "fleet": decided.generation,
    }


def span(traceparent: str | None, uid: str) -> Mapping[str, object]:
    """Return a span in the caller's trace, as fields: ours is named after the review's uid.

    `traceparent` is W3C's header, version 00: 00-<trace, 32 hex>-<parent, 16 hex>-<flags>. What
    is none begins no trace.
    """
    found = _TRACEPARENT.fullmatch(traceparent) if traceparent else None
    if not found:
        return {}
    trace, parent = found.groups()
    return {
        "trace": trace,
        "parent": parent,
        "span": blake2b(uid.encode(), digest_size=8).hexdigest(),
    }


def asked(demand: Demand) -> list[Json]:
    """Say what each container asked for: its name, the vendor's, and the amounts that it named."""
    return [
        {"container": wanted.container.name[:_LONGEST], **_amounts(wanted.share)}
        for wanted in demand.containers
        if wanted.share
    ]


_AMOUNTS = ("count", "memory_mib", "memory_percent", "cores", "priority", "slices")


def _amounts(share: Share) -> JsonObject:
    found: JsonObject = {"vendor": share.vendor.name}
    for name in _AMOUNTS:
        amount = getattr(share, name)
        if amount is not None:
            found[name] = amount if type(amount) is int else msgspec.to_builtins(amount)
    return found


def steps(decision: Decision) -> Iterator[str]:
    """Yield what was found and done, one after the other."""
    for wanted in asked(decision.demand)[:_MOST] if decision.demand else []:
        yield f"asked: {wanted}"
    yield from (decision.would or decision).first_reasons
    for warning in decision.warnings[:_MOST]:
        yield f"warning: {warning}"
    yield f"decision: {decision.verdict}, {len(decision.operations)} operations"


def _outcomes(would: Decision) -> Iterator[str]:
    """Yield under what a decision counts that was not carried out."""
    if would.verdict is Verdict.REFUSED:
        yield from dict.fromkeys(problem.reason.value for problem in would.problems)
    else:
        yield would.verdict


def _hushed(operation: JsonObject) -> JsonObject:
    """Hide what a variable is set to, and cut a long text."""
    path, value = operation["path"], operation.get("value")
    if isinstance(path, str) and "/env" in path:
        shown: Json = HIDDEN if path.endswith("/value") else _without_values(value)
    elif isinstance(value, str) and len(value) > _LONGEST:  # the record of many containers, say
        shown = _short(value)
    else:
        return operation
    return operation if shown is value else {**operation, "value": shown}


def _short(text: str) -> str:
    """Cut a long text."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _without_values(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_values(entry) for entry in value]
    if isinstance(value, dict):
        return {key: HIDDEN if key == "value" else value[key] for key in value}
    return value
