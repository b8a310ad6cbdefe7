"""What a stored Pod holds of its node."""

from collections.abc import Iterator

from berth.cluster.projections import Pod, PodSpec
from berth.model import holding
from berth.model.holding import Amounts, Asking


def of_pod(pod: Pod) -> tuple[Amounts, tuple[str, ...]]:
    """Return what a Pod holds, by Kubernetes' rules, and what of it is no quantity."""
    spec = pod.spec
    return holding.held(_containers(spec), spec.resources.requests, spec.overhead)


def _containers(spec: PodSpec) -> Iterator[Asking]:
    for at, container in enumerate(spec.init_containers):
        place = f"spec.initContainers[{at}].resources.requests"
        yield Asking(place, container.resources.requests, container.restart_policy != "Always")
    for at, container in enumerate(spec.containers):
        place = f"spec.containers[{at}].resources.requests"
        yield Asking(place, container.resources.requests, init=False)
