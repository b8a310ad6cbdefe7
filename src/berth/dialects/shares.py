"""Amounts become a share: a vendor's data and rule applied, the same way for all of them."""

from collections.abc import Iterator, Mapping

import msgspec

from berth.dialects import wishes
from berth.model.demand import Completion, Share
from berth.model.pod import Container
from berth.model.problem import Problem
from berth.model.raw import Json
from berth.model.said import Facts, Said
from berth.model.vendor import Amounts, Fault, Vendor

_SIZES = ("memory", "memory_percent", "cores")
_LACKS = {
    "count": Said("why.lacks-count"),
    "memory": Said("why.lacks-memory"),
    "cores": Said("why.lacks-cores"),
}
_CHANGES = {
    "count": Said("why.pairs"),
    "memory": Said("why.size"),
    "cores": Said("why.all-cores"),
}


class Sized(msgspec.Struct, frozen=True):
    """What a container's amounts come to: at most one of share and problems."""

    share: Share | None = None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Said, ...] = ()


def size(
    container: Container, vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]
) -> Sized:
    """Return the share that `asked` means, and what it lacks."""
    sized = asked.memory or asked.memory_percent or asked.cores
    if sized and (wrong := tuple(contradictions(container, vendor, asked))):
        return Sized(problems=(*wrong, *misread(container, vendor, asked, annotations)))
    alone = vendor.count_or_size and sized and asked.count is None
    count = asked.count or (vendor.default_count if sized and asked.count is None else 0)
    if not count and not alone:
        return Sized(warnings=_idle(container, vendor, asked))
    named = asked if asked.count else msgspec.structs.replace(asked, count=count or None)
    settled = vendor.settle(vendor, named, annotations) if vendor.settle else None
    if settled and settled.faults:
        return Sized(problems=tuple(_problem(fault, container, vendor) for fault in settled.faults))
    amounts = settled.amounts if settled else named
    if vendor.whole_is_named and _is_whole(vendor, amounts):
        amounts = msgspec.structs.replace(amounts, cores=vendor.core_unit)
    completion = () if amounts is asked else tuple(_completion(vendor, asked, amounts))
    numbers = _numbers(vendor, amounts)
    share = Share(
        vendor=vendor,
        count=numbers.count,
        memory_mib=numbers.memory_mib,
        cores=numbers.cores,
        slices=numbers.slices,
        memory_percent=amounts.memory_percent or None,
        priority=amounts.priority,
        wishes=wishes.read(annotations, vendor),
        completion=completion,
        annotations=settled.annotations if settled else {},
    )
    told = completion or vendor.count_or_size
    return Sized(share, (), tuple(_changed(container, vendor, asked, completion)) if told else ())


def contradictions(container: Container, vendor: Vendor, found: Amounts) -> Iterator[Problem]:
    """Yield what cannot be meant together, whether or not each number is right in itself."""

    def asked(name: str, value: int | None) -> bool:
        return bool(name) and name in container.limits and value != 0

    limits = (*container.path, "resources", "limits")
    memory = asked(vendor.memory, found.memory)
    percent = asked(vendor.memory_percent, found.memory_percent)
    if memory and percent:
        other = vendor.memory_percent
        yield Problem("memory-twice", (*limits, vendor.memory), {"other": other})
    if found.count == 0 and (memory or percent or asked(vendor.cores, found.cores)):
        yield Problem("share-of-nothing", (*limits, vendor.count))


def misread(
    container: Container, vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]
) -> Iterator[Problem]:
    """Yield the annotations that are wrong whatever the numbers are, some of which are too."""
    settled = vendor.settle(vendor, asked, annotations) if vendor.settle else None
    for fault in settled.faults if settled else ():
        if fault.annotation:
            yield _problem(fault, container, vendor)


def _is_whole(vendor: Vendor, found: Amounts) -> bool:
    """Whether nobody limited the share, so that the card is the container's alone."""
    if not vendor.cores or found.cores is not None or vendor.default_cores:
        return False
    if found.memory_percent:
        return found.memory_percent == 100
    return not found.memory and not vendor.default_memory


def _idle(container: Container, vendor: Vendor, found: Amounts) -> tuple[Said, ...]:
    roles = (role for role in (*_SIZES, "priority") if getattr(found, role))
    first = next(roles, None)
    if first is None or found.count == 0 or not vendor.count:
        return ()
    facts = {"path": container.path, "name": getattr(vendor, first), "count": vendor.count}
    return (Said("no-device", facts),)


def _problem(fault: Fault, container: Container, vendor: Vendor) -> Problem:
    if fault.role:
        path = (*container.path, "resources", "limits", getattr(vendor, fault.role))
    else:
        path = ("metadata", "annotations", fault.annotation)
    return Problem(fault.code, path, fault.facts)


class _Numbers(msgspec.Struct, frozen=True):
    """How many devices, and how much of each."""

    count: int
    memory_mib: int | None
    cores: int | None
    slices: int | None


def _numbers(vendor: Vendor, amounts: Amounts) -> _Numbers:
    unsized = vendor.count_or_size and amounts.count is not None
    memory, cores = (None, None) if unsized else (amounts.memory, amounts.cores)
    count, slices = amounts.count or 1, None
    if vendor.count_is_slices:
        count, slices = 1, amounts.count
    if cores and "cores" in vendor.of_all:
        if amounts.count is None:
            count = -(-cores // vendor.core_unit)
        cores //= count
    mib = (vendor.mib(memory) if memory else vendor.card_mib) or None
    if memory and mib and "memory" in vendor.of_all:
        mib //= count
    if vendor.cores_by_memory and mib:
        cores = mib * vendor.core_unit // vendor.card_mib
    if not cores and vendor.implied_cores and not slices:
        cores = vendor.implied_cores
    if vendor.whole_is_implied and _is_whole(vendor, amounts):
        cores = vendor.core_unit
    return _Numbers(count, mib, cores, slices)


def _completion(vendor: Vendor, asked: Amounts, settled: Amounts) -> Iterator[Completion]:
    for role, name in vendor.named_roles:
        before, after = getattr(asked, role), getattr(settled, role)
        if role == "count" and before is None and vendor.count_is_implied:
            continue
        if before != after and after is not None:
            yield Completion(name, before, after, (_CHANGES if before else _LACKS)[role])


def _changed(
    container: Container, vendor: Vendor, asked: Amounts, completion: tuple[Completion, ...]
) -> Iterator[Said]:
    """Say so where a number that the Pod's author wrote is replaced, or counts for nothing."""
    for one in completion:
        if one.before:
            facts: Facts = {
                "path": container.path,
                "name": one.name,
                "before": one.before,
                "value": one.value,
                "why": one.why,
            }
            yield Said("replaced.amount", facts)
    if vendor.count_or_size and asked.count:
        for role in _SIZES:
            if getattr(asked, role):
                named = {"name": getattr(vendor, role), "count": vendor.count}
                yield Said("no-effect.amount", {"path": container.path, **named})
