"""Containers are read by the names of their resources, the same way in every such dialect."""

from collections.abc import Iterator, Mapping

from berth.dialects import amounts, shares, wishes
from berth.dialects.dialect import Reading
from berth.dialects.options import Options
from berth.model import quantity
from berth.model.demand import ContainerDemand, Demand, Share
from berth.model.pod import Container, Pod
from berth.model.problem import Problem
from berth.model.said import Said
from berth.model.vendor import Vendor


def read(pod: Pod, options: Options, *, skip_privileged: bool) -> Reading:
    """Read each container's share; a privileged one may count as asking for nothing."""
    containers: list[ContainerDemand] = []
    problems: list[Problem] = []
    warnings: list[Said] = list(_misplaced(pod, options))
    for container in pod.containers:
        named = _named(container, options.owners)
        if not named:
            containers.append(ContainerDemand(container, None))
            continue
        if container.privileged and skip_privileged:
            warnings += (_privileged(container, vendor) for vendor in named)
            containers.append(ContainerDemand(container, None))
            continue
        asking: list[tuple[Vendor, Share | None]] = []
        for vendor in named:
            one = _sized(container, vendor, pod)
            problems += one.problems
            warnings += one.warnings
            if one.share or one.problems:
                asking.append((vendor, one.share))
        if asking and len(named) > 1:
            problems += _several(container, [vendor for vendor, _ in asking], named)
        asks, share = asking[0] if asking else (None, None)
        containers.append(ContainerDemand(container, share, asks))
    demand = Demand(tuple(containers))
    if pod.annotations and (demand.any or problems):
        asked = [wanted.asks for wanted in containers if wanted.asks]
        problems += wishes.problems(pod.annotations, asked)
    return Reading(demand, tuple(problems), tuple(warnings))


def _named(container: Container, owners: Mapping[str, Vendor]) -> list[Vendor]:
    """Return whose devices a container names, each once; nearly always none or one."""
    found: list[Vendor] = []
    for resources in (container.limits, container.requests):
        for name in resources:
            vendor = owners.get(name)
            if vendor is not None and vendor not in found:
                found.append(vendor)
    return sorted(found, key=lambda one: one.name) if len(found) > 1 else found


def _sized(container: Container, vendor: Vendor, pod: Pod) -> shares.Sized:
    asked, wrong = amounts.read(container, vendor)
    if wrong:
        also = tuple(shares.contradictions(container, vendor, asked))
        return shares.Sized(problems=(*wrong, *also))
    return shares.size(container, vendor, asked, pod.annotations)


def _several(container: Container, asking: list[Vendor], named: list[Vendor]) -> Iterator[Problem]:
    """Refuse what no device plugin and no container runtime is made for."""
    for other in named:
        if other.dialect != asking[0].dialect and spoken(container, other):
            yield mixed(container, asking[0].dialect, other)
    for other in asking[1:]:
        if other.dialect == asking[0].dialect:
            name = next(n for n in other.resources if _there(container, n))
            path = (*container.path, "resources", "limits", name)
            yield Problem("several-vendors", path, {"other": asking[0].name})


def _there(container: Container, name: str) -> bool:
    return name in container.limits or name in container.requests


def spoken(container: Container, vendor: Vendor) -> str:
    """Return a resource of these words that the container names, and not with 0; "" if none."""
    for name in vendor.resources:
        if _there(container, name):
            try:
                amount = quantity.parse(container.limits.get(name))
            except quantity.NotAQuantity:
                return name
            if amount:
                return name
    return ""


def mixed(container: Container, dialect: str, other: Vendor) -> Problem:
    """Refuse what two stacks would each read a part of."""
    path = (*container.path, "resources", "limits", spoken(container, other))
    return Problem("several-dialects", path, {"one": dialect, "other": other.dialect})


def _privileged(container: Container, vendor: Vendor) -> Said:
    return Said("unmanaged.privileged", {"path": container.path, "count": vendor.count})


def _misplaced(pod: Pod, options: Options) -> Iterator[Said]:
    """Say so where a resource name is an annotation's key, which asks for nothing."""
    for name in pod.annotations:
        if name in options.owners:
            yield Said("no-effect.annotation", {"path": ("metadata", "annotations", name)})
