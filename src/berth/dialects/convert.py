"""A share said in another dialect's words, where those are resources of its container."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from berth import names
from berth.dialects import cards, choices, completion, defaults
from berth.dialects.conversion import Conversion
from berth.dialects.losses import lose
from berth.dialects.options import Options
from berth.model.demand import Completion, ContainerDemand, Demand, Share
from berth.model.edit import Change, Drop, Put
from berth.model.loss import Loss
from berth.model.pod import REMEMBERED, Container, Pod, Resources, bare
from berth.model.quantity import MIB
from berth.model.said import Said
from berth.model.vendor import Vendor

_GIB = 1024
_NO_PERCENT = Said("why.no-percent")
_OTHER_NAME = Said("why.other-name")
_ASKED = Said("why.asked")


def containers(demand: Demand, pod: Pod, options: Options) -> list[Change]:
    """Return what makes each container ask in the dialect that is written."""
    by = options.conversion
    changes: list[Change] = []
    for wanted in demand.containers if by else ():
        of, share = wanted.container, wanted.share
        if by and share:
            words = by.targets.get(share.vendor.name)
            if words is None:
                path = (*of.path, "resources", "limits")
                about = {"device": share.vendor.name, "dialect": options.writes}
                changes += lose(by, Loss.ACCELERATOR, path, Said("part.lost-accelerator", about))
                changes += completion.complete(of, share, options)
            else:
                changes += asking(wanted, share, options)
                changes += completion.variables_of(of, share, words, options)
            if by.defaults.given:
                changes += defaults.fill(of, pod, by.defaults)
        for hidden in options.hidden:
            changes += completion.hide(wanted, hidden)
    return changes


def asking(wanted: ContainerDemand, share: Share, options: Options) -> Sequence[Change]:
    """Return what `written` does, which may be remembered."""
    if wanted.alike is None:
        return written(wanted.container, share, options)
    return remembered(wanted.alike, share, options)


@lru_cache(maxsize=REMEMBERED)
def remembered(resources: Resources, share: Share, options: Options) -> Sequence[Change]:
    """Write what many Pods ask for alike; nothing else of a container counts."""
    return written(bare(resources), share, options)


def written(of: Container, share: Share, options: Options) -> Sequence[Change]:
    """Return what makes the resources of a container ask for `share`."""
    by = options.conversion
    if by is None:
        return ()
    words = by.targets[share.vendor.name]
    if share.vendor.dialect == words.dialect:
        return tuple(_restated(of, share, words, by))
    return tuple(container(of, share, words, options))


def whole(demand: Demand, pod: Pod, options: Options, why: Said) -> list[Change]:
    """Return what a stack without rules of its own needs: containers, class, cards, scheduler."""
    changes = containers(demand, pod, options)
    shares = demand.shares
    if options.conversion and shares:
        changes += completion.classed(shares, pod)
        changes += choices.chosen(shares, pod, options.conversion)
        changes += completion.scheduled(pod, options, why)
    return changes


def container(of: Container, share: Share, words: Vendor, options: Options) -> Iterator[Change]:
    """Yield what makes a container ask for `share` in `words`, in limits and requests alike.

    What it asked with before is taken out in the same patch.
    """
    found = limits(share, words)
    if options.conversion:
        yield from _lost(of, share, words, options.conversion)
    for kind, there in (("limits", of.limits), ("requests", of.requests)):
        path = (*of.path, "resources", kind)
        for name, text in found.items():
            if there.get(name) != text:
                yield Put((*path, name), text, _ASKED)
    yield from _without(of, found, words, options)
    if share.vendor.count not in found:
        yield from _renamed(of, share, found, words)
    else:
        for role, name in share.vendor.named_roles:
            if name in of.limits and name not in found and _is_meant_still(role, share):
                yield _taken_out(of, name)


def _renamed(
    of: Container, share: Share, found: Mapping[str, str], words: Vendor
) -> Iterator[Change]:
    """Yield by which name tools find now what they may look for by the first of the old ones."""
    for role, old in share.vendor.named_roles:
        if old in of.limits:
            alike = (getattr(words, one) for one in (role, role.partition("_")[0]))
            new = next((name for name in alike if name in found), next(iter(found), words.count))
            about = {"old": old, "new": new, "key": names.ORIGINAL_REQUEST}
            yield Said("renamed", {"path": of.path, **about})
            return


def _is_meant_still(role: str, share: Share) -> bool:
    """Whether what is taken out goes without saying: else it is lost, which is told as such."""
    if role == "cores":
        return share.cores == share.vendor.core_unit
    return role in ("memory", "memory_percent") and not _is_part(share)


def _taken_out(of: Container, name: str) -> Said:
    about = {"old": name, "key": names.ORIGINAL_REQUEST}
    return Said("renamed.resource", {"path": of.path, **about})


def _without(
    of: Container, found: Mapping[str, str], words: Vendor, options: Options
) -> Iterator[Change]:
    """Take out all other words; a 0 among them might come to mean something beside the new ones."""
    for kind, there in (("limits", of.limits), ("requests", of.requests)):
        for name in there:
            owner = options.owners.get(name) if name not in found else None
            if owner is not None and owner.name == words.name:
                yield Drop((*of.path, "resources", kind, name), _OTHER_NAME)


def limits(share: Share, words: Vendor) -> dict[str, str]:
    """Return the limits by which a container asks for `share`; what cannot be said is left out."""
    percent = _part(share)
    whole = share.memory_mib is None and percent is None
    found = {}
    if share.count != 1 or whole or not words.count_is_implied:
        found[words.count] = str(share.count)
    if share.memory_mib is not None and words.memory:
        found[words.memory] = amount(words, share.memory_mib)
    elif percent is not None and words.memory_percent:
        found[words.memory_percent] = str(percent)
    elif words.default_memory and words.memory_percent:
        found[words.memory_percent] = "100"  # or the administrator's default would be meant
    cores = _cores(share, words, whole=whole)
    if cores is not None:
        found[words.cores] = str(cores)
    if share.priority is not None and words.priority:
        found[words.priority] = str(share.priority)
    return found


def _is_part(share: Share) -> bool:
    """Whether not all of a card's memory is meant."""
    return _part(share) is not None or share.memory_mib is not None


