"""What a stored Pod holds of its node."""

from collections.abc import Iterator, Mapping

from berth.cluster.projections import INFEASIBLE, ContainerStatus, Pod
from berth.model import holding
from berth.model.holding import Amounts, Asking


def of_pod(pod: Pod) -> tuple[Amounts, tuple[str, ...]]:
    """Return what a Pod holds, by Kubernetes' rules, and what of it is no quantity."""
    spec = pod.spec
    return holding.held(_containers(pod), spec.resources.requests, spec.overhead)


def _containers(pod: Pod) -> Iterator[Asking]:
    status = pod.status
    of = {one.name: one for one in (*status.init_container_statuses, *status.container_statuses)}
    never = INFEASIBLE in status.conditions
    kinds = (("initContainers", pod.spec.init_containers), ("containers", pod.spec.containers))
    for kind, containers in kinds:
        for at, container in enumerate(containers):
            init = kind == "initContainers" and container.restart_policy != "Always"
            asked = container.resources.requests
            found = asked if init else _resized(asked, of.get(container.name), never=never)
            yield Asking(f"spec.{kind}[{at}].resources.requests", found, init=init)


def _resized(
    asked: Mapping[str, str], status: ContainerStatus | None, *, never: bool
) -> Mapping[str, str]:
    """Return what a container holds while it is resized in place, as the scheduler counts.

    The most of what it asks for, was granted and has in force; without the first where its node can
    `never` give that.
    """
    if status is None or status.resources is None:
        return asked
    found = {} if never else dict(asked)
    for amounts in (status.resources.requests, status.allocated_resources):
        for name, amount in amounts.items():
            if _much(name, amount) >= _much(name, found.get(name, "0")):
                found[name] = amount
    return found


def _much(name: str, amount: str) -> int:
    return holding.whole(amount, 1000 if name == holding.CPU else 1) or 0
