"""HAMi's device-config.yaml, accepted unchanged (HAMi 2.10, config/config.go).

Each accelerator's file says how its section reads. HAMi reads the file leniently, and so do we: a
key that nobody knows is a warning with a suggestion, a value of a wrong type is an error. What is
left out, or null, has the default of HAMi's chart.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from berth import closest, configfile
from berth.dialects import amounts, unfit
from berth.errors import UsageError
from berth.model.raw import Json, JsonObject
from berth.model.section import Section
from berth.model.vendor import Vendor

_EXTENDED = re.compile(
    r"(?!requests\.|.*kubernetes\.io/)"
    r"[a-z0-9]([a-z0-9.-]{0,242}[a-z0-9])?/[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?",
    re.ASCII,
)
"""What Kubernetes takes for an extended resource: it knows cpu, and would refuse gpu."""


def apply(
    tree: JsonObject, sections: Sequence[Section[Any]], file: Path
) -> tuple[tuple[Vendor, ...], tuple[str, ...]]:
    """Return the accelerators as the file has them, and warnings. Raises UsageError."""
    if tree.get("kind") == "ConfigMap":
        raise UsageError(f"{file}: is a ConfigMap; give the file in it, data.device-config.yaml")
    known = {section.key for section in sections}
    warnings = [
        f"{file}: {key} is not a section of HAMi's{closest.hint(str(key), known)}"
        for key in tree
        if key not in known
    ]
    vendors: list[Vendor] = []
    for known_form in sections:
        found = tree.get(known_form.key)
        section = known_form.older if known_form.older and isinstance(found, list) else known_form
        keys = section.default
        if found is not None:
            warnings += _strangers(found, section, file)
            keys = _convert(found, section, file)
        try:
            vendors += section.vendors(keys)
        except UsageError as error:
            raise UsageError(f"{file}: {section.key}: {error}") from None
    _check(vendors, sections, file)
    return tuple(vendors), tuple(warnings)


def _strangers(found: Json, section: Section[Any], file: Path) -> Iterator[str]:
    struct = configfile.struct_of(section.shape)
    if struct is None:
        return
    entries = [("", found)]
    if isinstance(found, list):
        entries = [(f"[{index}]", entry) for index, entry in enumerate(found)]
    for place, entry in entries:
        path = f"{section.key}{place}."
        for said in configfile.unknown_keys(entry, struct, path, "a key of HAMi's"):
            yield f"{file}: {said}"


def _convert(found: Json, section: Section[Any], file: Path) -> Any:
    """Return the section's keys, typed."""
    try:
        return msgspec.convert(_without_nulls(found), section.shape)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        place = where.strip("`").removeprefix("$").removeprefix(".")
        between = "." if place and not place.startswith("[") else ""
        said = _said(
            what, configfile.value_at(found, place), configfile.kind_at(section.shape, place)
        )
        raise UsageError(f"{file}: {section.key}{between}{place}{said}") from None


def _without_nulls(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_without_nulls(one) for one in value]
    return value


def _said(what: str, value: Json, kind: object) -> str:
    """Say what msgspec refuses, with the value itself. `kind` is the type that was asked for."""
    if "missing required field" in what:
        return f": {what.split('`')[1]} is missing"
    plain = configfile.bare(kind)
    if get_origin(plain) is tuple:
        return " must be a list, and not an empty one"
    if isinstance(plain, type) and issubclass(plain, msgspec.Struct):
        return " must be a mapping of keys to values"
    if get_origin(plain) is Literal:
        known = dict.fromkeys(str(one) for one in get_args(plain))
        return f": {value} is none of {', '.join(known)}"
    shown = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
    meta = next((one for one in get_args(kind) if isinstance(one, msgspec.Meta)), msgspec.Meta())
    if plain is int and isinstance(value, int) and not isinstance(value, bool):
        return f": {value} is out of range; write a number from {meta.ge} to {meta.le}"
    wanted = {bool: "true or false", str: "text", int: "a whole number", float: "a number"}
    named = meta.description or (wanted.get(plain) if isinstance(plain, type) else None)
    return f": {shown!r} is not {named or 'usable'}"


def _check(vendors: Sequence[Vendor], sections: Sequence[Section[Any]], file: Path) -> None:
    """Refuse what HAMi takes without a word, such as an empty name, to write it into Pods."""
    keys = {section.family: section.key for section in sections}
    owners: dict[str, Vendor] = {}
    for vendor in vendors:
        where = f"{file}: {keys[vendor.family]}"
        if not vendor.count:
            place = ".resourceCountName" if vendor.name == vendor.family else ""
            what = f": the resource name of {vendor.name} devices" if not place else ""
            raise UsageError(f"{where}{place}{what} is empty; name it, such as x.com/gpu")
        for name in vendor.resources:
            if not _EXTENDED.fullmatch(name):
                what = f"{name} is no resource of devices; name it such as x.com/gpu"
                raise UsageError(f"{where}: {what}")
            if name in owners:
                raise UsageError(f"{where}: {name} names two resources; give each its own name")
            owners[name] = vendor
        _check_defaults(vendor, where)
        policies = vendor.core_policies
        if policies and vendor.core_policy and vendor.core_policy not in policies:
            hint = closest.hint(vendor.core_policy, policies)
            raise UsageError(f"{where}.gpuCorePolicy: {vendor.core_policy} is not a policy{hint}")


def _check_defaults(vendor: Vendor, where: str) -> None:
    """Refuse what in a Pod would be refused, once the API server asks again."""
    for key, value, most in (
        ("defaultGPUNum", vendor.default_count, amounts.MOST_DEVICES),
        ("defaultMemory", vendor.default_memory, unfit.MOST_MIB),
        ("defaultCores", vendor.default_cores, vendor.core_unit),
    ):
        if value > most:
            what = f"{value} is out of range; write a number from 0 to {most}"
            raise UsageError(f"{where}.{key}: {what}")
