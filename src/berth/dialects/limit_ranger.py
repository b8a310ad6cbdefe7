"""What a LimitRange has given to containers of a Pod, and what their author hears of it.

The API server's LimitRanger runs before us and says what it set, in an annotation.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from berth import names
from berth.dialects.options import Options
from berth.model import quantity
from berth.model.demand import Demand
from berth.model.pod import Container, Pod
from berth.model.problem import Problem
from berth.model.raw import Json, Path
from berth.model.reason import Reason
from berth.model.said import Said
from berth.model.vendor import Vendor

_BEGINS = "LimitRanger plugin set: "
_OF_CONTAINER = 3
"""Keys in the path of a container: spec, containers, 0."""


def warnings(pod: Pod, demand: Demand) -> Iterator[Said]:
    """Yield the containers that have a device by a LimitRange alone, and how to have none."""
    there = given(pod)
    for wanted in demand.containers if there else ():
        if wanted.share is None:
            continue
        asked = wanted.container.limits.keys() & set(wanted.share.vendor.resources)
        if asked and asked <= there.get(called(wanted.container), set()):
            name = next(one for one in wanted.share.vendor.resources if one in asked)
            yield _told(wanted.container, name, wanted.share.vendor)


def blamed(pod: Pod, problems: Iterable[Problem], options: Options) -> Iterator[Said]:
    """Yield what a LimitRange gives to a container that is refused for it.

    Its author did not write that, and cannot leave it out: only a 0 keeps it away.
    """
    there = given(pod)
    if not there:
        return
    about: dict[Path, set[str]] = {}
    for problem in problems:
        if "limits" in problem.path:
            at = about.setdefault(problem.path[:_OF_CONTAINER], set())
            at.update(_about(problem, options.owners))
    for of in pod.containers:
        mine = there.get(called(of), set()) & about.get(of.path, set())
        for name in sorted(mine & options.owners.keys()):
            if counts(of.limits.get(name, 0)):
                yield _told(of, name, options.owners[name])


def _told(of: Container, name: str, vendor: Vendor) -> Said:
    """Say who gives a resource, and how to have none of it: of some, 0 is no request but wrong."""
    role = next(role for role, resource in vendor.named_roles if resource == name)
    code = "limit-range.always" if role in vendor.nonzero else "limit-range"
    return Said(code, {"path": of.path, "name": name})


def _about(problem: Problem, owners: Mapping[str, Vendor]) -> AbstractSet[str]:
    """Return the resources of which one alone may be right, or the one that is wrong itself."""
    name = str(problem.path[-1])
    if problem.reason is Reason.SEVERAL_VENDORS:
        return owners.keys()
    if problem.reason is Reason.SHARE_OF_NOTHING:
        return set(owners[name].resources) - {name}
    if problem.reason is Reason.MEMORY_TWICE:
        return {name, str(problem.facts["other"])}
    return {name}


def given(pod: Pod) -> Mapping[str, AbstractSet[str]]:
    """Read "cpu, nvidia.com/gpu limit for container main; …": names, by what has them."""
    told = pod.annotations.get(names.LIMIT_RANGER)
    found: dict[str, set[str]] = {}
    for part in told.removeprefix(_BEGINS).split("; ") if isinstance(told, str) else ():
        resources, _, container = part.replace(" request for ", " limit for ").partition(
            " limit for "
        )
        if container:
            found.setdefault(container, set()).update(resources.split(", "))
    return found


def called(container: Container) -> str:
    """Name a container as the annotation does."""
    kind = "container" if container.app else "init container"
    return f"{kind} {container.name}"


def counts(amount: Json) -> bool:
    """Whether it is a request, rightly or wrongly: 0 is none."""
    try:
        return quantity.parse(amount) != 0
    except quantity.NotAQuantity:
        return True
