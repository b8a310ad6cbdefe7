"""The annotations by which a Pod chooses among devices (HAMi 2.10, contract 4.1)."""

import json
from collections.abc import Iterable, Iterator, Mapping

from berth import names
from berth.model.demand import NO_WISHES, Wishes
from berth.model.problem import Problem
from berth.model.raw import Json
from berth.model.said import Fact, Facts, Said
from berth.model.vendor import Selectors, Vendor

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
"""What Go's strconv.ParseBool takes as true."""
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_WEIGHTS = ("slot", "core", "memory")
_LONGEST = 15
"""Digits of a weight: what HAMi adds up is a number of 64 bits."""
_SHOWN = 40
_POLICIES = {
    names.SCHEDULING_POLICY: names.POLICIES,
    names.NODE_POLICY: ("binpack", "spread"),
    names.DEVICE_POLICY: ("binpack", "spread", "mutex", "numa", "topology-aware"),
}


def read(annotations: Mapping[str, Json], vendor: Vendor) -> Wishes:
    """Return what the annotations of a Pod say about `vendor`'s devices."""
    if not annotations:
        return NO_WISHES
    by = vendor.selectors
    chosen = [set(listed) for key in by.uuids if (listed := _list(annotations, key))]
    return Wishes(
        models=tuple(model.lower() for model in _list(annotations, by.models)),
        not_models=tuple(model.lower() for model in _list(annotations, by.not_models)),
        uuids=frozenset(set.intersection(*chosen)) if chosen else None,
        not_uuids=frozenset(one for key in by.not_uuids for one in _list(annotations, key)),
        numa=_text(annotations, by.numa) in _TRUE,
        mode=_text(annotations, by.mode),
        node_policy=_text(annotations, names.NODE_POLICY),
        device_policy=_list(annotations, names.DEVICE_POLICY),
        weights=_weights(annotations) or {},
    )


def problems(annotations: Mapping[str, Json], vendors: Iterable[Vendor]) -> Iterator[Problem]:
    """Yield what HAMi's scheduler fails on, or takes for something else without a word.

    `vendors` are those whose devices the Pod asks for.
    """
    if names.WEIGHTS in annotations and _weights(annotations) is None:
        shown = _shown(annotations, names.WEIGHTS)
        yield _problem("annotation.weights", names.WEIGHTS, {"shown": shown})
    for key, known in _POLICIES.items():
        if key in annotations:
            yield from _words(annotations, key, known)
    chosen = (one for one in vendors if not annotations.keys().isdisjoint(one.annotations))
    for by in dict.fromkeys(vendor.selectors for vendor in chosen):
        yield from _selection(annotations, by)


def _words(annotations: Mapping[str, Json], key: str, known: tuple[str, ...]) -> Iterator[Problem]:
    several = key == names.DEVICE_POLICY
    there = _list(annotations, key) if several else (_text(annotations, key),)
    words = [word for word in there if word and word not in known]
    if words or not isinstance(annotations.get(key, ""), str):
        shown = words[0][:_SHOWN] if words else _shown(annotations, key)
        yield _problem("annotation.policy", key, {"shown": shown, "known": ", ".join(known)})


def _selection(annotations: Mapping[str, Json], by: Selectors) -> Iterator[Problem]:
    """Yield what no device can answer to: no switch, or a choice that leaves none."""
    for key in (by.numa, *by.switches):
        if key in annotations and _text(annotations, key) not in _TRUE | _FALSE | {""}:
            yield _problem("annotation.switch", key, {"shown": _shown(annotations, key)})
    for key in (by.models, by.not_models, *by.uuids, *by.not_uuids):
        if key and not isinstance(annotations.get(key, ""), str):
            yield _problem("annotation.list", key, {"shown": _shown(annotations, key)})
    models = [model.lower() for model in _list(annotations, by.models)]
    without = [model.lower() for model in _list(annotations, by.not_models)]
    if models and all(any(part in model for part in without) for model in models):
        yield _problem("contradiction.models", by.not_models, {"chosen": by.models})
    chosen = [(key, set(listed)) for key in by.uuids if (listed := _list(annotations, key))]
    left_out = {one for key in by.not_uuids for one in _list(annotations, key)}
    if chosen and not set.intersection(*(found for _, found in chosen)) - left_out:
        lists = ", ".join((*by.uuids, *by.not_uuids))
        yield _problem("contradiction.devices", chosen[-1][0], {"lists": lists})


def _problem(code: str, key: str, facts: Facts) -> Problem:
    return Problem(code, ("metadata", "annotations", key), facts)


def _shown(annotations: Mapping[str, Json], key: str) -> Fact:
    value = annotations.get(key)
    text = repr(value) if isinstance(value, str) else json.dumps(value)
    return text[:_SHOWN].strip("'") or Said("part.nothing")


def _weights(annotations: Mapping[str, Json]) -> dict[str, int] | None:
    found: dict[str, int] = {}
    for part in _list(annotations, names.WEIGHTS):
        name, _, value = part.partition("=")
        digits = value.strip()
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST):
            return None
        found[name.strip()] = int(digits)
    return found if found.keys() == set(_WEIGHTS) and any(found.values()) else None


def _list(annotations: Mapping[str, Json], key: str) -> tuple[str, ...]:
    parts = (part.strip() for part in _text(annotations, key).split(","))
    return tuple(part for part in parts if part)


def _text(annotations: Mapping[str, Json], key: str) -> str:
    value = annotations.get(key) if key else None
    return value if isinstance(value, str) else ""
