"""How much memory of each card is meant where a container does not say.

In this order: the container's own resources; the annotation berth.dev/gpu-memory; the size of the
model that runs in it; the default of its namespace; HAMi's own, where its words are translated; the
whole card.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from math import ceil

from msgspec.structs import replace

from berth import names
from berth.dialects import cards, wanted_size, wishes
from berth.dialects.conversion import Conversion, Size
from berth.dialects.dialect import Beyond, Reading
from berth.model.demand import Completion, Demand, Share
from berth.model.pod import Container, Pod
from berth.model.quantity import MIB
from berth.model.raw import Json
from berth.model.said import Facts, Said
from berth.model.vendor import Vendor

_MEMORY = ("memory", "memory_percent")
_SIZED = Said("why.sized")


def settle(reading: Reading, pod: Pod, by: Conversion, converted: AbstractSet[str]) -> Reading:
    """Fill in what the containers leave open, and hold it against the cards that there are.

    `converted` are containers that an earlier pass has written: theirs is settled.
    """
    asked = wanted_size.read(pod.annotations, by)
    if by.leaves_sizes and asked.silent:
        parts = [one for one in reading.demand.shares if _is_open(one)]
        if not parts:
            return reading
    problems = [*reading.problems, *asked.problems]
    containers, beyond = [], list[Beyond]()
    for one in reading.demand.containers:
        share = one.share
        if share is not None and share.vendor.name in by.targets:
            words = by.targets[share.vendor.name]
            share = _modelled(share, pod.annotations, words)
            fresh = one.container.name not in converted
            if fresh:
                size = asked.size(one.container, share)
                share = _filled(one.container, _meant(share, words, size), size)
            share = _resolved(share, by)
            if fresh:
                share = _divided(one.container, share, by)
            beyond += cards.beyond(one.container, share, pod.annotations, by)
        containers.append(replace(one, share=share) if share is not one.share else one)
    if reading.demand.any:
        problems += asked.strangers({one.container.name for one in containers})
    without = [one.container.name for one in containers if one.share is None]
    told = (*asked.warnings, *asked.unused(without)) if reading.demand.any else ()
    told += tuple(_ineffective(reading.demand, pod, by))
    warnings = (*reading.warnings, *told)
    return Reading(Demand(tuple(containers)), tuple(problems), warnings, tuple(beyond))


def _is_open(share: Share) -> bool:
    """Whether what it means is in no number that it has."""
    vendor = share.vendor
    return bool(share.memory_percent is not None or vendor.default_memory or vendor.default_cores)


def _meant(share: Share, words: Vendor, size: Size | None) -> Share:
    """Say the defaults of HAMi's device-config in numbers, for words that have no such defaults."""
    vendor = share.vendor
    if vendor.dialect == words.dialect:
        return share
    if share.cores is None and vendor.default_cores:
        share = replace(share, cores=vendor.default_cores)
    unsized = share.memory_mib is None and share.memory_percent is None and size is None
    if unsized and vendor.default_memory:
        share = replace(share, memory_mib=vendor.default_memory)
    return share


def _ineffective(demand: Demand, pod: Pod, by: Conversion) -> Iterator[Said]:
    """Yield the annotations that no container of the Pod can follow, as its cards have no words."""
    others = [share.vendor for share in demand.shares if share.vendor.name not in by.targets]
    for key in names.SIZE_ANNOTATIONS if len(others) == len(demand.shares) and others else ():
        if key in pod.annotations:
            about: Facts = {"path": ("metadata", "annotations", key), "device": others[0].name}
            yield Said("no-effect.accelerator", about)


def _modelled(share: Share, annotations: Mapping[str, Json], words: Vendor) -> Share:
    """Take the models that the words to be written name, or our own annotation, if its own do not.

    Once it is written, those words are read: they must mean the same before.
    """
    own, written = share.wishes, wishes.read(annotations, words)
    ours = tuple(one.lower() for one in wanted_size.models(annotations))
    models = own.models or written.models or ours
    not_models = own.not_models or written.not_models
    if (models, not_models) == (own.models, own.not_models):
        return share
    return replace(share, wishes=replace(own, models=models, not_models=not_models))


