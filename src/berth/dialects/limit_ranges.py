"""Devices that no container asked for: a LimitRange of the namespace gives them to each.

The administrator has said so, and what stands in the Pod counts, whoever wrote it.

The API server's LimitRanger also runs again after us: what a translation takes out of a container,
it gives again. So what it gives in other words than those in which the container asks already
counts for nothing. What it gives in the words that are written is a size of a container that names
none, and no wish of its author's.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from berth import names
from berth.dialects import kai, limit_ranger
from berth.dialects.conversion import Conversion
from berth.dialects.options import Options
from berth.model.demand import Demand
from berth.model.edit import Change, Drop, Put
from berth.model.pod import Container, Pod
from berth.model.raw import Path
from berth.model.said import Said
from berth.model.vendor import Vendor

_OTHER_WORDS = Said("why.limit-range")
_SAID = Said("why.asked")


def without(pod: Pod, options: Options) -> Pod:
    """Return the Pod with a 0 for what counts for nothing."""
    if not limit_ranger.given(pod):
        return pod
    surplus = _surplus(pod, options)
    return replace(pod, containers=tuple(map(_bare, pod.containers, surplus)))


def nothing(pod: Pod, options: Options) -> Iterator[Change]:
    """Yield the same in the Pod itself.

    Taken out, it would be refused: where a LimitRange has a `max`, each container has to name the
    resource. Of the words that are written it is taken out all the same, with what is translated:
    given again, it is a size that the container lacks.
    """
    by = options.conversion
    ours = _words(by) if by else frozenset()
    for of, surplus in zip(pod.containers, _surplus(pod, options), strict=True):
        for name in sorted(surplus - ours):
            for kind in (
                "limits",
                "requests",
            ):  # a `min` gives a request alone, which no Pod may have
                yield Put((*of.path, "resources", kind, name), "0", _OTHER_WORDS)


def kept(changes: Iterable[Change], demand: Demand, pod: Pod, options: Options) -> Iterator[Change]:
    """Yield the changes, with what the author says that would go without saying in the new words.

    There a size would be given again, as that of a container that names none, and a number of cards
    where one is meant. No memory is all of it: a 0 says so, and is not filled in.
    """
    said = dict(_unsaid(demand, pod, options))
    for one in changes:
        if type(one) is Drop and one.path in said:
            yield Put(one.path, said[one.path], _SAID)
        else:
            yield one


def _unsaid(demand: Demand, pod: Pod, options: Options) -> Iterator[tuple[Path, str]]:
    """Yield where sizes are given that a container in other words has named, and its own."""
    targets = options.conversion.targets if options.conversion else {}
    for wanted in demand.containers:
        of, share = wanted.container, wanted.share
        words = targets.get(share.vendor.name) if share else None
        if share is None or words is None or share.vendor.dialect == words.dialect:
            continue
        given = written(of, pod, options)
        for role, value in (("count", share.count), ("memory", 0), ("cores", share.cores or 0)):
            name: str = getattr(words, role)
            if name in given and (role == "count" or _names(of, share.vendor, role)):
                for kind in ("limits", "requests"):
                    yield (*of.path, "resources", kind, name), str(value)


def _names(of: Container, vendor: Vendor, role: str) -> bool:
    """Whether a container says something of the memory, or of the cores, in its own words."""
    mine = (name for one, name in vendor.named_roles if one.startswith(role))
    return any(limit_ranger.counts(of.limits[name]) for name in mine if name in of.limits)


def written(of: Container, pod: Pod, options: Options) -> AbstractSet[str]:
    """Return what a container has of the words that are written by a LimitRange alone."""
    by = options.conversion
    if by is None or names.LIMIT_RANGER not in pod.annotations:
        return frozenset()
    return limit_ranger.given(pod).get(limit_ranger.called(of), set()) & _words(by)


def again(pod: Pod, options: Options) -> AbstractSet[Path]:
    """Return where that stands: what is taken out there, LimitRanger gives again."""
    return {
        (*of.path, "resources", kind, name)
        for of in pod.containers
        for name in written(of, pod, options)
        for kind in ("limits", "requests")
    }


def _words(by: Conversion) -> AbstractSet[str]:
    return {name for one in by.targets.values() for name in one.resources}


def _bare(of: Container, surplus: AbstractSet[str]) -> Container:
    if not surplus:
        return of
    none = dict.fromkeys(surplus, "0")
    return replace(of, limits={**of.limits, **none}, requests={**of.requests, **none})


def _surplus(pod: Pod, options: Options) -> list[AbstractSet[str]]:
    """Return, for each container, the resources that it is given in other words than it asks in."""
    given, by = limit_ranger.given(pod), options.conversion
    annotated = kai.asking(pod) if by and kai.NAME in by.reads else None
    mine = [{kai.NAME} if of is annotated else set[str]() for of in pod.containers]
    here = [given.get(limit_ranger.called(of), set[str]()) for of in pod.containers]
    each = zip(pod.containers, here, mine, strict=True)
    return [_others(of, theirs, asked, options) for of, theirs, asked in each]


def _others(
    of: Container, here: AbstractSet[str], asked: AbstractSet[str], options: Options
) -> AbstractSet[str]:
    """Return what is given beside what is `asked` in a dialect of annotations, or in resources.

    Where a container asks for nothing itself, the words that are written are taken.
    """
    by = options.conversion
    if not here or by is None:
        return frozenset()
    spoken: dict[str, set[str]] = {}
    for name, amount in {**of.requests, **of.limits}.items():
        vendor, dialect = options.owners.get(name), options.unread.get(name, "")
        if vendor is not None and vendor.name in by.targets:
            dialect = vendor.dialect
        if dialect and limit_ranger.counts(amount):
            spoken.setdefault(dialect, set()).add(name)
    asked = asked | {dialect for dialect, there in spoken.items() if not there <= here}
    asked = asked or spoken.keys() & {options.writes}
    if len(asked) != 1:
        return frozenset()
    others = [there for dialect, there in spoken.items() if dialect not in asked]
    return frozenset[str]().union(*others)
