"""Quantities as whole numbers, and what a Pod's containers ask for together."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec

from berth.cluster.projections import Pod, PodSpec
from berth.model.quantity import NotAQuantity, parse

MIB = 2**20
MOST = 2**52
"""More than any node has; a larger number is cut, so that sums of Pods stay within 64 bits."""
CPU, MEMORY, PODS = "cpu", "memory", "pods"


class Amounts(msgspec.Struct, frozen=True):
    """What is asked for or given: CPU in milli, the rest in Kubernetes' whole units."""

    cpu_milli: int
    memory: int
    """Bytes."""
    other: dict[str, int]


@lru_cache(maxsize=8192)
def whole(text: str, scale: int = 1) -> int | None:
    """Return a quantity times `scale`, rounded up; None where it is none, or below 0."""
    try:
        value = parse(text)
    except NotAQuantity:
        return None
    return min(MOST, -int(-value * scale // 1)) if value >= 0 else None


def read(quantities: Mapping[str, str]) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return CPU in milli and the rest whole, by name, and the names of what is no quantity."""
    each = {name: whole(text, 1000 if name == CPU else 1) for name, text in quantities.items()}
    found = {name: amount for name, amount in each.items() if amount is not None}
    return found, tuple(name for name, amount in each.items() if amount is None)


def of_pod(pod: Pod, ignored: frozenset[str]) -> tuple[Amounts, tuple[str, ...]]:
    """Return what a Pod holds of its node, without the resources that are counted as cards.

    Kubernetes' PodRequests: the largest init container, beside the sidecars before it, against
    all sidecars and app containers (KEP-753); what is written for the whole Pod counts instead of
    that (KEP-2837); the overhead of its RuntimeClass comes on top (KEP-688).
    """
    wrong: list[str] = []

    def amounts(place: str, quantities: Mapping[str, str]) -> dict[str, int]:
        found, bad = read(quantities)
        wrong.extend(f"{place}[{name}]: no quantity" for name in bad)
        return found

    total = dict[str, int]()
    peak = dict[str, int]()
    for place, requests, init in _containers(pod.spec):
        own = amounts(place, requests)
        beside = _sum(total, own)
        if not init:
            total = beside
        peak = {name: max(peak.get(name, 0), amount) for name, amount in (peak | beside).items()}
    peak |= amounts("spec.resources.requests", pod.spec.resources.requests)
    held = _sum(peak, amounts("spec.overhead", pod.spec.overhead))
    cpu, memory = held.pop(CPU, 0), held.pop(MEMORY, 0)
    other = {name: amount for name, amount in held.items() if amount and name not in ignored}
    return Amounts(cpu, memory, other), tuple(wrong)


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    if not one:
        return other
    return one | {name: min(MOST, one.get(name, 0) + more) for name, more in other.items()}


def _containers(spec: PodSpec) -> Iterator[tuple[str, Mapping[str, str], bool]]:
    for at, container in enumerate(spec.init_containers):
        place = f"spec.initContainers[{at}].resources.requests"
        yield place, container.resources.requests, container.restart_policy != "Always"
    for at, container in enumerate(spec.containers):
        yield f"spec.containers[{at}].resources.requests", container.resources.requests, False
