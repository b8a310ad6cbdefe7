"""What was understood of a Pod's wish, in words for people and as JSON for scripts."""

from collections.abc import Callable, Iterator, Sequence

from berth.model.demand import ContainerDemand, Demand, Share, Wishes
from berth.model.raw import Json, JsonObject, dotted
from berth.model.said import Fact, Said
from berth.words.catalogue import CATALOGUES, Language

_GIB = 1024


def said(demand: Demand, language: Language) -> Iterator[str]:
    """Yield a line for each container that asks: "main: 1 of nvidia, 16 GiB, 30 % of its cores"."""
    between = CATALOGUES[language]
    for wanted in demand.containers:
        parts = between.comma.join(part.text(language) for part in _parts(wanted))
        if parts:
            asks = wanted.container.name or dotted(wanted.container.path)  # Knative needs no name
            yield f"{asks}{between.colon}{parts}"


def _parts(wanted: ContainerDemand) -> Iterator[Said]:
    share = wanted.share
    if share:
        yield Said("asks.devices", {"count": share.count, "vendor": share.vendor.name})
        yield from _amounts(share)
        yield from _wishes(share.wishes)
    else:
        for name in dict.fromkeys(vendor.name for vendor in wanted.asks):
            yield Said("asks.something", {"vendor": name})


def _amounts(share: Share) -> Iterator[Said]:
    first = Said("asks.slices", {"slices": share.slices}) if share.slices else _memory(share)
    yield Said("asks.each", {"amount": first}) if share.count > 1 else first
    if share.slices:
        return
    unit = share.vendor.core_unit
    if share.taken_cores is None:
        yield Said("asks.free-cores")
    elif share.cores is None:
        yield Said("asks.cores-by-default", {"cores": share.taken_cores})
    elif share.cores == unit:
        yield Said("asks.all-cores")
    elif unit == 100:
        yield Said("asks.cores-percent", {"cores": share.cores})
    else:
        yield Said("asks.cores", {"cores": share.cores, "unit": unit})
    if share.priority is not None:
        yield Said("asks.priority", {"priority": share.priority})


def _memory(share: Share) -> Said:
    if share.memory_mib is not None:
        return Said("asks.size", {"size": _size(share.memory_mib)})
    if share.memory_percent is not None and share.memory_percent != 100:
        return Said("asks.percent", {"percent": share.memory_percent})
    default = share.vendor.default_memory
    if default and share.memory_percent is None:
        return Said("asks.size-by-default", {"size": _size(default)})
    return Said("asks.all-memory")


def _size(mib: int) -> str:
    """Write 16384 as 16 GiB, and 3000 as 3000 MiB."""
    return f"{mib} MiB" if mib % _GIB else f"{mib // _GIB} GiB"


def _wishes(wishes: Wishes) -> Iterator[Said]:
    if wishes.models:
        yield Said("asks.models", {"models": _any_of(wishes.models)})
    if wishes.not_models:
        yield Said("asks.not-models", {"models": _any_of(wishes.not_models)})
    if wishes.uuids:
        yield Said("asks.out-of", {"devices": " ".join(sorted(wishes.uuids))})
    elif wishes.uuids is not None:
        yield Said("asks.no-device")
    if wishes.not_uuids:
        yield Said("asks.not", {"devices": _any_of(sorted(wishes.not_uuids))})
    if wishes.numa:
        yield Said("asks.numa")
    yield from _ways(wishes)


def _ways(wishes: Wishes) -> Iterator[Said]:
    if wishes.mode:
        yield Said("asks.mode", {"mode": wishes.mode})
    if wishes.node_policy:
        yield Said("asks.node-policy", {"policy": wishes.node_policy})
    if wishes.device_policy:
        yield Said("asks.device-policy", {"policies": _chain(_then, wishes.device_policy)})


def _any_of(names: Sequence[str]) -> Fact:
    return _chain(_or, names)


def _chain(link: Callable[[Fact, Fact], Said], names: Sequence[str]) -> Fact:
    """Join names of which there is one at least."""
    said: Fact = names[0]
    for name in names[1:]:
        said = link(said, name)
    return said


def _or(one: Fact, other: Fact) -> Said:
    return Said("part.or", {"one": one, "other": other})


def _then(one: Fact, other: Fact) -> Said:
    return Said("part.then", {"one": one, "other": other})


def row(demand: Demand | None) -> list[Json]:
    """Return each container that asks; `share` is null where a mistake leaves it unknown."""
    if demand is None:
        return []
    return [_container(wanted) for wanted in demand.containers if wanted.share or wanted.asks]


def _container(wanted: ContainerDemand) -> JsonObject:
    share = wanted.share
    vendor = share.vendor if share else wanted.asks[0]
    found: JsonObject = {
        "container": wanted.container.name,
        "vendor": vendor.name,
        "share": None,
    }
    if share:
        found["share"] = {
            "count": share.count,
            "memoryMiB": share.taken_mib,
            "memoryPercent": share.memory_percent,
            "cores": share.taken_cores,
            "coresOfDevice": share.vendor.core_unit,
            "priority": share.priority,
            "slices": share.slices,
            "wishes": _chosen(share.wishes),
        }
    return found


def _chosen(wishes: Wishes) -> JsonObject:
    """Return the wishes that were made."""
    every: JsonObject = {
        "models": [*wishes.models],
        "notModels": [*wishes.not_models],
        "notUUIDs": [*sorted(wishes.not_uuids)],
        "numa": wishes.numa,
        "mode": wishes.mode,
        "nodePolicy": wishes.node_policy,
        "devicePolicy": [*wishes.device_policy],
        "weights": dict(wishes.weights),
    }
    found: JsonObject = {key: value for key, value in every.items() if value}
    if wishes.uuids is not None:
        found["uuids"] = [*sorted(wishes.uuids)]
    return found
