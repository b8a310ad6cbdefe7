"""What is told of a review in the log: fields of a line, from the review and what was decided.

No value of a variable is in any of them, as Pods keep tokens there.
"""

import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b

from berth.admission.review import Review
from berth.model.decision import Decision
from berth.model.demand import Demand, Share
from berth.model.placed import Placed
from berth.model.raw import Json, JsonObject

HIDDEN = "(hidden)"
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}.*")
_LONGEST, _MOST = 253, 32
"""No name in Kubernetes is longer, and nobody reads more of a kind; a Pod can have 50,000."""


def line(review: Review, decision: Decision) -> dict[str, object]:
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
        amount: int | None = getattr(share, name)
        if amount is not None:
            found[name] = amount
    return found


def steps(decision: Decision) -> Iterator[str]:
    """Yield what was found and done, one after the other."""
    for wanted in asked(decision.demand)[:_MOST] if decision.demand else []:
        yield f"asked: {wanted}"
    yield from (decision.would or decision).first_reasons
    for warning in decision.warnings[:_MOST]:
        yield f"warning: {warning}"
    yield f"decision: {decision.verdict}, {len(decision.operations)} operations"


def _hushed(operation: JsonObject) -> JsonObject:
    """Hide what a variable is set to, and cut a long text."""
    path, value = str(operation["path"]), operation.get("value")
    if "/env" in path and value is not None:
        shown = HIDDEN if path.endswith("/value") else _without_values(value)
        return {**operation, "value": shown}
    if type(value) is str and len(value) > _LONGEST:  # the record of many containers, say
        return {**operation, "value": _short(value)}
    return operation


def _short(text: str) -> str:
    """Cut a long text."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _without_values(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_values(entry) for entry in value]
    if isinstance(value, dict):
        return {key: HIDDEN if key == "value" else value[key] for key in value}
    return value