def _filled(of: Container, share: Share, size: Size | None) -> Share:
    """Give a share its size; with a size, the card's cores are not all its own any more."""
    if size is None or share.memory_mib is not None or share.memory_percent is not None:
        return share
    vendor, whole = share.vendor, size.percent == 100
    if whole and not vendor.default_memory:
        return share  # as it is without a size
    named = bool(vendor.cores) and vendor.cores in of.limits
    cores = share.cores if named else vendor.default_cores or (vendor.core_unit if whole else None)
    completion = tuple(one for one in share.completion if one.name != vendor.cores)
    if whole and not named and cores == vendor.core_unit:
        completion += (Completion(vendor.cores, None, cores, _SIZED),)
    mib, percent = size.mib, size.percent
    sized = replace(
        share, memory_mib=mib, memory_percent=percent, cores=cores, completion=completion
    )
    return _restated(sized, _SIZED)


def _restated(share: Share, why: Said, before: int | None = None) -> Share:
    """Add that memory should stand in the limits, where its words have a place for it."""
    vendor = share.vendor
    if share.memory_mib is not None and vendor.memory:
        name, value = vendor.memory, _units(vendor, share.memory_mib)
    elif share.memory_mib is None and share.memory_percent is not None and vendor.memory_percent:
        name, value = vendor.memory_percent, share.memory_percent
    else:
        return share
    others = _beside_memory(share)
    return replace(share, completion=(*others, Completion(name, before, value, why)))


def _beside_memory(share: Share) -> tuple[Completion, ...]:
    """Return what else a share lacks: its memory is said once, in MiB or in percent."""
    sizes = {share.vendor.memory, share.vendor.memory_percent}
    return tuple(one for one in share.completion if one.name not in sizes)


def _units(vendor: Vendor, mib: int) -> int:
    return mib * MIB if vendor.memory_is_bytes else ceil(mib / vendor.unit_mib)


def _resolved(share: Share, by: Conversion) -> Share:
    """Turn percent into MiB for words that know no percent, where all such cards are alike."""
    words = by.targets[share.vendor.name]
    if words.memory_percent or not words.memory or share.memory_percent is None:
        return share
    if share.memory_percent == 100:
        return replace(share, memory_percent=None, completion=_beside_memory(share))
    found = cards.possible(share, by.cards)
    if len(found) != 1:
        return share  # which is refused where it is written
    # Rounded down, as HAMi does with the card before it: 20 % of 32768 are 6553.
    mib = max(found[0] * share.memory_percent // 100, 1)
    resolved = replace(share, memory_mib=mib, memory_percent=None)
    why = Said("why.percent-of", {"percent": share.memory_percent, "size": found[0]})
    return _restated(resolved, why)


def _divided(of: Container, share: Share, by: Conversion) -> Share:
    """Ask for less than the Pod does, where its namespace is oversubscribed."""
    factors = _factors(share, by)
    if not factors:
        return share
    vendor, why = share.vendor, Said("why.oversubscribed", {"factors": by.oversubscribed})
    if "memory" in factors:
        before = share.memory_mib or share.memory_percent or 0
        value = max(ceil(before / by.memory_share), 1)
        if share.memory_mib:
            share = replace(share, memory_mib=value)
            before = _units(vendor, before)
        else:
            share = replace(share, memory_percent=value)
        named = any(getattr(vendor, role) in of.limits for role in _MEMORY)
        share = _restated(share, why, before if named else None)
    if "cores" in factors:
        cores = max(ceil((share.cores or 0) / by.core_share), 1)
        done = Completion(vendor.cores, share.cores, cores, why)
        share = replace(share, cores=cores, completion=(*share.completion, done))
    return share


def _factors(share: Share, by: Conversion) -> Mapping[str, float]:
    """Return by what of a share something is divided: nothing of what it has alone."""
    found: dict[str, float] = {}
    if by.memory_share > 1 and (share.memory_mib or share.memory_percent not in (None, 100)):
        found["memory"] = by.memory_share
    if by.core_share > 1 and 0 < (share.cores or 0) < share.vendor.core_unit:
        found["cores"] = by.core_share
    return found


def divided(shares: Iterable[Share], by: Conversion) -> str:
    """Return what is recorded of it in a Pod with these shares, "" where nothing is divided."""
    known = {name for name, words in by.targets.items() if words.memory}
    mine = (one for one in shares if one.vendor.name in known)
    found = {name: factor for one in mine for name, factor in _factors(one, by).items()}
    return ",".join(f"{name}={factor:g}" for name, factor in found.items())
