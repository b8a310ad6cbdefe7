"""HAMi's device-config.yaml, accepted unchanged (HAMi 2.10, config/config.go).

Sections of vendors that Berth does not know yet are kept out of the way by name, so that a file of
a running HAMi gives no warning. HAMi reads the file leniently, and so do we: a key that nobody
knows is a warning with a suggestion, a value of a wrong type is an error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from berth import closest
from berth.errors import UsageError
from berth.model.raw import Json, JsonObject
from berth.model.vendor import Vendor

OTHER_SECTIONS = frozenset(
    {
        *("cambricon", "hygon", "metax", "enflame", "mthreads", "iluvatars", "kunlun"),
        *("awsneuron", "amd", "vastai", "biren", "vnpus"),
    }
)
_INT32 = 2**31 - 1


def apply(
    tree: JsonObject, vendors: Sequence[Vendor], file: Path
) -> tuple[tuple[Vendor, ...], tuple[str, ...]]:
    """Return `vendors` as the file names them, and warnings. Raises UsageError."""
    sections = {vendor.section for vendor in vendors} | OTHER_SECTIONS
    warnings = [
        f"{file}: {key} is not a section of HAMi's{closest.hint(str(key), sections)}"
        for key in tree
        if key not in sections
    ]
    configured = []
    for vendor in vendors:
        section = tree.get(vendor.section)
        if section is None:
            configured.append(vendor)
            continue
        if not isinstance(section, dict):
            raise UsageError(f"{file}: {vendor.section} must be a mapping of keys to values")
        warnings += _strangers(section, vendor, file)
        configured.append(_configured(section, vendor, file))
    return tuple(configured), tuple(warnings)


def _strangers(section: JsonObject, vendor: Vendor, file: Path) -> Iterator[str]:
    known = {key for key, _ in vendor.config_keys} | vendor.node_keys
    for key in section:
        if key not in known:
            where = f"{vendor.section}.{key}"
            yield f"{file}: {where} is not a key of HAMi's{closest.hint(str(key), known)}"


def _configured(section: JsonObject, vendor: Vendor, file: Path) -> Vendor:
    kinds = {field.name: field.type for field in fields(Vendor)}
    changes: dict[str, Any] = {}  # replace() takes fields by name; _value checked each
    for key, name in vendor.config_keys:
        if key in section:
            where = f"{file}: {vendor.section}.{key}"
            changes[name] = _value(section[key], kinds[name], where)
    configured: Vendor = replace(vendor, **changes)
    _check(configured, file)
    return configured


def _value(value: Json, kind: object, where: str) -> str | int | bool:
    if kind is bool and isinstance(value, bool):
        return value
    if kind is str and (value is None or isinstance(value, str)):
        return value or ""
    if kind is int and isinstance(value, int) and not isinstance(value, bool):
        if 0 <= value <= _INT32:
            return value
        raise UsageError(f"{where}: {value} is out of range; write a number from 0 to {_INT32}")
    wanted = {bool: "true or false", str: "text", int: "a whole number"}
    shown = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
    raise UsageError(f"{where}: {shown!r} is not {wanted.get(_plain(kind), 'usable')}")


def _plain(kind: object) -> type:
    return kind if isinstance(kind, type) else object


def _check(vendor: Vendor, file: Path) -> None:
    """Refuse what HAMi takes without a word, to write a resource with an empty name."""
    where = f"{file}: {vendor.section}"
    if not vendor.count:
        raise UsageError(
            f"{where}.resourceCountName is empty; name the resource, such as x.com/gpu"
        )
    twice = {name for name in vendor.resources if vendor.resources.count(name) > 1}
    if twice:
        raise UsageError(f"{where}: {min(twice)} names two resources; give each its own name")
    if vendor.core_policy and vendor.core_policy not in vendor.core_policies:
        hint = closest.hint(vendor.core_policy, vendor.core_policies)
        raise UsageError(f"{where}.gpuCorePolicy: {vendor.core_policy} is not a policy{hint}")
