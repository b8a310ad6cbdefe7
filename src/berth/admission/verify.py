"""What is about to be stored, judged once all webhooks have changed it: `/validate`.

The answer is a verdict and warnings, never a patch. A Pod that `/mutate` let through, and that
nobody has touched since, passes.
"""

from collections.abc import Iterator

import msgspec

from berth.admission import allocations, debug, mutate, project, scope, workloads, written
from berth.admission.review import Review
from berth.admission.rules import Rules, Undone
from berth.model.decision import Decision, Verdict
from berth.model.edit import Edit
from berth.model.problem import Problem
from berth.model.raw import JsonObject, annotations
from berth.model.said import Said

BY_OTHERS = Said("left.by-others")
"""The note of a Pod that a replica with other settings wrote, and that nobody has changed."""
_NOT_OURS = Decision(verdict=Verdict.IGNORED, pod={}, notes=(Said("left.not-validated"),))


def decide(
    review: Review, rules: Rules, before: Rules | None = None, *, audited: bool = False
) -> Decision:
    """Judge a review. `before` is the configuration until a moment ago. Raises BadReview.

    Both are those of the Pod's namespace. Where it is `audited`, no Pod is rewritten, and so none
    lacks anything.
    """
    new = review.object
    if new is None:
        return _NOT_OURS
    if review.creates_pod:
        if audited:
            return _judged(new, review.namespace, review.user, rules)[0]
        return created(new, review.namespace, review.user, rules, before)
    if review.operation == "CREATE" and not review.sub_resource and review.group:
        return workloads.decide(new, review.namespace, rules, audited=audited)
    return _existing(review, new, rules)


def decide_records(review: Review, rules: Rules) -> Decision:
    """Judge nothing but who writes records of allocations. Raises BadReview."""
    new = review.object
    if new is None:
        return _NOT_OURS
    if not review.creates_pod:
        return _existing(review, new, rules, records_alone=True)
    if review.namespace in rules.excluded_namespaces or scope.is_mirror(new, review.user):
        return _NOT_OURS
    forged = tuple(allocations.written(new, review.user, rules.reading))
    return _found(new, forged)


def created(
    new: JsonObject, namespace: str, user: str, rules: Rules, before: Rules | None = None
) -> Decision:
    """Judge a new Pod as it will be stored. Raises BadReview."""
    passed, lacking = _judged(new, namespace, user, rules)
    if not lacking or rules.undone is Undone.ALLOW:
        return passed
    if written.stands(project.pod(new)):
        return msgspec.structs.replace(passed, notes=(BY_OTHERS,))
    if before is not None and not tuple(_lacking(mutate.decide(new, namespace, before, user))):
        return passed  # it was left alone under the configuration until a moment ago
    if rules.undone is Undone.WARN:
        return passed.warned(tuple(Said("not-rewritten", {"path": edit.path}) for edit in lacking))
    undone = tuple(Problem("undone", edit.path, {"why": edit.why}) for edit in lacking)
    return Decision(verdict=Verdict.REFUSED, pod=new, problems=undone, demand=passed.demand)


def _judged(
    new: JsonObject, namespace: str, user: str, rules: Rules
) -> tuple[Decision, tuple[Edit, ...]]:
    """Judge what is there, and return what a rewritten Pod would have besides."""
    if namespace in rules.excluded_namespaces or scope.is_mirror(new, user):
        return _NOT_OURS, ()
    forged = tuple(allocations.written(new, user, rules.reading))
    decision = mutate.decide(new, namespace, rules, user)
    verdict, problems = Verdict.UNCHANGED, decision.problems or forged
    lacking = tuple(_lacking(decision))
    if problems:
        verdict, lacking = Verdict.REFUSED, ()
    passed = Decision(verdict=verdict, pod=new, problems=problems, demand=decision.demand)
    return passed, lacking


def _lacking(decision: Decision) -> Iterator[Edit]:
    """Yield what the Pod would need to get its device, and nothing that is merely better."""
    if decision.demand is None or not decision.demand.any:
        return
    for edit in decision.edits:
        if edit.path[-1] in ("cpu", "memory"):
            continue
        if edit.path == ("spec", "schedulerName") or "resources" in edit.path:
            yield edit


def _existing(
    review: Review, new: JsonObject, rules: Rules, *, records_alone: bool = False
) -> Decision:
    """Judge what is done to a Pod that exists: an UPDATE, or a Binding, whose object is its own."""
    old, reading = review.old_object, rules.reading
    if review.namespace in rules.excluded_namespaces:
        return _NOT_OURS
    if review.binds_pod:
        return _found(new, tuple(allocations.bound(new, review.user, reading)))
    if review.operation != "UPDATE" or not review.of_pod or old is None:
        return _NOT_OURS
    problems = tuple(allocations.changed(new, old, review.user, reading))
    if review.sub_resource == "ephemeralcontainers":
        problems += tuple(debug.problems(new, old, review.namespace, reading))
    if not review.sub_resource and not records_alone:
        problems += tuple(_steered(new, old, review.namespace, rules))
    return _found(new, problems)


def _steered(new: JsonObject, old: JsonObject, namespace: str, rules: Rules) -> Iterator[Problem]:
    """Yield what becomes wrong in a Pod that waits.

    Its containers stay as they are, so it is by an annotation; what was wrong before is left alone.
    """
    waits = not project.mapping(new, "spec", ()).get("nodeName")
    if not waits or annotations(new) == annotations(old):
        return
    before = mutate.mistakes(old, namespace, rules)
    yield from (one for one in mutate.mistakes(new, namespace, rules) if one not in before)


def _found(new: JsonObject, problems: tuple[Problem, ...]) -> Decision:
    verdict = Verdict.REFUSED if problems else Verdict.UNCHANGED
    return Decision(verdict=verdict, pod=new, problems=problems)
