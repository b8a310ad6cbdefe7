"""The numbers that a container asks for, read strictly: a wrong one is a Problem, never a zero."""

import json
from collections.abc import Mapping
from fractions import Fraction

import msgspec

from berth.model import quantity
from berth.model.decision import Problem
from berth.model.pod import Container
from berth.model.raw import Json, Path
from berth.model.said import Facts
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
        raw = _stored(container.limits[name])
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

    @property
    def bounds(self) -> Facts:
        """The least and the most, as facts."""
        return {"least": self.least, "most": self.most}


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
        value = _shown(container.requests[name])
        return Problem("request-without-limit", path, {"name": name, "value": value})
    if name not in container.requests or _same(container.requests, container.limits, name):
        return None
    asked, limit = _shown(container.requests[name]), _shown(container.limits[name])
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


def _wrong(raw: Json, path: Path, scale: _Scale) -> Problem:
    """Say what is wrong with a number that is not one, not whole, or out of its bounds."""
    shown = _shown(raw)
    try:
        value = quantity.parse(raw)
    except quantity.NotAQuantity:
        return Problem("not-a-quantity", path, {"shown": shown, **scale.bounds})
    if value < 0:
        return Problem("negative", path, {"shown": shown, **scale.bounds})
    if isinstance(value, Fraction):
        return Problem(_NOT_WHOLE[scale.role], path, {"number": f"{float(value):g}"})
    if value < scale.least:
        return Problem("zero", path, scale.bounds)
    if scale.role == "memory":
        return _too_much_memory(shown, value, path, scale)
    return _too_many(shown, path, scale)


_NOT_WHOLE = {
    "count": "not-whole.count",
    "memory": "not-whole.memory",
    "memory_percent": "not-whole.percent",
    "cores": "not-whole.cores",
    "priority": "not-whole.priority",
}
_TOO_MANY = {
    "count": "too-large.count",
    "memory_percent": "too-large.percent",
    "priority": "too-large.priority",
}


def _too_much_memory(shown: str, value: int, path: Path, scale: _Scale) -> Problem:
    vendor = scale.vendor
    if vendor.memory_is_bytes:
        return _no_bytes(shown, value, path)
    if vendor.memory_in_bytes:
        return _no_size(shown, value, path)
    units, rest = divmod(value, MIB * (1 if vendor.memory_in_mib_from else vendor.memory_unit))
    meant = vendor.memory_factor <= 1 and not rest and units <= scale.most
    if vendor.unit_mib == 1 or vendor.memory_in_mib_from:
        if meant:
            return Problem("too-large.mib-meant", path, {"shown": shown, "units": units})
        return Problem("too-large.mib", path, {"shown": shown, "most": scale.most})
    about: Facts = {"shown": shown, "unit": vendor.unit_mib}
    if meant:
        return Problem("too-large.units-meant", path, {**about, "units": units})
    return Problem("too-large.units", path, {**about, "most": scale.most})


def _no_size(shown: str, value: int, path: Path) -> Problem:
    gib, rest = divmod(value, 1024 * MIB)
    if gib and not rest and gib <= MOST_PLAIN:
        return Problem("too-large.size-meant", path, {"shown": shown, "gib": gib})
    return Problem("too-large.size", path, {"shown": shown, "most": MOST_PLAIN})


def _no_bytes(shown: str, value: int, path: Path) -> Problem:
    if value > MOST_MIB * MIB:
        return Problem("too-large.bytes", path, {"shown": shown})
    if value < MIB:
        return Problem("not-whole.no-bytes", path, {"shown": shown, "value": value})
    return Problem("not-whole.bytes", path, {"shown": shown, "mib": -(-value // MIB)})


def _too_many(shown: str, path: Path, scale: _Scale) -> Problem:
    facts: Facts = {"shown": shown, "most": scale.most}
    if scale.role == "cores":
        each = scale.most == 100
        return Problem("too-large.cores" if each else "too-large.all-cores", path, facts)
    return Problem(_TOO_MANY[scale.role], path, facts)


def _shown(raw: Json) -> str:
    text = raw if isinstance(raw, str) else json.dumps(raw)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
