"""A decision that is told and not carried out: what a namespace in audit gets."""

from collections.abc import Iterator

from berth.model.decision import Decision, Verdict
from berth.model.raw import JsonObject
from berth.model.said import Said

_ENFORCED = (Verdict.PATCHED, Verdict.REFUSED)
_HEAD = {
    Verdict.PATCHED: Said("audit.changed"),
    Verdict.REFUSED: Said("audit.refused"),
}


def of(decision: Decision, raw: JsonObject) -> Decision:
    """Return what is answered about `raw` instead: nothing is done, and all of it said."""
    if decision.verdict not in _ENFORCED:
        return decision
    return Decision(
        verdict=Verdict.AUDITED,
        pod=raw,
        warnings=tuple(_warnings(decision)),
        demand=decision.demand,
        dialect=decision.dialect,
        would=decision,
    )


def _warnings(decision: Decision) -> Iterator[Said]:
    yield _HEAD[decision.verdict]
    for problem in decision.problems:
        yield Said("audit.problem", {"path": problem.path, "problem": problem.clause})
    for edit in decision.edits:
        yield Said("audit.edit", {"path": edit.path, "why": edit.why})
    yield from decision.warnings