def _part(share: Share) -> int | None:
    """Return the percent of a card's memory, None for MiB and for all of it."""
    known = share.memory_mib is not None or share.memory_percent in (None, 100)
    return None if known else share.memory_percent


def _cores(share: Share, words: Vendor, *, whole: bool) -> int | None:
    """Return the cores to write, None where leaving them out means the same."""
    cores = share.cores or 0
    if not words.cores:
        return None
    if whole and words.whole_is_named:
        return cores
    meant = words.core_unit if whole and words.whole_is_implied else words.default_cores
    return None if cores == meant else cores


def amount(words: Vendor, mib: int) -> str:
    """Write memory in a dialect's own unit, rounded up to it; bytes as Kubernetes writes them."""
    if words.memory_is_bytes:
        return f"{mib}Mi" if mib % _GIB else f"{mib // _GIB}Gi"
    return str(-(-mib // words.unit_mib))


def _lost(of: Container, share: Share, words: Vendor, by: Conversion) -> Iterator[Change]:
    """Yield what the words have no place for."""
    path = (*of.path, "resources", "limits")
    part = _is_part(share)
    if part and not words.memory:
        yield from lose(by, Loss.MEMORY, path, Said("part.lost-memory", {"dialect": words.dialect}))
    elif _part(share) is not None and not words.memory_percent:
        yield cards.unknown(of, share, by.cards)
    elif share.memory_mib is not None and not words.memory_is_bytes:
        rounded = -(-share.memory_mib // words.unit_mib) * words.unit_mib
        if rounded != share.memory_mib:
            about = {"mib": share.memory_mib, "rounded": rounded, "block": words.unit_mib}
            yield from lose(by, Loss.ROUNDING, path, Said("part.lost-rounding", about))
    unlimited = share.cores in (None, 0) and part
    if not words.cores and share.cores != share.vendor.core_unit and not unlimited:
        yield from lose(by, Loss.CORES, path, Said("part.lost-cores", {"dialect": words.dialect}))
    if share.priority is not None and not words.priority:
        named = {"dialect": words.dialect, "name": share.vendor.priority}
        yield from lose(by, Loss.PRIORITY, path, Said("part.lost-priority", named))


def value(vendor: Vendor, one: Completion) -> str:
    """Write a number that lacks, as its resource is written."""
    if vendor.memory_is_bytes and one.name == vendor.memory:
        return amount(vendor, one.value // MIB)
    return str(one.value)


def _restated(of: Container, share: Share, words: Vendor, by: Conversion) -> Iterator[Change]:
    """Yield what a container lacks that asks in the right words already."""
    if _part(share) is not None and not words.memory_percent:
        yield cards.unknown(of, share, by.cards)
    for one in share.completion:
        for kind in ("limits", "requests"):
            yield Put((*of.path, "resources", kind, one.name), value(share.vendor, one), one.why)
    percent = share.vendor.memory_percent
    if percent and not words.memory_percent:
        if percent in of.limits:
            yield _taken_out(of, percent)
        for kind, there in (("limits", of.limits), ("requests", of.requests)):
            if percent in there:
                yield Drop((*of.path, "resources", kind, percent), _NO_PERCENT)
