"""The numbers that a container asks for, read strictly: a wrong one is a Problem, never a zero."""

from collections.abc import Mapping

from berth.dialects import unfit
from berth.model import quantity
from berth.model.pod import Container
from berth.model.problem import Problem
from berth.model.quantity import MIB
from berth.model.raw import Json
from berth.model.vendor import Amounts, Vendor

MOST_DEVICES = 1024
"""No node carries more; what stands above is a slip of the pen."""
MOST_PRIORITY = 2**31 - 1


def read(container: Container, vendor: Vendor) -> tuple[Amounts, tuple[Problem, ...]]:
    """Read what `container` names of `vendor`'s resources, with all that is wrong with it."""
    problems: list[Problem] = []
    found: dict[str, int] = {}
    counted = vendor.count in container.limits or vendor.count in container.requests
    unread = MOST_DEVICES if counted else None  # a wrong count says nothing of the cores
    for role, name in vendor.named_roles:
        kind = "limits" if name in container.limits else "requests"
        there = getattr(container, kind)
        if name not in there:
            continue
        raw = _stored(there[name])
        least, most = _bounds(vendor, role, found.get("count", unread))
        value = _whole(raw)
        right = value is not None and (
            least <= value <= most or (role == "memory" and _is_bytes(vendor, raw, value))
        )
        problem = _unpaired(container, name, right=right)
        if problem is not None:
            problems.append(problem)
        if right and value is not None:
            found[role] = value
        else:
            path = (*container.path, "resources", kind, name)
            problems.append(unfit.problem(raw, path, unfit.Scale(role, least, most, vendor)))
    return Amounts(**found), tuple(problems)


_MOST = {"count": MOST_DEVICES, "memory_percent": 100, "priority": MOST_PRIORITY}


def _bounds(vendor: Vendor, role: str, count: int | None) -> tuple[int, int]:
    """Return the least and the most that a container which names `count` devices may write."""
    if role == "memory":
        most = unfit.MOST_PLAIN if vendor.memory_in_bytes else _most_memory(vendor)
        most = 0 if vendor.memory_is_bytes else most
    elif role == "cores":
        most = vendor.core_unit
    else:
        most = _MOST[role]
    if role in vendor.of_all:
        most *= (MOST_DEVICES if vendor.count_or_size else 1) if count is None else max(count, 1)
    return (1 if role in vendor.nonzero else 0), most


def _most_memory(vendor: Vendor) -> int:
    return unfit.MOST_MIB // (1 if vendor.memory_in_mib_from else vendor.unit_mib)


def _is_bytes(vendor: Vendor, raw: Json, value: int) -> bool:
    """Whether this is a size that HAMi's scheduler takes as bytes, which it knows by a suffix."""
    return (
        (vendor.memory_is_bytes or (vendor.memory_in_bytes and str(raw) != str(value)))
        and value % MIB == 0
        and 0 < value // MIB <= unfit.MOST_MIB
    )


def _unpaired(container: Container, name: str, *, right: bool) -> Problem | None:
    """Kubernetes wants request = limit for extended resources; say so before it does.

    `right` is whether the amount is one: a wrong one is nothing to write as the limit.
    """
    path = (*container.path, "resources", "requests", name)
    if name not in container.limits and not right:
        return Problem("request-without-limit.wrong", path, {"name": name})
    if name not in container.limits:
        value = unfit.written(container.requests[name])
        return Problem("request-without-limit", path, {"name": name, "value": value})
    if name not in container.requests or _same(container.requests, container.limits, name):
        return None
    asked, limit = unfit.written(container.requests[name]), unfit.written(container.limits[name])
    return Problem("request-not-limit", path, {"asked": asked, "limit": limit})


def _same(requests: Mapping[str, Json], limits: Mapping[str, Json], name: str) -> bool:
    if requests[name] == limits[name]:
        return True
    try:
        return quantity.parse(_stored(requests[name])) == quantity.parse(_stored(limits[name]))
    except quantity.NotAQuantity:
        return False


def _stored(raw: Json) -> Json:
    """Return null, which a template may leave, as the API server stores it."""
    return "0" if raw is None else raw


def _whole(raw: Json) -> int | None:
    try:
        value = quantity.parse(raw)
    except quantity.NotAQuantity:
        return None
    return value if isinstance(value, int) else None
