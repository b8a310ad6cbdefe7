"""What a decision has to know of the cluster as it stands, and the mark that it leaves."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import msgspec

from berth import names
from berth.admission.quota import Allowance
from berth.dialects.ranges import Ranges
from berth.model import decided
from berth.model.decided import Decided
from berth.model.demand import Demand
from berth.model.edit import Change, Drop, Put
from berth.model.placed import Placed
from berth.model.placement import Misfit, Without
from berth.model.pod import Pod
from berth.model.problem import Problem
from berth.model.raw import JsonObject, Path, annotations
from berth.model.said import Said

Placing: TypeAlias = Callable[[Pod, Demand], Placed | None]
"""Decides where a Pod goes; None where that is not ours to say."""
_MARK: Path = ("metadata", "annotations", names.DECISION)
_MOST_WARNINGS = 3


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """All that a decision is given beside the Pod and the rules."""

    decision: str
    """The id under which the Pod is known until it is seen."""
    allowance: Allowance | None = None
    """What the quotas of its namespace leave; None where they say nothing."""
    placing: Placing | None = None
    """None where no fleet is known."""
    ranges: Ranges | None = None
    """What the LimitRanges of its namespace are for; None where none is known."""


def mark(pod: Pod, found: Decided, why: Said) -> Iterator[Change]:
    """Yield the edit by which a Pod is known again when it is stored."""
    text = decided.write(found)
    if pod.annotations.get(names.DECISION) != text:
        yield Put(_MARK, text, why)


def unmarked(pod: Pod) -> list[Change]:
    """Return the edit that takes away a decision about another Pod, of which this may be a copy."""
    return [Drop(_MARK, Said("why.not-decided"))] if names.DECISION in pod.annotations else []


def marked(raw: JsonObject | None) -> str:
    """Return the id of the decision that a Pod carries, "" where it carries none."""
    found = decided.read(annotations(raw or {}).get(names.DECISION))
    return found.id if found else ""


def problems(demand: Demand, placed: Placed) -> Iterator[Problem]:
    """Yield why a Pod that no node takes is refused, where it is."""
    if placed.refused:
        code = "no-room" if placed.waiting_helps else "never-fits"
        yield Problem(code, _place(demand), {"why": _nearest(placed.without).lack()})


def warnings(placed: Placed) -> Iterator[Said]:
    """Yield what is missing where no node takes the Pod, which is admitted all the same."""
    if not placed.decided.node and not placed.refused:
        code = "full" if placed.waiting_helps else "unplaceable"
        for some in placed.without[:_MOST_WARNINGS]:
            yield Said(code, {"why": some.lack()})


def _nearest(without: Sequence[Without]) -> Without:
    """Return the class that misses least: of those that may fit later, the last that was asked."""
    order = [*Misfit]
    return max(without, key=lambda some: (some.waiting_helps, order.index(some.reason)))


def _place(demand: Demand) -> Path:
    """Return where the first container asks for a device."""
    for wanted in demand.containers:
        if wanted.share:
            return (*wanted.container.path, "resources", "limits", wanted.share.vendor.count)
    return ("spec",)
