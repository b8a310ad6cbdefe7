"""Any dialect in, one demand, any dialect out: the dialects that there are, put together."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from berth import names
from berth.dialects import (
    amounts,
    choices,
    completion,
    convert,
    groups,
    hami,
    kai,
    limit_ranges,
    plain,
    pool,
    reading,
    shares,
    sizes,
    volcano,
    wishes,
)
from berth.dialects.conversion import Conversion
from berth.dialects.dialect import Dialect, Reading, Write
from berth.dialects.options import Options
from berth.model import original, quantity
from berth.model.decided import Decided
from berth.model.demand import ContainerDemand, Demand, Share
from berth.model.edit import Change, Drop, Put
from berth.model.pod import Container, Pod
from berth.model.raw import Json
from berth.model.said import Said

DIALECTS: tuple[Dialect, ...] = (
    hami.DIALECT,
    volcano.DIALECT,
    pool.DIALECT,
    plain.DIALECT,
    kai.DIALECT,
)
_DIVIDED = Said("why.divided")
_WHOLE = Said("why.whole-pods")
WRITES: Mapping[str, Write] = {one.name: one.write for one in DIALECTS if one.write}


def read(pod: Pod, options: Options, *, skip_privileged: bool) -> Reading:
    """Read a Pod in whichever of the dialects it is written, and settle what it leaves open."""
    by = options.conversion
    if by is not None and names.LIMIT_RANGER in pod.annotations:
        pod = limit_ranges.without(pod, options)
    found = reading.read(pod, options, skip_privileged=skip_privileged)
    if by is None:
        return found
    converted = frozenset[str]()
    if pod.annotations:
        if kai.speaks(pod) and kai.NAME in by.reads:
            mine = kai.read(pod, options, skip_privileged=skip_privileged)
            found = kai.merged(found, mine, options)
        if found.demand.any:
            found = _chosen(found, pod, by)
        converted = _converted(found.demand, pod, options)
    return sizes.settle(found, pod, by, converted)


def _chosen(found: Reading, pod: Pod, by: Conversion) -> Reading:
    """Judge annotations by the words that are written too: once it is, they choose cards.

    KAI's Pods are judged by these alone.
    """
    asked = (vendor for one in found.demand.containers for vendor in one.asks)
    written = [by.targets[one.name] for one in asked if one.name in by.targets]
    wrong = wishes.problems(pod.annotations, written)
    more = tuple(one for one in wrong if one not in found.problems)
    return replace(found, problems=(*found.problems, *more)) if more else found


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> list[Change]:
    """Return what makes a Pod say its demand in the dialect that the options want."""
    changes = WRITES[options.writes](demand, placed, pod, options)
    by = options.conversion
    if by is None:
        return changes
    if names.LIMIT_RANGER in pod.annotations:
        changes += limit_ranges.nothing(pod, options)
        changes = [*limit_ranges.kept(changes, demand, pod, options)]
    if not demand.any:
        return [*changes, *_placed(pod, by, options)] if by.whole_pods else changes
    if pod.scheduler_name not in (names.DEFAULT_SCHEDULER, options.scheduler_name):
        changes += groups.lost(pod, options)
    if pod.annotations and any(share.vendor.dialect == kai.NAME for share in demand.shares):
        changes += kai.without(pod, by)
    if by.oversubscribed and (text := sizes.divided(demand.shares, by)):
        path = ("metadata", "annotations", names.OVERSUBSCRIPTION)
        changes.append(Put(path, text, _DIVIDED))
    if pod.annotations:
        changes += _wrong(changes, demand, pod, by)
    return changes


def _placed(pod: Pod, by: Conversion, options: Options) -> Iterator[Change]:
    """Yield what a Pod without a device needs, where the stack's scheduler places all."""
    if options.writes == volcano.NAME:
        yield from volcano.queued(pod, by)
    yield from groups.lost(pod, options)
    yield from completion.scheduled(pod, options, _WHOLE)


