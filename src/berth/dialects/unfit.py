"""What is wrong with an amount, and what to write instead, in the words of its resource."""

import json
from fractions import Fraction
from math import ceil

import msgspec

from berth.model import quantity
from berth.model.problem import Problem
from berth.model.quantity import MIB
from berth.model.raw import Json, Path
from berth.model.said import Facts, either
from berth.model.vendor import Vendor

MOST_MIB = 2**20 - 1
"""Below 1 TiB a card. Any size written with Mi or Gi, in a resource that counts MiB, is above."""
MOST_PLAIN = 999
"""GiB of a card where sizes may be bytes too, as HAMi's scheduler would read 1000, stored as 1k."""
_SHOWN = 40


class Scale(msgspec.Struct, frozen=True):
    """What the numbers of one resource mean, and which can be right."""

    role: str
    least: int
    most: int
    vendor: Vendor

    @property
    def bounds(self) -> Facts:
        """The least and the most, as facts."""
        return {"least": self.least, "most": self.most}


def problem(raw: Json, path: Path, scale: Scale) -> Problem:
    """Say what is wrong with a number that is not one, not whole, or out of its bounds."""
    shown = written(raw)
    try:
        value = quantity.parse(raw)
    except quantity.NotAQuantity:
        return Problem("not-a-quantity", path, {"shown": shown, **scale.bounds})
    if value < 0:
        return Problem("negative", path, {"shown": shown, **scale.bounds})
    if isinstance(value, Fraction):
        return _not_whole(shown, value, path, scale)
    if value < scale.least:
        return Problem("zero", path, scale.bounds)
    if scale.role == "memory":
        return _too_much_memory(shown, value, path, scale)
    return _too_many(shown, path, scale)


_TOO_MANY = {
    "count": "too-large.count",
    "memory_percent": "too-large.percent",
    "priority": "too-large.priority",
}


def _not_whole(shown: str, value: Fraction, path: Path, scale: Scale) -> Problem:
    """Say in which whole numbers the resource is asked for."""
    number = f"{float(value):g}"
    if scale.role == "memory":
        if scale.vendor.memory_is_bytes:
            return _no_bytes(shown, ceil(value), path)
        return _not_whole_memory(number, path, scale)
    if scale.role == "cores":
        return _not_whole_cores(number, path, scale)
    if scale.role == "count":
        return _not_whole_count(number, path, scale.vendor)
    return Problem(_NOT_WHOLE[scale.role], path, {"number": number})


_NOT_WHOLE = {"memory_percent": "not-whole.percent", "priority": "not-whole.priority"}


def _not_whole_count(number: str, path: Path, vendor: Vendor) -> Problem:
    if vendor.count_is_slices:
        return Problem("not-whole.slices", path, {"number": number})
    parts = [one for one in (vendor.memory, vendor.memory_percent, vendor.cores) if one]
    if not parts:
        return Problem("not-whole.devices", path, {"number": number})
    return Problem("not-whole.count", path, {"number": number, "resources": either(parts)})


def _not_whole_cores(number: str, path: Path, scale: Scale) -> Problem:
    vendor = scale.vendor
    if vendor.core_unit == 100 and "cores" not in vendor.of_all:
        return Problem("not-whole.cores", path, {"number": number})
    return Problem("not-whole.all-cores", path, {"number": number, "most": scale.most})


def _not_whole_memory(number: str, path: Path, scale: Scale) -> Problem:
    vendor = scale.vendor
    if vendor.memory_in_bytes:
        return Problem("not-whole.size", path, {"number": number, "most": scale.most})
    if vendor.memory_in_mib_from:
        return Problem(
            "not-whole.gib", path, {"number": number, "least": vendor.memory_in_mib_from}
        )
    if vendor.unit_mib == 1:
        return Problem("not-whole.memory", path, {"number": number})
    return Problem("not-whole.units", path, {"number": number, "unit": vendor.unit_mib})


def _too_much_memory(shown: str, value: int, path: Path, scale: Scale) -> Problem:
    vendor = scale.vendor
    if vendor.memory_is_bytes:
        return _no_bytes(shown, value, path)
    if vendor.memory_in_bytes:
        return _no_size(shown, value, path)
    unit = MIB * (1 if vendor.memory_in_mib_from else vendor.memory_unit)
    # A suffix says that bytes are meant: of 16G, too, the units that hold them are told.
    units, even = -(-value // unit), value % unit == 0
    meant = vendor.memory_factor <= 1 and units <= scale.most and (even or shown[-1].isalpha())
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


def _too_many(shown: str, path: Path, scale: Scale) -> Problem:
    facts: Facts = {"shown": shown, "most": scale.most}
    if scale.role == "cores":
        each = scale.most == 100
        return Problem("too-large.cores" if each else "too-large.all-cores", path, facts)
    return Problem(_TOO_MANY[scale.role], path, facts)


def written(raw: Json) -> str:
    """Return an amount as it was written, cut where it is long."""
    text = raw if isinstance(raw, str) else json.dumps(raw)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
