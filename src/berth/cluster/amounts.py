"""What a stored Pod holds of its node."""

from collections.abc import Iterator, Mapping

from berth.cluster.projections import INFEASIBLE, Container, Pod, PodStatus
from berth.model import holding
from berth.model.holding import Amounts, Asking

_NOTHING: Mapping[str, Mapping[str, str]] = {}


def of_pod(pod: Pod) -> tuple[Amounts, tuple[str, ...]]:
    """Return what a Pod holds, by Kubernetes' rules, and what of it is no quantity."""
    spec = pod.spec
    return holding.held(_containers(pod), spec.resources.requests, spec.overhead)


def _containers(pod: Pod) -> Iterator[Asking]:
    given = _given(pod.status) if INFEASIBLE in pod.status.conditions else _NOTHING
    for at, container in enumerate(pod.spec.init_containers):
        place = f"spec.initContainers[{at}].resources.requests"
        requests = _requests(container, given)
        yield Asking(place, requests, container.restart_policy != "Always")
    for at, container in enumerate(pod.spec.containers):
        place = f"spec.containers[{at}].resources.requests"
        requests = _requests(container, given)
        yield Asking(place, requests, init=False)


def _requests(container: Container, given: Mapping[str, Mapping[str, str]]) -> Mapping[str, str]:
    requests = container.resources.requests
    return {**requests, **given.get(container.name, {})} if given else requests


def _given(status: PodStatus) -> Mapping[str, Mapping[str, str]]:
    """Return what the containers keep while their node cannot give them what they want."""
    each = (*status.init_container_statuses, *status.container_statuses)
    return {one.name: one.allocated_resources for one in each}
