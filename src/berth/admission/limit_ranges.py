"""Devices that no container asked for: a LimitRange of the namespace gives them to each.

The administrator has said so, and what stands in the Pod counts, whoever wrote it. The API server's
LimitRanger runs before us and says what it set, in an annotation.
"""

from collections.abc import Iterator

from berth import names
from berth.model.demand import Demand
from berth.model.pod import Container, Pod
from berth.model.said import Said

_BEGINS = "LimitRanger plugin set: "


def warnings(pod: Pod, demand: Demand) -> Iterator[Said]:
    """Yield the containers that have a device by a LimitRange alone, and how to have none."""
    told = pod.annotations.get(names.LIMIT_RANGER)
    if not isinstance(told, str):
        return
    given = _given(told)
    for wanted in demand.containers:
        if wanted.share is None:
            continue
        asked = wanted.container.limits.keys() & set(wanted.share.vendor.resources)
        if asked and asked <= given.get(_called(wanted.container), set()):
            name = next(one for one in wanted.share.vendor.resources if one in asked)
            yield Said("limit-range", {"path": wanted.container.path, "name": name})


def _given(told: str) -> dict[str, set[str]]:
    """Read "cpu, nvidia.com/gpu limit for container main; …": names, by what has them."""
    found: dict[str, set[str]] = {}
    for part in told.removeprefix(_BEGINS).split("; "):
        resources, limits, container = part.partition(" limit for ")
        if limits:
            found.setdefault(container, set()).update(resources.split(", "))
    return found


def _called(container: Container) -> str:
    kind = "container" if container.app else "init container"
    return f"{kind} {container.name}"
