"""What the author of a workload hears at `kubectl apply`, rather than in its events."""

from collections.abc import Iterator, Mapping

from berth import names
from berth.admission import chain, templates
from berth.admission.rules import Rules
from berth.admission.templates import Template
from berth.errors import BadReview
from berth.model.decision import Decision, Verdict
from berth.model.raw import Json, JsonObject, Path
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
            decision = chain.decide(template.pod, namespace, {}, rules)
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
    """Say so where a key that steers a Pod stands on what is around it, without effect."""
    kind = str(document.get("kind"))
    # What other controllers read of their own kinds, nobody here knows.
    known = rules.queues and templates.is_kubernetes_own(document)
    queues = {names.VOLCANO_QUEUE} if known else set()
    for above in range(len(template.path)):
        for name in _annotations(document, template.path[:above]):
            path = (*template.path[:above], "metadata", "annotations", name)
            if name in rules.known:  # it would ask for nothing in the template either
                yield Said("no-effect.annotation", {"path": path})
            elif name in rules.steering or name in queues:
                yield Said("no-effect.workload", {"path": path, "kind": kind})


def _annotations(document: JsonObject, path: Path) -> Mapping[str, Json]:
    """Return the annotations of what stands at `path`, such as a CronJob's jobTemplate."""
    node: Json = document
    for key in (*path, "metadata", "annotations"):
        if isinstance(node, dict):
            node = node.get(str(key))
        elif isinstance(node, list) and isinstance(key, int):
            node = node[key]
        else:
            return {}
    return node if isinstance(node, dict) else {}
