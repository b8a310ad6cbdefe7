"""Containers are read by the names of their resources, the same way in every such dialect."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import msgspec

from berth.dialects import amounts, shares, wishes
from berth.dialects.dialect import Reading
from berth.dialects.options import Options
from berth.model import quantity
from berth.model.demand import ContainerDemand, Demand, Share
from berth.model.pod import REMEMBERED, Container, Pod, Resources, Texts, bare, memorable
from berth.model.problem import Problem
from berth.model.raw import Json
from berth.model.said import Said
from berth.model.vendor import Vendor


class Asked(msgspec.Struct, frozen=True):
    """What a container asks for, and of whom."""

    vendors: tuple[Vendor, ...]
    share: Share | None
    problems: tuple[Problem, ...]
    warnings: tuple[Said, ...]


def read(pod: Pod, options: Options, *, skip_privileged: bool) -> Reading:
    """Read each container's share; a privileged one may count as asking for nothing."""
    containers: list[ContainerDemand] = []
    problems: list[Problem] = []
    warnings: list[Said] = []
    if not pod.annotations.keys().isdisjoint(options.owners):
        warnings += _misplaced(pod, options)
    chosen = _chosen(pod, options)
    known = memorable([value for _, value in chosen])
    owned = options.owners.keys()
    for container in pod.containers:
        if owned.isdisjoint(container.limits) and owned.isdisjoint(container.requests):
            containers.append(ContainerDemand(container, None))
        elif container.privileged and skip_privileged:
            named = _named(container, options.owners)
            asking = [vendor for vendor in named if spoken(container, vendor)]
            warnings += (_privileged(container, vendor) for vendor in asking)
            containers.append(ContainerDemand(container, None))
        else:
            alike = container.resources if known else None
            found = _asked(container, alike, chosen, options)
            if found.problems:
                problems += _fresh(found.problems, problems)
            warnings += found.warnings
            containers.append(ContainerDemand(container, found.share, found.vendors, alike))
    demand = Demand(tuple(containers))
    if chosen and (demand.any or problems):
        vendors = [vendor for wanted in containers for vendor in wanted.asks]
        problems += wishes.problems(pod.annotations, vendors)
    return Reading(demand, tuple(problems), tuple(warnings))


def _fresh(found: Iterable[Problem], known: list[Problem]) -> list[Problem]:
    """Return what is not known yet: each container finds the mistakes in the Pod's annotations."""
    return [one for one in found if one.path[0] != "metadata" or one not in known]


def _chosen(pod: Pod, options: Options) -> Texts:
    """Return the annotations by which the Pod chooses among devices; most have none."""
    if options.choosing.isdisjoint(pod.annotations):
        return ()
    return tuple([one for one in pod.annotations.items() if one[0] in options.choosing])


def _asked(container: Container, alike: Resources | None, chosen: Texts, options: Options) -> Asked:
    if alike is None:
        return asked(container, dict(chosen), options)
    return remembered(alike, chosen, options)


@lru_cache(maxsize=REMEMBERED)
def remembered(resources: Resources, chosen: Texts, options: Options) -> Asked:
    """Read what many Pods ask for alike; nothing else of a container counts."""
    return asked(bare(resources), dict(chosen), options)


def asked(container: Container, chosen: Mapping[str, Json], options: Options) -> Asked:
    """Return what a container asks for, in a Pod that chooses devices by these annotations."""
    named = _named(container, options.owners)
    problems: list[Problem] = []
    warnings: list[Said] = []
    asking: list[tuple[Vendor, Share | None]] = []
    for vendor in named:
        one = _sized(container, vendor, chosen)
        problems += one.problems
        warnings += one.warnings
        if one.share or one.problems:
            asking.append((vendor, one.share))
    if asking and len(named) > 1:
        problems += _several(container, [vendor for vendor, _ in asking], named)
    if asking and options.unread:
        problems += _unread(container, asking[0][0], options.unread)
    asks, share = tuple([vendor for vendor, _ in asking]), asking[0][1] if asking else None
    return Asked(asks, share, tuple(problems), tuple(warnings))


def _named(container: Container, owners: Mapping[str, Vendor]) -> list[Vendor]:
    """Return whose devices a container names, each once; nearly always none or one."""
    found: list[Vendor] = []
    for resources in (container.limits, container.requests):
        for name in resources:
            vendor = owners.get(name)
            if vendor is not None and vendor not in found:
                found.append(vendor)
    return sorted(found, key=lambda one: one.name) if len(found) > 1 else found


def _sized(container: Container, vendor: Vendor, chosen: Mapping[str, Json]) -> shares.Sized:
    asked, wrong = amounts.read(container, vendor)
    if wrong:
        also = shares.contradictions(container, vendor, asked)
        misread = shares.misread(container, vendor, asked, chosen)
        return shares.Sized(problems=(*wrong, *also, *misread))
    return shares.size(container, vendor, asked, chosen)


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


def _unread(container: Container, asks: Vendor, unread: Mapping[str, str]) -> Iterator[Problem]:
    """Refuse a container that asks in a dialect besides that nothing here reads."""
    for name in container.limits:
        if name in unread and _counts(container, name):
            path = (*container.path, "resources", "limits", name)
            yield Problem("several-dialects", path, {"one": asks.dialect, "other": unread[name]})


def _there(container: Container, name: str) -> bool:
    return name in container.limits or name in container.requests


def spoken(container: Container, vendor: Vendor) -> str:
    """Return a resource of these words that the container names, and not with 0; "" if none."""
    there = (name for name in vendor.resources if _there(container, name))
    return next((name for name in there if _counts(container, name)), "")


def _counts(container: Container, name: str) -> bool:
    """Whether a resource is not named with 0."""
    try:
        return quantity.parse(container.limits.get(name)) != 0
    except quantity.NotAQuantity:
        return True


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
