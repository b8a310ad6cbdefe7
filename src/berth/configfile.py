"""Configuration files: YAML in, and what is wrong with it in a sentence."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin

import msgspec

from berth import closest
from berth.errors import UsageError
from berth.model.raw import Json, JsonObject

if TYPE_CHECKING:
    import yaml


def read(file: Path) -> JsonObject:
    """Read a YAML file whose top is a mapping (an empty one counts). Raises UsageError.

    What it says becomes what JSON has for it: keys and dates are text.
    """
    import orjson  # noqa: PLC0415  neither is needed to print --help
    import yaml  # noqa: PLC0415

    try:
        text = file.read_bytes()
        loader = yaml.CSafeLoader(text)
        root = loader.get_single_node()
        twice = next(_twice(root), None) if root else None
        said = loader.construct_document(root) if root else None
        check_aliases(said, len(text))
        orjson.dumps(said, option=orjson.OPT_NON_STR_KEYS)
        tree: Json = msgspec.to_builtins(said, str_keys=True)
    except TypeError as error:  # bytes, 65 bits, or an alias within what it stands for
        why = f"{error}; write it as text, and nothing within itself"
        raise UsageError(f"{file}: says what JSON, and so Kubernetes, cannot: {why}") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: 2026-13-45
        raise UsageError(f"{file}: is not valid YAML: {why_no_yaml(error)}") from None
    if twice:
        raise UsageError(f"{file}: {twice}")
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise UsageError(f"{file}: the top level must be a mapping of keys to values")
    return tree


def checked(file: Path, struct: type[msgspec.Struct], noun: str = "a setting") -> JsonObject:
    """Read a file that must have the shape of `struct`. Raises UsageError.

    With every unknown key and its path, or the first value of a wrong type.
    """
    tree = read(file)
    strangers = list(unknown_keys(tree, struct, noun=noun))
    if strangers:
        raise UsageError(f"{file}: {'; '.join(strangers)}")
    try:
        msgspec.convert(tree, struct)
    except msgspec.ValidationError as error:
        raise UsageError(f"{file}: {said_plainly(error, struct)}") from None
    return tree


def check_aliases(document: object, size: int) -> None:
    """Raise ValueError where aliases make more of a document than its text of `size` could hold.

    Ten lines of aliases to aliases are a thousand million values, for which kubectl does not take
    them either.
    """
    values, least = _values(document, {}), 1000
    if values > max(size, least):  # without aliases, each value is a character at the least
        raise ValueError(f"its aliases (*name) unfold to {values} values; write them out")


def _values(node: object, known: dict[int, int]) -> int:
    """Count the values of a document with all aliases unfolded, each of what they share once."""
    if not isinstance(node, dict | list):
        return 1
    if id(node) not in known:
        known[id(node)] = 1  # what stands within itself is found by who writes it out
        below = node.values() if isinstance(node, dict) else node
        known[id(node)] = 1 + sum(_values(one, known) for one in below)
    return known[id(node)]


def one_line(error: Exception) -> str:
    """Say it on one line, without Python's advice to programmers (sys.set_int_max_str_digits)."""
    return " ".join(str(error).partition("; use sys.")[0].split())


def why_no_yaml(error: Exception) -> str:
    """Say on one line where YAML ends to be YAML, and why.

    What PyYAML takes for a tag may be a secret that wants quotes.
    """
    import yaml  # noqa: PLC0415  as above

    if isinstance(error, RecursionError):
        return "it is nested too deeply, or an alias (*name) stands within what it names"
    if isinstance(error, yaml.reader.ReaderError):
        return f"{error.reason} (byte {error.position}); write it as text in UTF-8"
    if not isinstance(error, yaml.MarkedYAMLError) or not error.problem_mark:
        return one_line(error)
    tag = "for a tag; quote a text that begins with !"
    problem = re.sub(r"for the tag '.*'", tag, error.problem or "")
    mark, context = error.problem_mark, error.context or ""
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem} {context}".rstrip()


