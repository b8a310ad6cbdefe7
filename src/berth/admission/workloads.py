"""What the author of a workload hears at `kubectl apply`, rather than in its events."""

from collections.abc import Iterator, Mapping

from berth import names
from berth.admission import mutate, templates
from berth.admission.rules import Rules
from berth.admission.templates import Template
from berth.errors import BadReview
from berth.model.decision import Decision, Verdict
from berth.model.raw import Json, JsonObject
from berth.model.said import Said


def decide(
    document: JsonObject, namespace: str, rules: Rules, *, audited: bool = False
) -> Decision:
    """Let a workload pass, with a warning for each reason for which no Pod of it ever will.

    A template can be changed as long as it lives, so it is not refused. Where its namespace is
    `audited`, its Pods are not either.
    """
    warnings = tuple(_warnings(document, namespace, rules, audited=audited))
    return Decision(verdict=Verdict.UNCHANGED, pod=document, warnings=warnings)


def _warnings(
    document: JsonObject, namespace: str, rules: Rules, *, audited: bool
) -> Iterator[Said]:
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
            path = (*template.path, *problem.path)
            yield Said("workload.audited" if audited else "workload.refused", {"path": path})
            yield Said("workload.why", {"problem": problem.clause})
        if not decision.problems:
            yield from decision.warnings


def misplaced(document: JsonObject, template: Template, rules: Rules) -> Iterator[Said]:
    """Say so where a key that steers a Pod stands on the workload around it, without effect."""
    if not template.path:
        return
    where, kind = (*template.path, "metadata", "annotations"), str(document.get("kind"))
    # What other controllers read of their own kinds, nobody here knows.
    known = rules.queues and templates.is_kubernetes_own(document)
    queues = {names.VOLCANO_QUEUE} if known else set()
    for name in _annotations(document):
        if name in rules.steering or name in queues:
            place = {"path": ("metadata", "annotations", name), "where": where}
            yield Said("no-effect.workload", {**place, "kind": kind})


def _annotations(document: JsonObject) -> Mapping[str, Json]:
    metadata = document.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}
