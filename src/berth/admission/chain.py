"""All our webhooks, one after another, as the API server calls them: for who asks without one."""

from collections.abc import Mapping

from berth import names
from berth.admission import allocations, mutate, selector
from berth.admission.rules import Rules
from berth.admission.standing import Standing
from berth.model.decision import Decision, Verdict
from berth.model.raw import JsonObject


def decide(
    raw: JsonObject,
    namespace: str,
    labels: Mapping[str, str],
    rules: Rules,
    standing: Standing | None = None,
) -> Decision:
    """Decide about a Pod in a namespace with `labels`.

    Raises BadReview where `raw` has not the shape of a Pod.
    """
    zone = rules.within(namespace, labels.get(names.CONVERSION))
    decision = mutate.decide(raw, namespace, zone, standing=standing)
    forged = () if decision.problems else tuple(allocations.written(raw, "", rules.reading))
    if forged and namespace not in rules.excluded_namespaces:
        return Decision(verdict=Verdict.REFUSED, pod=raw, problems=forged)
    labels = {**labels, names.NAMESPACE_NAME_LABEL: namespace}
    for injection in rules.injections.values():
        if decision.verdict in (Verdict.REFUSED, Verdict.IGNORED):
            break
        if selector.matches(injection.namespace_selector, labels):
            more = mutate.decide_injection(decision.pod, namespace, rules, injection)
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
