"""The numbers that a container asks for, read strictly: a wrong one is a Problem, never a zero."""

import json
from collections.abc import Mapping
from fractions import Fraction

import msgspec

from berth.model import quantity
from berth.model.decision import Problem, Reason
from berth.model.pod import Container
from berth.model.raw import Json, Path
from berth.model.vendor import MIB, Amounts, Vendor

MOST_DEVICES = 1024
"""No node carries more; what stands above is a slip of the pen."""
MOST_MIB = 2**20 - 1
"""Below 1 TiB a card. Any size written with Mi or Gi, in a resource that counts MiB, is above."""
MOST_PRIORITY = 2**31 - 1
MOST_PLAIN = 999
"""GiB of a card where sizes may be bytes too. HAMi's scheduler would read 1000, stored as 1k, so."""
_SHOWN = 40


def read(container: Container, vendor: Vendor) -> tuple[Amounts, tuple[Problem, ...]]:
    """Read what `container` names of `vendor`'s resources, with all that is wrong with it."""
    problems: list[Problem] = []
    found: dict[str, int] = {}
    for role, name in vendor.named_roles:
        if not (name in container.limits or name in container.requests):
            continue
        problem = _unpaired(container, name)
        value = None
        if problem is None:
            path = (*container.path, "resources", "limits", name)
            scale = _scale(vendor, role, found.get("count"))
            value, problem = _whole(container.limits[name], path, scale)
        if problem is not None:
            problems.append(problem)
        elif value is not None:
            found[role] = value
    return Amounts(**found), tuple(problems)


class _Scale(msgspec.Struct, frozen=True):
    """What the numbers of one resource mean, and which can be right."""

    role: str
    least: int
    most: int
    unit_mib: int
    in_bytes: bool


def _scale(vendor: Vendor, role: str, count: int | None) -> _Scale:
    """Return the scale of a resource of a container that names `count` devices."""
    if role == "memory":
        most = MOST_MIB // (1 if vendor.memory_in_mib_from else vendor.unit_mib)
    elif role == "cores":
        most = vendor.core_unit
    else:
        most = {"count": MOST_DEVICES, "memory_percent": 100, "priority": MOST_PRIORITY}[role]
    if role in vendor.of_all:
        most *= (MOST_DEVICES if vendor.count_or_size else 1) if count is None else max(count, 1)
    in_bytes = role == "memory" and vendor.memory_in_bytes
    if in_bytes:
        most = MOST_PLAIN
    least = 1 if role in vendor.nonzero else 0
    return _Scale(role, least, most, vendor.unit_mib, in_bytes)


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


def _whole(raw: Json, path: Path, scale: _Scale) -> tuple[int | None, Problem | None]:
    try:
        value = quantity.parse(raw)
    except quantity.NotAQuantity:
        what = f"{_shown(raw)!r} is not a number that Kubernetes reads"
        return None, Problem(Reason.NOT_A_QUANTITY, path, what, f"write a whole {_range(scale)}")
    if value < 0:
        what = f"{_shown(raw)} is negative"
        return None, Problem(Reason.NEGATIVE, path, what, f"write a {_range(scale)}")
    if isinstance(value, Fraction):
        what = f"{float(value):g} is not a whole number"
        return None, Problem(Reason.NOT_WHOLE, path, what, _FIX_FRACTION[scale.role])
    if value < scale.least:
        what = "0 devices or shares of one are not a request here"
        return None, Problem(Reason.ZERO, path, what, f"leave it out, or write a {_range(scale)}")
    if scale.in_bytes and value > scale.most:
        return _bytes(raw, value, path)
    if value > scale.most:
        return None, _too_large(raw, value, path, scale)
    return value, None


def _range(scale: _Scale) -> str:
    return f"number from {scale.least} to {scale.most}"


def _bytes(raw: Json, value: int, path: Path) -> tuple[int | None, Problem | None]:
    """Read a size with a suffix, of which HAMi's scheduler takes the whole MiB."""
    shown = _shown(raw)
    if value >= MIB and str(value) != str(raw):
        if value % MIB:
            what = f"{shown} is not a whole number of MiB"
            return None, Problem(Reason.NOT_WHOLE, path, what, "write it with Mi or Gi")
        if value // MIB <= MOST_MIB:
            return value, None
    what = f"{shown} is neither GiB that a card has nor a size with Mi or Gi"
    gib, rest = divmod(value, 1024 * MIB)
    meant = f"write {gib}Gi if that is meant" if gib and not rest and gib <= MOST_PLAIN else ""
    fix = meant or f"write GiB, up to {MOST_PLAIN}, or a size such as 512Mi"
    return None, Problem(Reason.TOO_LARGE, path, what, fix)


_FIX_FRACTION = {
    "count": "write 1, and set the share of the card by its memory or cores resource",
    "memory": "write whole MiB",
    "memory_percent": "write whole percent, from 1 to 100",
    "cores": "write whole percent of one device, from 1 to 100",
    "priority": "write a whole number",
}


def _too_large(raw: Json, value: int, path: Path, scale: _Scale) -> Problem:
    shown = _shown(raw)
    if scale.role == "memory":
        what = f"{shown} is more MiB than any card has (this resource counts MiB, not bytes)"
        if scale.unit_mib != 1:
            unit = f"{scale.unit_mib} MiB"
            what = f"{shown} is more than any card has (this resource counts units of {unit})"
        if scale.unit_mib == 1 and value % MIB == 0 and value // MIB <= scale.most:
            return Problem(
                Reason.TOO_LARGE, path, what, f"write {value // MIB} if {shown} is meant"
            )
        return Problem(Reason.TOO_LARGE, path, what, f"write at most {scale.most}")
    what = {
        "count": f"{shown} devices are more than any node has",
        "memory_percent": f"{shown} percent is more than all of a card's memory",
        "cores": f"{shown} percent is more than all of a device's cores",
        "priority": f"{shown} is more than a priority can be",
    }[scale.role]
    if scale.role == "cores" and scale.most != 100:
        what = f"{shown} is more than all cores of the devices, which are {scale.most}"
    fix = f"write at most {scale.most}"
    if scale.role == "cores" and scale.most == 100:
        fix += ", which each device of the container gets"
    return Problem(Reason.TOO_LARGE, path, what, fix)


def _shown(raw: Json) -> str:
    text = raw if isinstance(raw, str) else json.dumps(raw)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
