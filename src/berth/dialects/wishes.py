"""The annotations by which a Pod chooses among devices (HAMi 2.10, contract 4.1)."""

from collections.abc import Iterator, Mapping

from berth import names
from berth.model.decision import Problem, Reason
from berth.model.demand import NO_WISHES, Wishes
from berth.model.raw import Json
from berth.model.vendor import Vendor

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
"""What Go's strconv.ParseBool takes as true."""
_WEIGHTS = ("slot", "core", "memory")


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


def problems(annotations: Mapping[str, Json]) -> Iterator[Problem]:
    """Yield what HAMi's scheduler would fail on, so that no node is ever found."""
    if names.WEIGHTS in annotations and _weights(annotations) is None:
        what = f"{_text(annotations, names.WEIGHTS) or 'nothing'} does not weigh a device"
        fix = "write slot=1,core=1,memory=1 with whole numbers, not all 0"
        path = ("metadata", "annotations", names.WEIGHTS)
        yield Problem(Reason.ANNOTATION, path, what, fix)


def _weights(annotations: Mapping[str, Json]) -> dict[str, int] | None:
    found: dict[str, int] = {}
    for part in _list(annotations, names.WEIGHTS):
        name, _, value = part.partition("=")
        if not (value.strip().isascii() and value.strip().isdigit()):
            return None
        found[name.strip()] = int(value)
    return found if found.keys() == set(_WEIGHTS) and any(found.values()) else None


def _list(annotations: Mapping[str, Json], key: str) -> tuple[str, ...]:
    parts = (part.strip() for part in _text(annotations, key).split(","))
    return tuple(part for part in parts if part)


def _text(annotations: Mapping[str, Json], key: str) -> str:
    value = annotations.get(key) if key else None
    return value if isinstance(value, str) else ""
