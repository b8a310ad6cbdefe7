"""Configuration files: YAML in, and what is wrong with it in a sentence."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import msgspec

from berth import closest
from berth.errors import UsageError
from berth.model.raw import Json, JsonObject


def read(file: Path) -> JsonObject:
    """Read a YAML file whose top is a mapping (an empty one counts). Raises UsageError."""
    import yaml  # noqa: PLC0415  not needed to print --help

    try:
        tree: Json = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: 2026-13-45
        raise UsageError(f"{file}: is not valid YAML: {' '.join(str(error).split())}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise UsageError(f"{file}: the top level must be a mapping of keys to values")
    return tree


def said_plainly(error: msgspec.ValidationError) -> str:
    """Turn msgspec's "Expected `int`, got `str` - at `$.server.port`" round."""
    what, _, where = str(error).partition(" - at ")
    place = where.strip("`").removeprefix("$.")
    what = what.replace("`", "")
    return f"{place}: {what[:1].lower()}{what[1:]}" if place else what


def unknown_keys(tree: Json, struct: type[msgspec.Struct], path: str = "") -> Iterator[str]:
    """Yield a sentence for each key that `struct` does not have, at any depth."""
    if not isinstance(tree, dict):
        return
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(struct)}
    for key, value in tree.items():
        where = f"{path}{key}"
        if key not in fields:
            yield f"{where} is not a setting{closest.hint(str(key), fields)}"
            continue
        inner = struct_of(fields[key])
        if inner is None:
            continue
        if isinstance(value, list):
            for index, entry in enumerate(value):
                yield from unknown_keys(entry, inner, f"{where}[{index}].")
        else:
            yield from unknown_keys(value, inner, f"{where}.")


def struct_of(kind: object) -> type[msgspec.Struct] | None:
    """Return the Struct that a field holds, itself or in a tuple."""
    for candidate in (kind, *get_args(kind)):
        if isinstance(candidate, type) and issubclass(candidate, msgspec.Struct):
            return candidate
    return None
