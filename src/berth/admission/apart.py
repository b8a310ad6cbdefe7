"""Operations of edits that do not meet: read off the document, of which nothing has to be copied.

Nearly all are such: each puts or drops one value of an object that stands there, or is the first to
need it. Whatever is not plainly so goes the long way, `patch.record`, with the same outcome.
"""

from collections.abc import Sequence
from functools import reduce
from operator import getitem
from typing import TypeAlias

from berth.admission import patch
from berth.errors import PatchError
from berth.model.edit import Append, Edit, Put
from berth.model.raw import Json, JsonObject, Path
from berth.model.rfc6902 import Operation, holds, pointer

Found: TypeAlias = dict[Path, Operation | None]
"""The operation at each place, None where an edit holds already."""


class _MeetError(Exception):
    """These edits have to be made one after the other."""


def operations(document: JsonObject, edits: Sequence[Edit]) -> list[Operation]:
    """Return the operations of `patch.record`. Raises PatchError like it."""
    try:
        return _apart(document, edits)
    except (_MeetError, PatchError):  # the long way says what is wrong
        return patch.record(document, edits)[0]


def _apart(document: JsonObject, edits: Sequence[Edit]) -> list[Operation]:
    if Append in map(type, edits):
        raise _MeetError
    found: Found = {}
    for edit in patch.in_place_first(edits):
        path = edit.path
        try:
            node: Json = reduce(getitem, path[:-1], document)  # type: ignore[arg-type]  # as said
        except (LookupError, TypeError):  # nothing stands there, or what has no such place
            node = None
        operation: Operation | None
        if type(edit) is not Put:
            operation = _drop(node, path)
        elif node is None:
            path, operation = _first(document, found, path, edit.value)
        else:
            operation = _put(node, path, edit.value)
        if path in found:
            raise _MeetError
        found[path] = operation
    return [one for one in found.values() if one]


def _put(node: Json, path: Path, value: Json) -> Operation | None:
    key = path[-1]
    if type(node) is not dict or type(key) is not str:
        raise _MeetError
    if key not in node:
        return {"op": "add", "path": pointer(path), "value": value}
    there = node[key]
    if isinstance(there, (dict, list)):  # another edit may reach into it
        raise _MeetError
    if type(there) is type(value) and there == value:
        return None
    return {"op": "replace", "path": pointer(path), "value": value}


def _drop(node: Json, path: Path) -> Operation:
    key = path[-1]
    if type(node) is not dict or type(key) is not str:
        raise _MeetError
    if isinstance(node.get(key, {}), (dict, list)):  # or nothing, unless an edit has put it there
        raise _MeetError
    return {"op": "remove", "path": pointer(path)}


def _first(
    document: JsonObject, found: Found, path: Path, value: Json
) -> tuple[Path, Operation | None]:
    """Return the operation of the first edit that needs a parent, or of one beside the first."""
    node: Json = document
    depth = 0
    while isinstance(node, (dict, list)) and holds(node, path[depth]):
        child: Json = node[path[depth]]  # type: ignore[index]  # holds says so
        if child is None:
            break
        node, depth = child, depth + 1
    place, rest = path[: depth + 1], path[depth + 1 :]
    if place not in found:
        return place, _put(node, place, patch.nested(rest, value))
    made = found[place]
    try:
        beside: Json = reduce(getitem, rest[:-1], (made or {})["value"])  # type: ignore[arg-type]
    except (LookupError, TypeError):
        raise _MeetError from None
    return path, _put(beside, path, value)
