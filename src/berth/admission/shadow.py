"""A decision that is told and not carried out: what a namespace in audit gets."""

from collections.abc import Iterator
from textwrap import wrap

from berth.admission import wire
from berth.model.decision import Decision, Verdict
from berth.model.raw import JsonObject, dotted

_GOES_ON = "… "
_ENFORCED = (Verdict.PATCHED, Verdict.REFUSED)
_HEAD = {
    Verdict.PATCHED: "audit: this Pod would be changed, and is stored as it came",
    Verdict.REFUSED: "audit: this would be refused, and is let through",
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


def _warnings(decision: Decision) -> Iterator[str]:
    yield _HEAD[decision.verdict]
    for problem in decision.problems:
        # A warning is short, and what to do is the end of the sentence.
        first, *more = wrap(str(problem), wire.LONGEST_WARNING - len(_GOES_ON))
        yield first
        yield from (f"{_GOES_ON}{line}" for line in more)
    for edit in decision.edits:
        yield f"{dotted(edit.path)}: {edit.why}"
    yield from decision.warnings