def _wrong(changes: Iterable[Change], demand: Demand, pod: Pod, by: Conversion) -> list[Change]:
    """Return what is wrong with a Pod once changes are made: read again, it is refused."""
    written: dict[str, Json] = {}
    for one in changes:
        if type(one) is Put and one.path[:2] == ("metadata", "annotations"):
            written[str(one.path[2])] = one.value
    annotations = {**pod.annotations, **written}
    found: list[Change] = []
    for wanted in demand.containers:
        words = by.targets.get(wanted.share.vendor.name) if wanted.share else None
        if wanted.share and words and words.settle:
            limits = convert.limits(wanted.share, words)
            of = replace(wanted.container, limits=limits, requests={})
            found += shares.size(of, words, amounts.read(of, words)[0], annotations).problems
        if words and not written.keys().isdisjoint(words.annotations):
            found += wishes.problems(annotations, [words])
    return choices.once(found)


def _converted(demand: Demand, pod: Pod, options: Options) -> frozenset[str]:
    """Return the containers that are as an earlier pass has made them of something else."""
    before = original.containers(pod.annotations.get(names.ORIGINAL_REQUEST))
    if not before:
        return frozenset()
    return frozenset(
        wanted.container.name
        for wanted in demand.containers
        if wanted.share and follows(before.get(wanted.container.name), wanted, pod, options)
    )


def follows(before: Json, wanted: ContainerDemand, pod: Pod, options: Options) -> bool:
    """Whether a container's present words are what translating `before` gives.

    `before` are the amounts that our annotation recorded; where they are the present ones, nothing
    was translated.
    """
    of, words = wanted.container, wanted.asks[0].resources if wanted.asks else ()
    now = {name: _plain(of.limits[name]) for name in words if name in of.limits}
    if not isinstance(before, dict) or before == now:
        return False
    ours = (names.ORIGINAL_REQUEST, names.OVERSUBSCRIPTION)
    annotations = {key: value for key, value in pod.annotations.items() if key not in ours}
    annotations |= {key: value for key, value in before.items() if key in names.KAI_ANNOTATIONS}
    asked = {key: value for key, value in before.items() if key in options.owners}
    if len(asked) < len(before) and annotations.keys().isdisjoint(before):
        return False
    earlier = replace(of, limits=asked, requests={})
    others = tuple(
        earlier if one.path == of.path else replace(one, limits={}, requests={})
        for one in pod.containers
    )
    then = replace(pod, annotations=annotations, containers=others)
    options = options.unknowing or options  # the cards of then may be others
    found = read(then, options, skip_privileged=False)
    if found.problems or not found.demand.any:
        return False
    after = _amounts(earlier, write(found.demand, None, then, options))
    made = {name: after[name] for name in words if name in after}
    share = next(one.share for one in found.demand.containers if one.container.path == of.path)
    if memory := _of_some_card(share, options):
        if memory not in now:
            return False
        sizes = {memory, *(one.memory_percent for one in options.words)}
        now = {name: amount for name, amount in now.items() if name not in sizes}
        made = {name: amount for name, amount in made.items() if name not in sizes}
    given = limit_ranges.written(of, pod, options) - made.keys()
    return made == {name: amount for name, amount in now.items() if name not in given}


def _of_some_card(share: Share | None, options: Options) -> str:
    """Return where MiB stand that were percent of a card that nobody knows any more; "": nowhere.

    In words that know MiB alone.
    """
    targets = options.conversion.targets if options.conversion else {}
    words = targets.get(share.vendor.name) if share else None
    asked = share is not None and share.memory_percent is not None
    return words.memory if words and asked and not words.memory_percent else ""


def _amounts(of: Container, changes: Iterable[Change]) -> dict[str, Json]:
    """Return the limits of devices that changes leave in a container, as plain numbers."""
    limits = {name: _plain(amount) for name, amount in of.limits.items()}
    for change in changes:
        if isinstance(change, (Put, Drop)) and change.path[:-1] == (
            *of.path,
            "resources",
            "limits",
        ):
            name = str(change.path[-1])
            limits.pop(name, None)
            if isinstance(change, Put) and name not in ("cpu", "memory"):
                limits[name] = _plain(change.value)
    return limits


def _plain(amount: Json) -> Json:
    """Write an amount as a plain number: 8000, which the API server shows as 8k."""
    try:
        return str(quantity.parse(amount))
    except quantity.NotAQuantity:  # only a forged record holds one
        return None
