"""Quantities as whole numbers, and what the containers of a Pod hold of a node together."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeGuard, cast

import msgspec

from berth.model.quantity import LONGEST, MIB, NotAQuantity, parse
from berth.model.raw import Json

MOST = 2**52
"""More than any node has; a larger number is cut, so that sums of Pods stay within 64 bits."""
CPU, MEMORY, PODS = "cpu", "memory", "pods"
_WRITTEN = (str, int, float)
_APART = frozenset({CPU, MEMORY})


class Amounts(msgspec.Struct, frozen=True):
    """What is asked for or given: CPU in milli, the rest in Kubernetes' whole units."""

    cpu_milli: int
    memory: int
    """Bytes."""
    other: dict[str, int]

    @property
    def memory_mib(self) -> int:
        """Its memory, rounded up."""
        return -(-self.memory // MIB)

    def without(self, names: Iterable[str]) -> dict[str, int]:
        """Return the other resources but those that are counted elsewhere, and what is 0."""
        left_out = frozenset(names)
        return {name: some for name, some in self.other.items() if some and name not in left_out}


class Asking(msgspec.Struct, frozen=True):
    """The requests of one container, and where they stand."""

    place: str
    requests: Mapping[str, Json]
    init: bool
    """Whether it has ended before the app containers start; a sidecar has not."""


@lru_cache(maxsize=8192, typed=True)  # True is no 1
def whole(amount: str | float, scale: int = 1) -> int | None:
    """Return a quantity times `scale`, rounded up; None where it is none, or below 0."""
    try:
        value = parse(amount)
    except NotAQuantity:
        return None
    return min(MOST, -int(-value * scale // 1)) if value >= 0 else None


def read(quantities: Mapping[str, Json]) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return CPU in milli and the rest whole, by name, and the names of what is no quantity."""
    if not quantities:
        return {}, ()
    each = {
        name: whole(amount, 1000 if name == CPU else 1) if _is_written(amount) else None
        for name, amount in quantities.items()
    }
    if None not in each.values():
        return cast("dict[str, int]", each), ()
    found = {name: amount for name, amount in each.items() if amount is not None}
    return found, tuple(name for name, amount in each.items() if amount is None)


def _is_written(amount: Json) -> TypeGuard[str | float]:
    """Whether it can be a quantity; a text that is too long for one is not worth remembering."""
    return isinstance(amount, _WRITTEN) and (type(amount) is not str or len(amount) <= LONGEST)


def held(
    containers: Iterable[Asking], level: Mapping[str, Json], overhead: Mapping[str, Json]
) -> tuple[Amounts, tuple[str, ...]]:
    """Return what a Pod holds of its node, and what of it is no quantity.

    Kubernetes' PodRequests: the largest init container, beside the sidecars before it, against
    all sidecars and app containers (KEP-753); what is written for the whole Pod, `level`, counts
    instead of that (KEP-2837); the `overhead` of its RuntimeClass comes on top (KEP-688).
    """
    wrong: list[str] = []

    def amounts(place: str, quantities: Mapping[str, Json]) -> dict[str, int]:
        found, bad = read(quantities)
        if bad:
            wrong.extend(f"{place}[{name}]: no quantity" for name in bad)
        return found

    total = dict[str, int]()
    peak = dict[str, int]()
    for one in containers:
        own = amounts(one.place, one.requests)
        beside = _sum(total, own)
        if not one.init:
            total = beside
        peak = _peak(peak, beside)
    if level:
        peak = peak | amounts("spec.resources.requests", level)
    if overhead:
        peak = _sum(peak, amounts("spec.overhead", overhead))
    other = {name: amount for name, amount in peak.items() if name not in _APART}
    return Amounts(peak.get(CPU, 0), peak.get(MEMORY, 0), other), tuple(wrong)


def _peak(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    if not one:
        return other
    return {name: max(one.get(name, 0), amount) for name, amount in (one | other).items()}


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    if not one:
        return other
    return one | {name: min(MOST, one.get(name, 0) + more) for name, more in other.items()}
