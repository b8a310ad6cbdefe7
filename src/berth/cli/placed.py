"""Where a Pod could go, in words for people and as JSON for scripts."""

from collections.abc import Iterable, Iterator, Sequence

from berth.cli.where import Now, Ranked, Where
from berth.model.charge import Claim
from berth.model.placement import Without
from berth.model.raw import Json, JsonObject
from berth.model.request import DeviceRequest, Shape
from berth.placement.learned import Learned
from berth.placement.scarcity import FIRST

SHOWN = 5
"""Of candidates, and of what was learned."""


def said(found: Where) -> Iterator[str]:
    """Yield lines: a few whatever the size of the fleet, as nodes are told of by classes."""
    if found.now is not None:
        yield from _standing(found.now, found.models)
    yield f"policy {found.policy}, by {found.chosen_by}"
    yield f"{found.fitting} of {found.nodes} nodes fit"
    for place, one in enumerate(found.candidates[:SHOWN], 1):
        score = "not scored yet" if one.score is None else f"score {one.score:g}"
        yield f"  {place}. {one.node}, {score}: {_held(one.devices, found.models)}"
    if found.fitting > SHOWN:
        yield f"  and {found.fitting - min(SHOWN, len(found.candidates))} more"
    if found.without:
        yield f"{sum(one.nodes for one in found.without)} nodes do not:"
        yield from (f"  {one}" for one in found.without)
    if not found.fitting:
        yield _outlook(found)


def _standing(now: Now, models: dict[str, str]) -> Iterator[str]:
    if now.held is None:
        yield f"stands in the cluster: {now.phase}, on no node"
    else:
        held = _held(now.held.claims, models)
        known = f", {now.held.source.value}" if now.held.claims else ""
        yield f"stands in the cluster: {now.phase}, on {now.held.node} with {held}{known}"
    if now.decided is not None and now.decided.policy:
        node = f"{now.decided.node}, " if now.decided.node else ""
        yield f"decided at its creation: {node}{now.decided.reason}"


def _outlook(found: Where) -> str:
    later = sum(one.nodes for one in found.without if one.waiting_helps)
    if not later:
        return "waiting does not help: no node could carry it even if it were empty"
    return f"waiting can help: {later} nodes may fit once others have left"


def _held(claims: Sequence[Claim], models: dict[str, str]) -> str:
    if not claims:
        return "no card"
    by_container: dict[str, list[str]] = {}
    for one in claims:
        by_container.setdefault(one.container or "some container", []).append(_claim(one, models))
    return "; ".join(f"{name} {', '.join(each)}" for name, each in by_container.items())


def _claim(claim: Claim, models: dict[str, str]) -> str:
    model = models.get(claim.uuid)
    parts = [
        model or "",
        claim.profile,
        "all memory" if claim.memory_mib is None else f"{claim.memory_mib} MiB",
        "all cores" if claim.cores is None else f"{claim.cores} % cores" if claim.cores else "",
    ]
    return f"{claim.uuid} ({', '.join(part for part in parts if part)})"


def taught(found: Learned) -> Iterator[str]:
    """Yield lines on what the default policy has learned."""
    if found.arrivals < FIRST:
        yield f"scarcity has seen {found.arrivals} Pods, and learns from the {FIRST}th on"
        return
    pace = f"{found.departures_per_arrival:.2f} leave for each that comes"
    yield f"scarcity has learned from {found.arrivals} Pods; {pace}"
    heavy = [(shape, weight) for shape, weight in found.weights if weight > 0][:SHOWN]
    if heavy:
        yield "  counts most: " + "; ".join(f"{_shape(of)} {w:.3g}" for of, w in heavy)
    groups = {size: price for size, price in found.groups.items() if price}
    if groups:
        costs = ", ".join(f"{size} cards {price:.2f}" for size, price in groups.items())
        yield f"  breaking up a free group costs, in cards: {costs}"
    kinds = {kind.model: price for kind, price in found.kinds.items() if price >= 0.01}
    if kinds:
        costs = ", ".join(f"{model} {price:.2f}" for model, price in kinds.items())
        yield f"  a card for who could take another costs: {costs}"


def _shape(shape: Shape) -> str:
    if shape.request is None:
        return f"{shape.cpu_milli} milli CPU"
    return f"{_wants(shape.request)} with {shape.cpu_milli} milli CPU"


def _wants(request: DeviceRequest) -> str:
    cards = f"{request.count} {request.vendor}"
    if request.whole:
        return f"{cards} alone"
    if request.memory_mib is not None:
        return f"{cards} of {request.memory_mib} MiB"
    return f"{cards} of {request.memory_percent or 100} %"


def row(found: Where) -> JsonObject:
    """Return the same, with up to 100 candidates."""
    return {
        "policy": found.policy,
        "chosenBy": found.chosen_by,
        "generation": found.generation,
        "nodes": found.nodes,
        "fitting": found.fitting,
        "waitingHelps": found.waiting_helps,
        "candidates": [_candidate(one, found.models) for one in found.candidates],
        "without": [_without(one) for one in found.without],
        "now": None if found.now is None else _now(found.now, found.models),
        "learned": None if found.learned is None else _learned(found.learned),
    }


def _now(now: Now, models: dict[str, str]) -> JsonObject:
    decided = now.decided
    return {
        "phase": now.phase,
        "node": now.held.node if now.held else None,
        "source": now.held.source.value if now.held else None,
        "devices": _devices(now.held.claims, models) if now.held else [],
        "decided": None
        if decided is None
        else {"id": decided.id, "policy": decided.policy, "node": decided.node or None},
    }


def _candidate(one: Ranked, models: dict[str, str]) -> JsonObject:
    return {"node": one.node, "score": one.score, "devices": _devices(one.devices, models)}


def _devices(claims: Iterable[Claim], models: dict[str, str]) -> list[Json]:
    return [
        {
            "container": one.container,
            "uuid": one.uuid,
            "model": models.get(one.uuid),
            "memoryMiB": one.memory_mib,
            "cores": one.cores,
            "profile": one.profile or None,
        }
        for one in claims
    ]


def _without(one: Without) -> JsonObject:
    return {
        "reason": one.reason.name,
        "nodes": one.nodes,
        "waitingHelps": one.waiting_helps,
        "nearest": one.nearest,
        "wanted": one.wanted,
        "has": one.has,
        "resource": one.resource or None,
        "text": str(one),
    }


def _learned(found: Learned) -> JsonObject:
    return {
        "arrivals": found.arrivals,
        "departuresPerArrival": found.departures_per_arrival,
        "cpuPerCard": found.cpu_per_card,
        "weights": [{"shape": _shape(of), "weight": weight} for of, weight in found.weights],
        "groups": {str(size): price for size, price in found.groups.items()},
        "kinds": {kind.model: price for kind, price in found.kinds.items()},
    }