def _twice(root: "yaml.Node") -> "Iterator[str]":
    """Yield a sentence for each key that stands twice in one mapping: YAML keeps the last only."""
    nodes, seen = [root], set[int]()
    while nodes:
        node = nodes.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        keys = set[str]()
        for entry in node.value if isinstance(node.value, list) else ():
            if not isinstance(entry, tuple):
                nodes.append(entry)
                continue
            key = entry[0]
            nodes += entry
            if isinstance(key.value, str) and key.value in keys:
                line = key.start_mark.line + 1
                yield f"{key.value} stands twice in one mapping (line {line}); join the two"
            keys.add(str(key.value))


_LACKS = "Object missing required field "
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "null": "nothing",
    "object": "a mapping of keys to values",
    "str": "text",
}
"""What msgspec calls after JSON and Python, in a user's words."""


def said_plainly(error: msgspec.ValidationError, kind: object) -> str:
    """Turn msgspec's "Expected `int`, got `str` - at `$.server.port`" round.

    `kind` is the type that was asked for: it knows the choices and, as `description`, the bounds.
    """
    what, _, where = str(error).partition(" - at ")
    place = where.strip("`").removeprefix("$").removeprefix(".")
    found = kind_at(kind, place)
    what = re.sub(r"`([^`]*)`", lambda named: _WORDS.get(named[1], named[1]), what)
    meta = next((one for one in get_args(found) if isinstance(one, msgspec.Meta)), None)
    if get_origin(found) is Literal and what.startswith("Invalid enum value"):
        word = what.removeprefix("Invalid enum value ").strip("'")
        suggestion = closest.hint(word, get_args(found))
        near = suggestion if "did you mean" in suggestion else ""
        what = f"{word!r} is none of {', '.join(get_args(found))}{near}"
    elif what.startswith(_LACKS):
        what = f"{what.removeprefix(_LACKS)} is missing; write it"
    elif meta and meta.description:
        _, sign, got = what.partition(", got ")
        what = f"expected {meta.description}{sign}{got}"
    else:
        what = f"{what[:1].lower()}{what[1:]}"
    return f"{place}: {what}" if place else what


def bare(kind: object) -> object:
    """Return a type without its bounds."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def kind_at(kind: object, place: str) -> object:
    """Return the type of what stands at a place such as injections[0].name."""
    for key in filter(None, re.split(r"[.\[]", place)):
        struct = struct_of(kind)
        if key.endswith("]"):
            kind = next(iter(get_args(bare(kind))), None)
        elif struct is not None:
            fields = {field.encode_name: field.type for field in msgspec.structs.fields(struct)}
            kind = fields.get(key)
    return kind


def value_at(tree: Json, place: str) -> Json:
    """Return what stands at a place such as configs[0].name, as far as it exists."""
    for key in filter(None, re.split(r"[.\[]", place)):
        if key.endswith("]") and isinstance(tree, list):
            tree = tree[int(key[:-1])]
        elif isinstance(tree, dict):
            tree = tree.get(key)
    return tree


def unknown_keys(
    tree: Json, struct: type[msgspec.Struct], path: str = "", noun: str = "a setting"
) -> Iterator[str]:
    """Yield a sentence for each key that `struct` does not have, at any depth."""
    if not isinstance(tree, dict):
        return
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(struct)}
    for key, value in tree.items():
        where = f"{path}{key}"
        if key not in fields:
            yield f"{where} is not {noun}{closest.hint(str(key), fields)}"
            continue
        inner = struct_of(fields[key])
        if inner is None:
            continue
        if isinstance(value, list):
            for index, entry in enumerate(value):
                yield from unknown_keys(entry, inner, f"{where}[{index}].", noun)
        else:
            yield from unknown_keys(value, inner, f"{where}.", noun)


def struct_of(kind: object) -> type[msgspec.Struct] | None:
    """Return the Struct that a field holds, itself or in a tuple."""
    for candidate in (kind, *get_args(kind)):
        if isinstance(candidate, type) and issubclass(candidate, msgspec.Struct):
            return candidate
    return None
