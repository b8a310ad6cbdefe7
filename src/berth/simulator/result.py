"""What comes of a run: one object of `berth simulate -o json`, and the curves of its plot."""

import msgspec

from berth.model.request import PodRequest


class Class(msgspec.Struct):
    """Pods of one size: how many came, and how many of them failed."""

    came: int = 0
    failed: int = 0


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one run."""

    policy: str
    trace: str
    seed: int
    offered: float
    departures: bool = False
    gpu_allocation_percent: float
    rejected_percent: float
    """What of all cards that were wanted was rejected."""
    failed_pods: int
    """When so much was offered and no more; likewise the two below and what was rejected."""
    fragmentation_percent: float
    """What of all cards is left then, and useless to a typical request (FGD's measure)."""
    used_milli: int
    arrivals: int
    """Until one more percent was offered, or the list ended; likewise the three below."""
    first_failure: int = -1
    placements: str = ""
    """SHA-1 over the node rows chosen, -1 for a Pod that failed."""
    classes: dict[str, Class]
    """By size, in the order of `size_of`."""


class Point(msgspec.Struct, frozen=True):
    """How it stood at one moment: percent of all cards."""

    at: float
    """Percent offered, or with departures the time, in the unit of `Curve`."""
    allocated: float
    fragmented: float


class Curve(msgspec.Struct, frozen=True):
    """How it went; `unit` says of what, where that is a time."""

    points: tuple[Point, ...]
    unit: str = ""


class Done(msgspec.Struct, frozen=True):
    """The result of a run beside its curve, which only plots need."""

    result: Result
    curve: Curve


def size_of(request: PodRequest) -> str:
    """Return the size of a Pod as people call it: no card, a share, 1 card, 8 cards."""
    each = request.requests
    count = sum(one.count for one in each)
    if not count:
        return "no card"
    if count == 1 and not each[0].whole:
        return "share"
    return "1 card" if count == 1 else f"{count} cards"


def in_order(classes: dict[str, Class]) -> dict[str, Class]:
    """Return classes from small to large."""

    def order(name: str) -> int:
        word = name.split(maxsplit=1)[0]
        return int(word) if word.isdecimal() else {"no": -1, "share": 0}[word]

    return {name: classes[name] for name in sorted(classes, key=order)}
