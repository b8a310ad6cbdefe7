"""The decision about one new Pod: a plain function that knows neither server nor wire."""

from collections.abc import Sequence

import msgspec

from berth.admission import (
    affinity,
    allocations,
    inject,
    original,
    patch,
    project,
    quota,
    scope,
    validate,
)
from berth.admission import standing as stood
from berth.admission.rules import Injection, Privileged, Rules
from berth.admission.standing import Standing
from berth.dialects import limit_ranger, limit_ranges, translate
from berth.dialects.dialect import Reading
from berth.dialects.ranges import Ranges, named
from berth.model.decided import Decided
from berth.model.decision import Decision, Verdict
from berth.model.demand import Demand
from berth.model.edit import Append, Change, Drop, Put
from berth.model.placed import Placed
from berth.model.pod import Pod
from berth.model.problem import Problem
from berth.model.raw import JsonObject
from berth.model.said import Said

_NAMES_NONE = Said("left.names-none")
_AS_IT_SHOULD_BE = Said("left.as-it-should-be")
_PRIVILEGED = Said("left.privileged")
_WINDOWS = Said("left.windows")
_MOST_EDITS = 10_000
"""As many operations as the API server takes in a client's JSON Patch. Each costs 10 us here."""


def decide(
    raw: JsonObject,
    namespace: str,
    rules: Rules,
    user: str = "",
    standing: Standing | None = None,
) -> Decision:
    """Decide about a Pod that `user` creates; "" is anybody.

    `standing` is what is known of the cluster, None where nothing is: what no card has today can
    then refuse no Pod. Raises BadReview where `raw` has not the shape of a Pod.
    """
    rules = rules.within(namespace)
    pod, left = _concerned(raw, namespace, rules)
    if pod is None:
        return left
    reading = _read(pod, rules)
    problems = tuple(validate.problems(pod, reading, rules))
    if not rules.allocations.isdisjoint(pod.annotations):
        problems += tuple(allocations.written(raw, user, rules))
    if standing and rules.placements.of(namespace).refuses_never:
        problems += tuple(one.problem for one in reading.beyond)
    if not problems and standing:  # only what is right in itself can be counted and placed
        return _stood(raw, pod, reading, rules, standing)
    if problems:
        told = tuple(limit_ranger.blamed(pod, problems, rules.options)) if pod.annotations else ()
        return _refused(raw, problems, reading.demand).warned(told)
    changes, warnings = _written(pod, reading, rules, None, None)
    if problems := _unsaid(changes):
        return _refused(raw, problems, reading.demand)
    if reading.demand.any:
        changes += stood.unmarked(pod)
    return _decision(raw, changes, warnings, reading.demand)


def _stood(
    raw: JsonObject, pod: Pod, reading: Reading, rules: Rules, standing: Standing
) -> Decision:
    """Decide about a Pod that is right in itself by how the cluster stands."""
    demand, allowance = reading.demand, standing.allowance
    asks = quota.asked(demand) if allowance else quota.Asked()
    problems = tuple(quota.problems(demand, asks, allowance)) if allowance else ()
    placed = None
    if demand.any and standing.placing and not problems:
        placed = standing.placing(pod, demand)
        problems = tuple(stood.problems(demand, placed)) if placed else ()
    if problems:
        return _refused(raw, problems, demand, placed)
    changes, warnings = _written(pod, reading, rules, placed, standing.ranges)
    if problems := _unsaid(changes):
        return _refused(raw, problems, demand, placed)
    if placed:
        # A dialect may have told a container its devices already.
        led = affinity.changes(pod, demand, placed)
        appended = [(one.path, one.value) for one in changes if type(one) is Append]
        changes += [
            one for one in led if type(one) is not Append or (one.path, one.value) not in appended
        ]
        changes += stood.mark(pod, placed.decided, Said("why.known-again"))
        warnings += () if reading.beyond else tuple(stood.warnings(placed))
    elif allowance and quota.counts(asks, allowance):
        found = Decided(id=standing.decision)
        changes += stood.mark(pod, found, Said("why.counted-once"))
    elif demand.any:
        changes += stood.unmarked(pod)
    if allowance:
        warnings += tuple(quota.warnings(asks, allowance))
    decision = _decision(raw, changes, warnings, demand)
    return msgspec.structs.replace(decision, placed=placed) if placed else decision


