"""What is supposed of a cluster that is not asked: its rules, and the labels of its namespaces."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import msgspec

from berth import names
from berth.admission import chain, selector, shadow, templates
from berth.admission.rules import Rules
from berth.admission.standing import Placing, Standing
from berth.model.decision import Decision, Verdict
from berth.model.raw import JsonObject, child
from berth.model.reason import Reason
from berth.model.said import Said


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What is supposed of the cluster, as there is none to ask."""

    rules: Rules
    selector: JsonObject
    """The registration's namespaceSelector."""
    default: str
    """Namespace of what names none."""
    labels: Mapping[str, str]
    """Labels of all namespaces, which win over those of one."""
    labels_by_namespace: Mapping[str, Mapping[str, str]]
    standing: Standing | None = None
    """Given where its cards are known, which may then refuse a Pod."""
    refusing: Callable[[Rules, str], Placing] | None = None
    """Given where its nodes are: what refuses a Pod of a namespace that none of them takes."""

    def of(self, document: JsonObject) -> "Cluster":
        """Return the same for the Pods of a document, as their controller makes them."""
        if not templates.has_queue(document):
            return self
        return replace(self, rules=self.rules.without_queue())

    def decide(self, pod: JsonObject, namespace: str) -> Decision:
        """Decide as the server does, if it is asked at all. Raises BadReview."""
        labels = self._labels(namespace)
        decision = self._decide(pod, namespace, labels)
        audited = self.rules.audited.holds(namespace, labels)
        return shadow.of(decision, pod) if audited else decision

    def zone(self, namespace: str) -> Rules:
        """Return the rules by which a namespace's Pods are written."""
        return self.rules.within(namespace, self._labels(namespace).get(names.CONVERSION))

    def _labels(self, namespace: str) -> dict[str, str]:
        own = self.labels_by_namespace.get(namespace, {})
        return {**own, **self.labels, names.NAMESPACE_NAME_LABEL: namespace}

    def _decide(self, pod: JsonObject, namespace: str, labels: Mapping[str, str]) -> Decision:
        standing = self.standing
        if standing and self.refusing:
            place = self.refusing(self.zone(namespace), namespace)
            standing = msgspec.structs.replace(standing, placing=place)
        decision = chain.decide(pod, namespace, labels, self.rules, standing)
        if decision.verdict is Verdict.IGNORED or selector.matches(self.selector, labels):
            return decision
        forged = tuple(one for one in decision.problems if one.reason is Reason.ALLOCATION)
        if forged:  # from this no label opts out
            return Decision(verdict=Verdict.REFUSED, pod=pod, problems=forged)
        unmet = "; ".join(_unmet(self.selector, labels))
        why = Said("left.selector", {"namespace": namespace, "unmet": unmet})
        return Decision(verdict=Verdict.IGNORED, pod=pod, notes=(why,))


def _unmet(wanted: JsonObject, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield the expressions that `labels` fail, such as "hami-webhook/inject In (enabled)"."""
    for entry in selector.requirements(wanted):
        if isinstance(entry, dict) and not selector.matches({"matchExpressions": [entry]}, labels):
            values = entry.get("values")
            listed = ", ".join(map(str, values)) if isinstance(values, list) else ""
            yield f"{entry.get('key')} {entry.get('operator')} ({listed})"


def namespaces(found: Iterable[JsonObject]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the name and the labels of each Namespace among the documents."""
    for document in found:
        if document.get("kind") == "Namespace":
            metadata = child(document, "metadata")
            labels = child(metadata, "labels")
            yield str(metadata.get("name")), {key: str(value) for key, value in labels.items()}
