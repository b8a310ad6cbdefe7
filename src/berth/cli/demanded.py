"""What was understood of a Pod's wish, in words for people and as JSON for scripts."""

from collections.abc import Iterator

from berth.model.demand import ContainerDemand, Demand, Share, Wishes
from berth.model.raw import Json, JsonObject

_GIB = 1024


def said(demand: Demand) -> Iterator[str]:
    """Yield a line for each container that asks: "main: 1 of nvidia, 16 GiB, 30 % of its cores"."""
    for wanted in demand.containers:
        if wanted.share:
            share = wanted.share
            parts = [
                f"{share.count} of {share.vendor.name}",
                *_amounts(share),
                *_wishes(share.wishes),
            ]
            yield f"{wanted.container.name}: {', '.join(parts)}"
        elif wanted.asks:
            yield f"{wanted.container.name}: something of {wanted.asks.name}, see below"


def _amounts(share: Share) -> Iterator[str]:
    each = "each with " if share.count > 1 else ""
    if share.slices:
        yield f"{each}{share.slices} slices of it"
        return
    yield f"{each}{_memory(share)}"
    unit = share.vendor.core_unit
    if share.cores is None:
        yield "cores without a limit"
    elif share.cores == unit:
        yield "all of its cores"
    else:
        part = f"{share.cores} %" if unit == 100 else f"{share.cores} of {unit}"
        yield f"{part} of its cores"
    if share.priority is not None:
        yield f"priority {share.priority}"


def _memory(share: Share) -> str:
    if share.memory_mib is not None:
        return _size(share.memory_mib)
    if share.memory_percent not in (None, 100):
        return f"{share.memory_percent} % of its memory"
    default = share.vendor.default_memory
    if default and share.memory_percent is None:
        return f"{_size(default)} by default"
    return "all of its memory"


def _size(mib: int) -> str:
    """Write 16384 as 16 GiB, and 3000 as 3000 MiB."""
    return f"{mib} MiB" if mib % _GIB else f"{mib // _GIB} GiB"


def _wishes(wishes: Wishes) -> Iterator[str]:
    chosen = " ".join(sorted(wishes.uuids)) or "no device" if wishes.uuids is not None else ""
    for text, value in (
        ("a model with {} in its name", " or ".join(wishes.models)),
        ("no model with {} in its name", " or ".join(wishes.not_models)),
        ("out of {}", chosen),
        ("not {}", " or ".join(sorted(wishes.not_uuids))),
        ("{}", "all on one NUMA node" if wishes.numa else ""),
        ("shared as {}", wishes.mode),
        ("nodes by {}", wishes.node_policy),
        ("devices by {}", " then ".join(wishes.device_policy)),
    ):
        if value:
            yield text.format(value)


def row(demand: Demand | None) -> list[Json]:
    """Return each container that asks; `share` is null where a mistake leaves it unknown."""
    if demand is None:
        return []
    return [_container(wanted) for wanted in demand.containers if wanted.share or wanted.asks]


def _container(wanted: ContainerDemand) -> JsonObject:
    share = wanted.share
    vendor = share.vendor if share else wanted.asks
    found: JsonObject = {
        "container": wanted.container.name,
        "vendor": vendor.name if vendor else None,
        "share": None,
    }
    if share:
        found["share"] = {
            "count": share.count,
            "memoryMiB": share.memory_mib,
            "memoryPercent": share.memory_percent,
            "cores": share.cores,
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
