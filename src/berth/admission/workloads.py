"""What the author of a workload hears at `kubectl apply`, rather than in its events."""

from collections.abc import Iterator, Mapping

from berth.admission import mutate, templates
from berth.admission.rules import Rules
from berth.admission.templates import Template
from berth.errors import BadReview
from berth.model.decision import Decision, Verdict
from berth.model.raw import Json, JsonObject, dotted


def decide(
    document: JsonObject, namespace: str, rules: Rules, *, audited: bool = False
) -> Decision:
    """Let a workload pass, with a warning for each reason for which no Pod of it ever will.

    A template can be changed as long as it lives, so it is not refused. Where its namespace is
    `audited`, its Pods are not either.
    """
    fate = "its Pods would be refused, but for audit" if audited else "its Pods will be refused"
    warnings = tuple(_warnings(document, namespace, rules, fate))
    return Decision(verdict=Verdict.UNCHANGED, pod=document, warnings=warnings)


def _warnings(document: JsonObject, namespace: str, rules: Rules, fate: str) -> Iterator[str]:
    if namespace in rules.excluded_namespaces:
        return
    for template in templates.find(document):
        yield from misplaced(document, template, rules)
        try:
            decision = mutate.decide_all(template.pod, namespace, {}, rules)
        except BadReview:
            return  # the API server says so itself
        for problem in decision.problems:
            # Two lines: a warning is short, and what to do is the end of the sentence.
            yield f"{dotted((*template.path, *problem.path))}: {fate}"
            yield f"{problem.what}; {problem.fix}"
        if not decision.problems:
            yield from decision.warnings


def misplaced(document: JsonObject, template: Template, rules: Rules) -> Iterator[str]:
    """Say so where a key that steers a Pod stands on the workload around it, without effect."""
    if not template.path:
        return
    where = dotted((*template.path, "metadata", "annotations"))
    for name in _annotations(document):
        if name in rules.steering:
            kind = document.get("kind")
            yield f"metadata.annotations[{name}] has no effect on {kind}; move it to {where}"


def _annotations(document: JsonObject) -> Mapping[str, Json]:
    metadata = document.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}
