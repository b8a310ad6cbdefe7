"""KAI's dialect, which is only read: annotations of the Pod that give one container a share.

gpu-fraction (more than 0, less than 1) or gpu-memory (MiB), gpu-fraction-num-devices, and
gpu-fraction-container-name, which without a word is the first app container (KAI 0.17).
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

from berth import names
from berth.dialects import reading
from berth.dialects.amounts import MOST_DEVICES
from berth.dialects.conversion import Conversion
from berth.dialects.dialect import Dialect, Reading, worded
from berth.dialects.losses import lose
from berth.dialects.options import Options
from berth.dialects.unfit import MOST_MIB
from berth.model import quantity
from berth.model.demand import ContainerDemand, Demand, Share
from berth.model.edit import Change, Drop
from berth.model.loss import Loss
from berth.model.pod import Container, Pod
from berth.model.problem import Problem
from berth.model.said import Facts, Said
from berth.model.vendor import Selectors, Vendor

NAME = "kai"
_SHOWN = 40
_SAID = Said("why.kai")


def words(nvidia: Vendor) -> Vendor:
    """Return NVIDIA's cards as KAI's annotations speak of them: no resource names any."""
    return replace(
        worded(nvidia, NAME),
        count="",
        memory="",
        cores="",
        selectors=Selectors(asking=names.KAI_ANNOTATIONS),
    )


def speaks(pod: Pod) -> bool:
    """Whether the Pod says anything in this dialect."""
    return not pod.annotations.keys().isdisjoint(names.KAI_ANNOTATIONS)


def asks(pod: Pod) -> bool:
    """Whether the Pod asks in this dialect."""
    return not pod.annotations.keys().isdisjoint(names.KAI_ASKING)


def asking(pod: Pod) -> Container | None:
    """Return the container to which the Pod's annotations give a share."""
    if not asks(pod):
        return None
    name = pod.annotations.get(names.KAI_CONTAINER)
    mine = (one for one in pod.containers if (one.name == name if name else one.app))
    return next(mine, None)


def read(pod: Pod, options: Options, *, skip_privileged: bool) -> Reading:
    """Read the share that the annotations give to one container."""
    vendor = next((one for one in options.words if one.dialect == NAME), None)
    if vendor is None or not asks(pod) or not any(one.app for one in pod.containers):
        nothing = tuple(ContainerDemand(one, None) for one in pod.containers)
        return Reading(Demand(nothing), (), tuple(_idle(pod)))
    user = asking(pod)
    problems: list[Problem] = []
    if user is None:
        about = {"container": str(pod.annotations.get(names.KAI_CONTAINER))[:_SHOWN]}
        problems.append(_problem(names.KAI_CONTAINER, "annotation.no-container", about))
    share = _share(pod, vendor, problems)
    warnings: list[Said] = []
    if user and user.privileged and skip_privileged:
        told: Facts = {"path": user.path, "count": names.KAI_FRACTION}
        warnings.append(Said("unmanaged.privileged", told))
        user = None
    found = tuple(
        ContainerDemand(one, share, (vendor,)) if one is user else ContainerDemand(one, None)
        for one in pod.containers
    )
    return Reading(Demand(found), tuple(problems), tuple(warnings))


def _idle(pod: Pod) -> Iterator[Said]:
    """Yield what is said of a share that is not asked for."""
    for key in (names.KAI_DEVICES, names.KAI_CONTAINER):
        if key in pod.annotations and not asks(pod):
            path = ("metadata", "annotations", key)
            yield Said("no-effect.alone", {"path": path, "name": names.KAI_FRACTION})


def _share(pod: Pod, vendor: Vendor, problems: list[Problem]) -> Share | None:
    fraction = _number(pod, names.KAI_FRACTION)
    memory = _number(pod, names.KAI_MEMORY)
    devices = _number(pod, names.KAI_DEVICES)
    known = len(problems)
    if names.KAI_FRACTION in pod.annotations and names.KAI_MEMORY in pod.annotations:
        other = {"other": names.KAI_FRACTION}
        problems.append(_problem(names.KAI_MEMORY, "annotation.twice", other))
    if names.KAI_FRACTION in pod.annotations and not (fraction and 0 < fraction < 1):
        shown = {"shown": _shown(pod, names.KAI_FRACTION)}
        problems.append(_problem(names.KAI_FRACTION, "annotation.fraction", shown))
    whole = isinstance(memory, int) and 0 < memory <= MOST_MIB
    if names.KAI_MEMORY in pod.annotations and not whole:
        shown = {"shown": _shown(pod, names.KAI_MEMORY)}
        problems.append(_problem(names.KAI_MEMORY, "annotation.mib", shown))
    whole = isinstance(devices, int) and 0 < devices <= MOST_DEVICES
    if names.KAI_DEVICES in pod.annotations and not whole:
        shown = {"shown": _shown(pod, names.KAI_DEVICES)}
        problems.append(_problem(names.KAI_DEVICES, "annotation.cards", shown))
    if len(problems) > known:
        return None
    percent = ceil(fraction * 100) if fraction else None  # never less than was asked
    return Share(
        vendor=vendor,
        count=int(devices or 1),
        memory_mib=int(memory) if memory else None,
        memory_percent=percent,
        cores=vendor.core_unit if percent == 100 else None,  # of which nobody else has memory
        priority=None,
    )


def _number(pod: Pod, key: str) -> int | Fraction | None:
    try:
        return quantity.parse(pod.annotations.get(key))
    except quantity.NotAQuantity:
        return None


def _shown(pod: Pod, key: str) -> str:
    return repr(pod.annotations.get(key))[:_SHOWN]


def _problem(key: str, code: str, facts: Facts) -> Problem:
    return Problem(code, ("metadata", "annotations", key), facts)


def merged(other: Reading, ours: Reading, options: Options) -> Reading:
    """Return both readings of one Pod; a container that asks in other words too is refused."""
    problems = [*other.problems, *ours.problems]
    containers = []
    for theirs, mine in zip(other.demand.containers, ours.demand.containers, strict=True):
        words = options.words if mine.asks else ()
        spoken = next((one for one in words if reading.spoken(mine.container, one)), None)
        if spoken:
            problems.append(reading.mixed(mine.container, NAME, spoken))
        containers.append(mine if mine.asks and not theirs.asks else theirs)
    warnings = (*other.warnings, *ours.warnings)
    return Reading(Demand(tuple(containers)), tuple(problems), warnings)


def without(pod: Pod, by: Conversion) -> Iterator[Change]:
    """Yield what takes the annotations out of a Pod that is written in another dialect."""
    if pod.annotations.get(names.KAI_MPS) == "true":
        path = ("metadata", "annotations", names.KAI_MPS)
        by_them = next(one.dialect for one in by.targets.values())
        yield from lose(by, Loss.MODE, path, Said("part.lost-choice", {"dialect": by_them}))
    for key in names.KAI_ANNOTATIONS:
        if key in pod.annotations:
            path = ("metadata", "annotations", key)
            yield Drop(path, _SAID)
            yield Said("renamed.annotation", {"path": path, "key": names.ORIGINAL_REQUEST})


DIALECT = Dialect(name=NAME, read=read, write=None)
