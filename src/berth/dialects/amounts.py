"""The numbers that a container asks for, read strictly: a wrong one is a Problem, never a zero."""

import json
from collections.abc import Mapping
from fractions import Fraction

import msgspec

from berth.model import quantity
from berth.model.decision import Problem, Reason
from berth.model.pod import Container
from berth.model.raw import Json, Path
from berth.model.vendor import Vendor

MOST_DEVICES = 1024
"""No node carries more; what stands above is a slip of the pen."""
MOST_MIB = 2**20 - 1
"""Below 1 TiB a card. Any size written with Mi or Gi, in a resource that counts MiB, is above."""
MOST_PRIORITY = 2**31 - 1
_MIB = 2**20
_SHOWN = 40


class Amounts(msgspec.Struct, frozen=True, kw_only=True):
    """The resolved numbers of one container; None is "not named"."""

    count: int | None = None
    memory: int | None = None
    memory_percent: int | None = None
    cores: int | None = None
    priority: int | None = None


def read(container: Container, vendor: Vendor) -> tuple[Amounts, tuple[Problem, ...]]:
    """Read what `container` names of `vendor`'s resources, with all that is wrong with it."""
    problems: list[Problem] = []
    found: dict[str, int] = {}
    for role, name, most in (
        ("count", vendor.count, MOST_DEVICES),
        ("memory", vendor.memory, MOST_MIB // max(vendor.memory_factor, 1)),
        ("memory_percent", vendor.memory_percent, 100),
        ("cores", vendor.cores, 100),
        ("priority", vendor.priority, MOST_PRIORITY),
    ):
        if not name or not (name in container.limits or name in container.requests):
            continue
        path = (*container.path, "resources", "limits", name)
        problem = _unpaired(container, name)
        value = None
        if problem is None:
            value, problem = _whole(container.limits[name], path, role, most)
        if problem is not None:
            problems.append(problem)
        elif value is not None:
            found[role] = value
    return Amounts(**found), tuple(problems)


def _unpaired(container: Container, name: str) -> Problem | None:
    """Kubernetes wants request = limit for extended resources; say so before it does."""
    path = (*container.path, "resources", "requests", name)
    if name not in container.limits:
        what = "is requested without a limit, which Kubernetes refuses for devices"
        value = _shown(container.requests[name])
        return Problem(
            Reason.REQUEST_WITHOUT_LIMIT, path, what, f"write {name}: {value} under limits instead"
        )
    if name not in container.requests or _same(container.requests, container.limits, name):
        return None
    asked, limit = _shown(container.requests[name]), _shown(container.limits[name])
    what = f"{asked} differs from the limit {limit}, and devices cannot be overcommitted"
    return Problem(Reason.REQUEST_NOT_LIMIT, path, what, "leave the request out")


def _same(requests: Mapping[str, Json], limits: Mapping[str, Json], name: str) -> bool:
    if requests[name] == limits[name]:
        return True
    try:
        return quantity.parse(requests[name]) == quantity.parse(limits[name])
    except quantity.NotAQuantity:
        return False


def _whole(raw: Json, path: Path, role: str, most: int) -> tuple[int | None, Problem | None]:
    try:
        value = quantity.parse(raw)
    except quantity.NotAQuantity:
        what = f"{_shown(raw)!r} is not a number that Kubernetes reads"
        return None, Problem(
            Reason.NOT_A_QUANTITY, path, what, f"write a whole number from 0 to {most}"
        )
    if value < 0:
        what = f"{_shown(raw)} is negative"
        return None, Problem(Reason.NEGATIVE, path, what, f"write a number from 0 to {most}")
    if isinstance(value, Fraction):
        what = f"{float(value):g} is not a whole number"
        return None, Problem(Reason.NOT_WHOLE, path, what, _FIX_FRACTION[role])
    if value > most:
        return None, _too_large(raw, value, path, role, most)
    return value, None


_FIX_FRACTION = {
    "count": "write 1, and set the share of the card by its memory or cores resource",
    "memory": "write whole MiB",
    "memory_percent": "write whole percent, from 1 to 100",
    "cores": "write whole percent of one device, from 1 to 100",
    "priority": "write a whole number",
}


def _too_large(raw: Json, value: int, path: Path, role: str, most: int) -> Problem:
    shown = _shown(raw)
    if role == "memory":
        what = f"{shown} is more MiB than any card has (this resource counts MiB, not bytes)"
        if most != MOST_MIB:
            what = f"{shown} is more than any card has (this resource counts memoryFactor MiB)"
        if most == MOST_MIB and value % _MIB == 0 and value // _MIB <= most:
            return Problem(
                Reason.TOO_LARGE, path, what, f"write {value // _MIB} if {shown} is meant"
            )
        return Problem(Reason.TOO_LARGE, path, what, f"write at most {most}")
    what = {
        "count": f"{shown} devices are more than any node has",
        "memory_percent": f"{shown} percent is more than all of a card's memory",
        "cores": f"{shown} percent is more than all of a device's cores",
        "priority": f"{shown} is more than a priority can be",
    }[role]
    fix = f"write at most {most}"
    if role == "cores":
        fix += ", which each device of the container gets"
    return Problem(Reason.TOO_LARGE, path, what, fix)


def _shown(raw: Json) -> str:
    text = raw if isinstance(raw, str) else json.dumps(raw)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