def _written(
    pod: Pod, reading: Reading, rules: Rules, placed: Placed | None, ranges: Ranges | None
) -> tuple[list[Change], tuple[Said, ...]]:
    """Return what completes a Pod, and what its author should know."""
    demand = reading.demand
    changes = translate.write(demand, placed.pinned if placed else None, pod, rules.options)
    if ranges:
        changes = [*named(changes, ranges, limit_ranges.again(pod, rules.options))]
    if demand.any:
        changes += original.keep(pod, demand, rules.options, changes)
    beyond = [one.warning for one in reading.beyond]
    return changes, (*reading.warnings, *validate.warnings(pod, demand, rules), *beyond)


def _unsaid(changes: Sequence[Change]) -> tuple[Problem, ...]:
    """Return why the written dialect cannot say what the Pod means, where that refuses it."""
    if Problem not in map(type, changes):
        return ()
    return tuple([one for one in changes if type(one) is Problem])


def _refused(
    raw: JsonObject, problems: tuple[Problem, ...], demand: Demand, placed: Placed | None = None
) -> Decision:
    refused = Verdict.REFUSED
    return Decision(verdict=refused, pod=raw, problems=problems, demand=demand, placed=placed)


def understood(raw: JsonObject, namespace: str, rules: Rules) -> Demand | None:
    """Return what a Pod wants, as `decide` reads it; None where it is not our business."""
    rules = rules.reading
    pod, _ = _concerned(raw, namespace, rules)
    return None if pod is None else _read(pod, rules).demand


def mistakes(raw: JsonObject, namespace: str, rules: Rules) -> tuple[Problem, ...]:
    """Return what is wrong with what a Pod asks for; nothing where it is not our business."""
    pod, _ = _concerned(raw, namespace, rules)
    return () if pod is None else _read(pod, rules).problems


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
    count = scope.containers(raw)
    if count > scope.MOST_CONTAINERS:
        facts = {"count": count, "most": scope.MOST_CONTAINERS}
        many = Problem("too-many.containers", ("spec", "containers"), facts)
        return None, Decision(verdict=Verdict.REFUSED, pod=raw, problems=(many,))
    pod = project.pod(raw)
    if pod.os == "windows":
        left = Decision(verdict=Verdict.IGNORED, pod=raw, notes=(_WINDOWS,))
        if scope.names_known(raw, rules):
            warning = Said("unmanaged.windows", {"path": ("spec",)})
            left = left.warned((warning,))
        return None, left
    return pod, unchanged


def _read(pod: Pod, rules: Rules) -> Reading:
    return translate.read(pod, rules.options, skip_privileged=rules.privileged is Privileged.SKIP)


def _decision(
    raw: JsonObject, changes: Sequence[Change], warnings: tuple[Said, ...], demand: Demand
) -> Decision:
    edits = tuple(
        [one for one in changes if type(one) is Put or type(one) is Drop or type(one) is Append]
    )
    if len(edits) < len(changes):
        warnings += tuple([one for one in changes if type(one) is Said])
    if len(edits) > _MOST_EDITS:
        facts = {"count": len(edits), "most": _MOST_EDITS}
        return _refused(raw, (Problem("too-many.edits", ("spec",), facts),), demand)
    operations, result = patch.record(raw, edits)
    shares = demand.shares
    asked = shares[0].vendor.dialect if shares else "hami"
    if not operations:
        skipped = not shares and any(one.code == "unmanaged.privileged" for one in warnings)
        return Decision(
            verdict=Verdict.UNCHANGED,
            pod=raw,
            warnings=warnings,
            notes=(_PRIVILEGED if skipped else _AS_IT_SHOULD_BE,),
            demand=demand,
            dialect=asked,
        )
    return Decision(
        verdict=Verdict.PATCHED,
        pod=result,
        operations=operations,
        warnings=warnings,
        edits=edits,
        demand=demand,
        dialect=asked,
    )
