"""What a Pod that stands in the cluster, or is to, wants: read by the functions of its creation."""

import msgspec

from berth.admission import project, unplaced
from berth.admission.rules import Privileged, Rules
from berth.admission.wanted import wanted
from berth.cluster import projections
from berth.dialects import translate
from berth.model.demand import Demand
from berth.model.pod import Pod
from berth.model.raw import JsonObject
from berth.model.request import PodRequest


def request(raw: JsonObject, rules: Rules, stack: str = "") -> PodRequest:
    """Return what a Pod wants by itself, whoever schedules it. Raises BadReview.

    What is wrong with a container's numbers leaves it without a card. `stack` is the one for which
    it is written (`Options.stack`).
    """
    pod = project.pod(raw)
    return wanted(pod, _demand(pod, rules), rules.known, stack)


def authored(raw: JsonObject, rules: Rules, stack: str = "") -> tuple[Demand, PodRequest]:
    """Return what a Pod's author wanted, wherever Berth has led it. Raises BadReview."""
    pod = project.pod(raw)
    demand = unplaced.wished(pod, _demand(pod, rules))
    return demand, unplaced.eligible(pod, wanted(pod, demand, rules.known, stack))


def applied(namespace: str, raw: JsonObject, wish: PodRequest, rules: Rules) -> PodRequest:
    """Return what a Pod wants with what the settings ask of cards for it there."""
    pod = project.pod(raw)
    return rules.terms.applied(wish, namespace, pod.labels, pod.annotations)


def _demand(pod: Pod, rules: Rules) -> Demand:
    skipped = rules.privileged is Privileged.SKIP
    return translate.read(pod, rules.options, skip_privileged=skipped).demand


def names_known(pod: projections.Pod, rules: Rules) -> bool:
    """Whether a Pod of the watch names a resource of ours."""
    return any(
        not rules.known.isdisjoint(container.resources.limits)
        for containers in (pod.spec.containers, pod.spec.init_containers)
        for container in containers
    )


def asking(pod: projections.Pod, rules: Rules) -> tuple[Pod, PodRequest] | None:
    """Return a Pod of the watch and what it wants, None where that is no device.

    Also of one that is left alone at its creation, as a label or its scheduler says so: a kubelet
    gives it a device all the same (bug report 16). What a projection does not keep, such as
    affinity, is as if it had none.
    """
    if not names_known(pod, rules):
        return None
    found = project.pod(msgspec.json.decode(msgspec.json.encode(pod)))  # lists and maps
    rules = rules.reading
    demand = translate.read(found, rules.options, skip_privileged=False).demand
    if not demand.any:
        return None
    request = wanted(found, demand, rules.known)
    namespace = pod.metadata.namespace
    return found, rules.terms.applied(request, namespace, found.labels, found.annotations)
