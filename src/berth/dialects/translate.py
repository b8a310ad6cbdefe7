"""Any dialect in, one demand, any dialect out: the dialects that there are, put together."""

from collections.abc import Iterator, Mapping
from itertools import chain

import orjson
from msgspec.structs import replace

from berth import names
from berth.dialects import hami, kai, plain, pool, reading, sizes, volcano
from berth.dialects.conversion import Conversion
from berth.dialects.dialect import Dialect, Reading, Write
from berth.dialects.options import Options
from berth.model import quantity
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
WRITES: Mapping[str, Write] = {one.name: one.write for one in DIALECTS if one.write}


def read(pod: Pod, options: Options, *, skip_privileged: bool) -> Reading:
    """Read a Pod in whichever of the dialects it is written, and settle what it leaves open."""
    found = reading.read(pod, options, skip_privileged=skip_privileged)
    by = options.conversion
    if by is None:
        return found
    if kai.asks(pod) and kai.NAME in by.reads:
        mine = kai.read(pod, options, skip_privileged=skip_privileged)
        found = kai.merged(found, mine, options)
    converted = _converted(found.demand, pod, options)
    return sizes.settle(found, pod, by, converted)


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> Iterator[Change]:
    """Yield what makes a Pod say its demand in the dialect that the options want."""
    changes = WRITES[options.writes](demand, placed, pod, options)
    by = options.conversion
    return changes if by is None else chain(changes, _beside(demand.shares, pod, by))


def _beside(shares: tuple[Share, ...], pod: Pod, by: Conversion) -> Iterator[Change]:
    """Yield what belongs to a translation, whichever the words."""
    if not shares:
        return
    if any(share.vendor.dialect == kai.NAME for share in shares):
        yield from kai.without(pod)
    if text := sizes.oversubscribed(by):
        path = ("metadata", "annotations", names.OVERSUBSCRIPTION)
        yield Put(path, text, _DIVIDED)


def recorded(text: Json) -> Mapping[str, Json]:
    """Return what the annotation of original requests holds for each container."""
    if not isinstance(text, str):
        return {}
    try:
        record: Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(record, dict) or record.get("v") != names.ORIGINAL_VERSION:
        return {}
    containers = record.get("containers")
    return containers if isinstance(containers, dict) else {}


def _converted(demand: Demand, pod: Pod, options: Options) -> frozenset[str]:
    """Return the containers that are as an earlier pass has made them of something else."""
    record = recorded(pod.annotations.get(names.ORIGINAL_REQUEST))
    if not record:
        return frozenset()
    return frozenset(
        wanted.container.name
        for wanted in demand.containers
        if wanted.share and follows(record.get(wanted.container.name), wanted, pod, options)
    )


def follows(before: Json, wanted: ContainerDemand, pod: Pod, options: Options) -> bool:
    """Whether a container's present words are what translating `before` gives.

    `before` are the amounts that our annotation recorded; where they are the present ones, nothing
    was translated.
    """
    of, words = wanted.container, wanted.asks.resources if wanted.asks else ()
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
        earlier if one is of else replace(one, limits={}, requests={}) for one in pod.containers
    )
    then = replace(pod, annotations=annotations, containers=others)
    options = options.unknowing or options  # the cards of then may be others
    found = read(then, options, skip_privileged=False)
    if found.problems or not found.demand.any:
        return False
    after = _amounts(earlier, write(found.demand, None, then, options))
    made = {name: after[name] for name in words if name in after}
    if wanted.asks and wanted.asks.memory in now and _unresolved(found.demand, options):
        for name in (wanted.asks.memory, wanted.asks.memory_percent):
            now.pop(name, None)
            made.pop(name, None)
    return made == now


def _unresolved(demand: Demand, options: Options) -> bool:
    """Whether percent stands there that the written words have not: some card's MiB were meant."""
    targets = options.conversion.targets if options.conversion else {}
    return any(
        share.memory_percent is not None and not targets[share.vendor.name].memory_percent
        for share in demand.shares
        if share.vendor.name in targets
    )


def _amounts(of: Container, changes: Iterator[Change]) -> dict[str, Json]:
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
