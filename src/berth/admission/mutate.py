"""The decision about one new Pod: a plain function that knows neither server nor wire."""

from collections.abc import Mapping, Sequence

from berth import names
from berth.admission import (
    allocations,
    inject,
    original,
    patch,
    project,
    quota,
    scope,
    selector,
    validate,
)
from berth.admission.quota import Allowance
from berth.admission.rules import Injection, Privileged, Rules
from berth.dialects import translate
from berth.dialects.dialect import Reading
from berth.model.decision import Decision, Problem, Verdict
from berth.model.demand import Demand
from berth.model.edit import Append, Change, Drop, Put
from berth.model.pod import Pod
from berth.model.raw import JsonObject
from berth.model.said import Said

_NAMES_NONE = Said("left.names-none")
_AS_IT_SHOULD_BE = Said("left.as-it-should-be")
_WINDOWS = Said("left.windows")
_EDITS = (Put, Drop, Append)


def decide(
    raw: JsonObject,
    namespace: str,
    rules: Rules,
    user: str = "",
    allowance: Allowance | None = None,
) -> Decision:
    """Decide about a Pod that `user` creates; "" is anybody.

    `allowance` is what the quotas of its namespace leave, None where they say nothing.
    Raises BadReview where `raw` has not the shape of a Pod.
    """
    rules = rules.within(namespace)
    pod, left = _concerned(raw, namespace, rules)
    if pod is None:
        return left
    reading = _read(pod, rules)
    problems = tuple(validate.problems(pod, reading, rules))
    if pod.annotations:
        problems += tuple(allocations.written(raw, user, rules))
    asks = quota.asked(reading.demand) if allowance else quota.Asked()
    if allowance and not problems:  # only what is right in itself can be counted
        problems = tuple(quota.problems(reading.demand, asks, allowance))
    if problems:
        refused = Verdict.REFUSED
        return Decision(verdict=refused, pod=raw, problems=problems, demand=reading.demand)
    changes = list(translate.write(reading.demand, None, pod, rules.options))
    problems = tuple([one for one in changes if type(one) is Problem])
    if problems:
        refused = Verdict.REFUSED
        return Decision(verdict=refused, pod=raw, problems=problems, demand=reading.demand)
    if reading.demand.any and (changes or names.ORIGINAL_REQUEST in pod.annotations):
        changes += original.keep(pod, reading.demand, rules.options)
    warnings = (*reading.warnings, *validate.warnings(pod, reading.demand, rules))
    if allowance:
        changes += quota.mark(pod, asks, allowance)
        warnings += tuple(quota.warnings(asks, allowance))
    return _decision(raw, changes, warnings, reading.demand)


def understood(raw: JsonObject, namespace: str, rules: Rules) -> Demand | None:
    """Return what a Pod wants, as `decide` reads it; None where it is not our business."""
    rules = rules.reading
    pod, _ = _concerned(raw, namespace, rules)
    return None if pod is None else _read(pod, rules).demand


def decide_injection(
    raw: JsonObject, namespace: str, rules: Rules, injection: Injection
) -> Decision:
    """Decide what one injection of the settings adds to a Pod. Raises BadReview like `decide`."""
    rules = rules.reading
    pod, left = _concerned(raw, namespace, rules)
    if pod is None:
        return left
    reading = _read(pod, rules)
    if reading.problems:
        return left
    problems = tuple(inject.problems(pod, reading.demand, injection))
    if problems:
        return Decision(verdict=Verdict.REFUSED, pod=raw, problems=problems)
    return _decision(raw, list(inject.changes(pod, reading.demand, injection)), (), reading.demand)


def decide_all(
    raw: JsonObject, namespace: str, labels: Mapping[str, str], rules: Rules
) -> Decision:
    """Decide as all our webhooks do, one after another, in a namespace with `labels`.

    Raises BadReview like `decide`.
    """
    decision = decide(raw, namespace, rules.within(namespace, labels.get(names.CONVERSION)))
    forged = () if decision.problems else tuple(allocations.written(raw, "", rules.reading))
    if forged and namespace not in rules.excluded_namespaces:
        return Decision(verdict=Verdict.REFUSED, pod=raw, problems=forged)
    labels = {**labels, names.NAMESPACE_NAME_LABEL: namespace}
    for injection in rules.injections.values():
        if decision.verdict in (Verdict.REFUSED, Verdict.IGNORED):
            break
        if selector.matches(injection.namespace_selector, labels):
            more = decide_injection(decision.pod, namespace, rules, injection)
            if more.verdict is Verdict.REFUSED:
                return Decision(
                    verdict=Verdict.REFUSED,
                    pod=raw,
                    problems=more.problems,
                    warnings=decision.warnings,
                )
            if more.operations:
                decision = Decision(
                    verdict=Verdict.PATCHED,
                    pod=more.pod,
                    operations=[*decision.operations, *more.operations],
                    warnings=(*decision.warnings, *more.warnings),
                    edits=(*decision.edits, *more.edits),
                    demand=decision.demand,
                )
            else:
                decision = decision.warned(more.warnings)
    return decision


def _concerned(raw: JsonObject, namespace: str, rules: Rules) -> tuple[Pod | None, Decision]:
    """Return the Pod where it is our business; else None and what to answer."""
    why = scope.ignored(raw, namespace, rules)
    if why is not None:
        told = (
            (Said("left-alone", {"path": ("spec", "schedulerName"), "why": why}),)
            if rules.options.conversion and scope.conflicts(raw, namespace, rules)
            else ()
        )
        return None, Decision(verdict=Verdict.IGNORED, pod=raw, notes=(why,), warnings=told)
    unchanged = Decision(verdict=Verdict.UNCHANGED, pod=raw, notes=(_NAMES_NONE,))
    if not scope.concerns(raw, rules):
        return None, unchanged
    pod = project.pod(raw)
    if pod.os == "windows":
        left = Decision(verdict=Verdict.IGNORED, pod=raw, notes=(_WINDOWS,))
        if scope.names_known(raw, rules):
            warning = Said("unmanaged.windows", {"path": ("spec",), "why": _WINDOWS})
            left = left.warned((warning,))
        return None, left
    return pod, unchanged


def _read(pod: Pod, rules: Rules) -> Reading:
    return translate.read(pod, rules.options, skip_privileged=rules.privileged is Privileged.SKIP)


def _decision(
    raw: JsonObject, changes: Sequence[Change], warnings: tuple[Said, ...], demand: Demand
) -> Decision:
    edits = [change for change in changes if isinstance(change, _EDITS)]
    if len(edits) < len(changes):
        warnings += tuple(change for change in changes if isinstance(change, Said))
    operations, result = patch.record(raw, edits)
    asked = next((share.vendor.dialect for share in demand.shares), "hami")
    if not operations:
        return Decision(
            verdict=Verdict.UNCHANGED,
            pod=raw,
            warnings=warnings,
            notes=(_AS_IT_SHOULD_BE,),
            demand=demand,
            dialect=asked,
        )
    return Decision(
        verdict=Verdict.PATCHED,
        pod=result,
        operations=operations,
        warnings=warnings,
        edits=tuple(edits),
        demand=demand,
        dialect=asked,
    )
