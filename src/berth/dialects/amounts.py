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
"""GiB of a card where sizes may be bytes too, as HAMi's scheduler would read 1000, stored as 1k."""
_SHOWN = 40


def read(container: Container, vendor: Vendor) -> tuple[Amounts, tuple[Problem, ...]]:
    """Read what `container` names of `vendor`'s resources, with all that is wrong with it."""
    problems: list[Problem] = []
    found: dict[str, int] = {}
    for role, name in vendor.named_roles:
        if not (name in container.limits or name in container.requests):
            continue
        problem = _unpaired(container, name)
        if problem is not None:
            problems.append(problem)
            continue
        raw = container.limits[name]
        least, most = _bounds(vendor, role, found.get("count"))
        value = _whole(raw)
        if value is not None and (
            least <= value <= most or (role == "memory" and _is_bytes(vendor, raw, value))
        ):
            found[role] = value
        else:
            path = (*container.path, "resources", "limits", name)
            problems.append(_wrong(raw, path, _Scale(role, least, most, vendor)))
    return Amounts(**found), tuple(problems)


class _Scale(msgspec.Struct, frozen=True):
    """What the numbers of one resource mean, and which can be right."""

    role: str
    least: int
    most: int
    vendor: Vendor

    def __str__(self) -> str:
        return f"number from {self.least} to {self.most}"


_MOST = {"count": MOST_DEVICES, "memory_percent": 100, "priority": MOST_PRIORITY}


def _bounds(vendor: Vendor, role: str, count: int | None) -> tuple[int, int]:
    """Return the least and the most that a container which names `count` devices may write."""
    if role == "memory":
        most = MOST_PLAIN if vendor.memory_in_bytes else _most_memory(vendor)
        most = 0 if vendor.memory_is_bytes else most
    elif role == "cores":
        most = vendor.core_unit
    else:
        most = _MOST[role]
    if role in vendor.of_all:
        most *= (MOST_DEVICES if vendor.count_or_size else 1) if count is None else max(count, 1)
    return (1 if role in vendor.nonzero else 0), most


def _most_memory(vendor: Vendor) -> int:
    return MOST_MIB // (1 if vendor.memory_in_mib_from else vendor.unit_mib)


def _is_bytes(vendor: Vendor, raw: Json, value: int) -> bool:
    """Whether this is a size that HAMi's scheduler takes as bytes, which it knows by a suffix."""
    return (
        (vendor.memory_is_bytes or (vendor.memory_in_bytes and str(raw) != str(value)))
        and value % MIB == 0
        and 0 < value // MIB <= MOST_MIB
    )


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


def _whole(raw: Json) -> int | None:
    try:
        value = quantity.parse(raw)
    except quantity.NotAQuantity:
        return None
    return value if isinstance(value, int) else None


def _wrong(raw: Json, path: Path, scale: _Scale) -> Problem:
    """Say what is wrong with a number that is not one, not whole, or out of its bounds."""
    shown = _shown(raw)
    try:
        value = quantity.parse(raw)
    except quantity.NotAQuantity:
        what = f"{shown!r} is not a number that Kubernetes reads"
        return Problem(Reason.NOT_A_QUANTITY, path, what, f"write a whole {scale}")
    if value < 0:
        return Problem(Reason.NEGATIVE, path, f"{shown} is negative", f"write a {scale}")
    if isinstance(value, Fraction):
        what = f"{float(value):g} is not a whole number"
        return Problem(Reason.NOT_WHOLE, path, what, _FIX_FRACTION[scale.role])
    if value < scale.least:
        what = "0 devices, or 0 of a device, is not a request here"
        return Problem(Reason.ZERO, path, what, f"leave it out, or write a {scale}")
    if scale.role == "memory":
        return _too_much_memory(shown, value, path, scale)
    return _too_many(shown, path, scale)


_FIX_FRACTION = {
    "count": "write 1, and set the share of the card by its memory or cores resource",
    "memory": "write whole MiB",
    "memory_percent": "write whole percent, from 1 to 100",
    "cores": "write whole percent of one device, from 1 to 100",
    "priority": "write a whole number",
}


def _too_much_memory(shown: str, value: int, path: Path, scale: _Scale) -> Problem:
    vendor = scale.vendor
    if vendor.memory_is_bytes:
        return _no_size(shown, value, path)
    if vendor.memory_in_bytes:
        what = f"{shown} is neither GiB that a card has nor whole MiB with a suffix"
        gib, rest = divmod(value, 1024 * MIB)
        fix = f"write GiB, up to {MOST_PLAIN}, or a size such as 512Mi"
        if gib and not rest and gib <= MOST_PLAIN:
            fix = f"write {gib}Gi if that is meant"
        return Problem(Reason.TOO_LARGE, path, what, fix)
    what = f"{shown} is more MiB than any card has (this resource counts MiB, not bytes)"
    if vendor.unit_mib != 1 and not vendor.memory_in_mib_from:
        unit = f"{vendor.unit_mib} MiB"
        what = f"{shown} is more than any card has (this resource counts units of {unit})"
    units, rest = divmod(value, MIB * (1 if vendor.memory_in_mib_from else vendor.memory_unit))
    plain = vendor.memory_factor <= 1 and not rest and units <= scale.most
    fix = f"write {units} if {shown} is meant" if plain else f"write at most {scale.most}"
    return Problem(Reason.TOO_LARGE, path, what, fix)


def _no_size(shown: str, value: int, path: Path) -> Problem:
    """Say what is wrong with a number of bytes."""
    if value > MOST_MIB * MIB:
        what = f"{shown} is more than any card has"
        return Problem(Reason.TOO_LARGE, path, what, "write a size such as 16Gi")
    if value < MIB:
        what = f"{shown} is less than a MiB (this resource counts bytes)"
        return Problem(Reason.NOT_WHOLE, path, what, f"write {value}Mi, if MiB are meant")
    what = f"{shown} is not a whole number of MiB"
    return Problem(Reason.NOT_WHOLE, path, what, f"write {-(-value // MIB)}Mi")


def _too_many(shown: str, path: Path, scale: _Scale) -> Problem:
    what = {
        "count": f"{shown} devices are more than any node has",
        "memory_percent": f"{shown} percent is more than all of a card's memory",
        "cores": f"{shown} percent is more than all of a device's cores",
        "priority": f"{shown} is more than a priority can be",
    }[scale.role]
    fix = f"write at most {scale.most}"
    if scale.role == "cores" and scale.most == 100:
        fix += ", which each device of the container gets"
    elif scale.role == "cores":
        what = f"{shown} is more than all cores of the devices, which are {scale.most}"
    return Problem(Reason.TOO_LARGE, path, what, fix)


def _shown(raw: Json) -> str:
    text = raw if isinstance(raw, str) else json.dumps(raw)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
