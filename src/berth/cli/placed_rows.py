"""Where a Pod could go, as JSON for scripts."""

from collections.abc import Iterable

from berth.cli.placed import shape
from berth.cli.where import Now, Ranked, Where
from berth.model.charge import Claim
from berth.model.placement import Without
from berth.model.raw import Json, JsonObject
from berth.placement.learned import Learned


def row(found: Where) -> JsonObject:
    """Return all of it, with up to 100 candidates; what is told in words is English."""
    return {
        "policy": found.policy,
        "chosenBy": str(found.chosen_by),
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
        "weights": [{"shape": str(shape(of)), "weight": weight} for of, weight in found.weights],
        "groups": {str(size): price for size, price in found.groups.items()},
        "kinds": {kind.model: price for kind, price in found.kinds.items()},
    }
