"""A stored Pod, read as a new one by the same functions: it wants what it was admitted with.

What is not kept of it, such as its affinity, is as if it had none.
"""

import msgspec

from berth.admission import mutate, project
from berth.admission.rules import Rules
from berth.admission.wanted import wanted
from berth.cluster import projections
from berth.model.pod import Pod
from berth.model.request import PodRequest


def names_known(pod: projections.Pod, rules: Rules) -> bool:
    """Whether it names a resource of ours."""
    return any(
        not rules.known.isdisjoint(container.resources.limits)
        for containers in (pod.spec.containers, pod.spec.init_containers)
        for container in containers
    )


def read(pod: projections.Pod, rules: Rules) -> tuple[Pod, PodRequest] | None:
    """Return a Pod and what it wants, None where it wants no device."""
    if not names_known(pod, rules):
        return None
    raw = msgspec.json.decode(msgspec.json.encode(pod))  # lists and maps, as it came
    demand = mutate.understood(raw, pod.metadata.namespace, rules)
    if demand is None or not demand.any:
        return None
    found = project.pod(raw)
    return found, wanted(found, demand, rules.known)
