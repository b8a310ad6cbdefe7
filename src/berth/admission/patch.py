"""Edits become RFC 6902 operations, each applied to our own copy as it is recorded.

kube-apiserver answers a patch that does not apply with an error that no failurePolicy softens, so
each operation is made against the document as the ones before have left it. The copy shares with
the original what no edit touches: copying a whole Pod would cost more than all the rest.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from berth.errors import PatchError
from berth.model.edit import Append, Drop, Edit, Put
from berth.model.raw import Json, JsonObject, Path
from berth.model.rfc6902 import Node, Operation, child_of, holds, pointer

Ours: TypeAlias = "tuple[Node, dict[str | int, Ours]]"
"""A copy that is ours, and by their keys those below it: edits mostly come to the same places."""


def record(document: JsonObject, edits: Sequence[Edit]) -> tuple[list[Operation], JsonObject]:
    """Return the operations that bring `edits` about, and the document that they lead to.

    Edits that hold already give none. `document` is left as it is. Raises PatchError for an edit
    whose parent is of another kind.
    """
    result = dict(document)
    ours: Ours = (result, {})
    made: list[Operation | None] = []
    drops: list[Path] = []
    appends: list[Append] = []
    for edit in edits:
        if type(edit) is Put:
            made.append(_put(ours, edit.path, edit.value))
        elif type(edit) is Drop:
            drops.append(edit.path)
        elif type(edit) is Append:
            appends.append(edit)
    # Each path shall still mean what it meant: lists shrink from their end, and grow last.
    drops.sort(key=_rank, reverse=True)
    made += [_drop(ours, path) for path in drops]
    made += [_append(ours, edit) for edit in appends]
    operations = [one for one in made if one]
    return operations, result if operations else document


@lru_cache(maxsize=1024)
def _rank(path: Path) -> tuple[tuple[bool, str | int], ...]:
    """Return what orders paths, as keys of lists and of objects cannot be compared."""
    return tuple([(isinstance(key, int), key) for key in path])


def _put(ours: Ours, path: Path, value: Json) -> Operation | None:
    (node, below), depth = _reach(ours, path[:-1])
    if depth < len(path) - 1:
        path, value = path[: depth + 1], _nested(path[depth + 1 :], value)
    key = path[-1]
    held = holds(node, key)
    if held:
        there: Json = node[key]  # type: ignore[index]  # holds has held the key against the node
        if type(there) is type(value) and there == value:
            return None
        below.pop(key, None)
    elif isinstance(node, list):
        raise PatchError(f"{pointer(path)} is past the end of its list")
    node[key] = value  # type: ignore[index]  # as above
    return {"op": "replace" if held else "add", "path": pointer(path), "value": value}


def _append(ours: Ours, edit: Append) -> Operation | None:
    (node, _), depth = _reach(ours, edit.path)
    if depth < len(edit.path):
        return _put(ours, edit.path, [edit.value])
    if not isinstance(node, list):
        raise PatchError(f"{pointer(edit.path)} is not a list")
    node.append(edit.value)
    return {"op": "add", "path": pointer((*edit.path, "-")), "value": edit.value}


def _drop(ours: Ours, path: Path) -> Operation | None:
    (node, below), depth = _reach(ours, path[:-1])
    key = path[-1]
    if depth < len(path) - 1 or not holds(node, key):
        return None
    node.pop(key)  # type: ignore[arg-type]  # holds says that it fits
    if isinstance(node, list):
        below.clear()  # what came after it has another place now
    else:
        below.pop(key, None)
    return {"op": "remove", "path": pointer(path)}


def _reach(ours: Ours, path: Path) -> tuple[Ours, int]:
    """Return the last node that stands on `path`, a copy of ours, and how deep that is."""
    for depth, key in enumerate(path):
        node, below = ours
        known = below.get(key)
        if known is None:
            try:
                child = node[key].copy()  # type: ignore[index,union-attr]  # or an error below
            except LookupError:
                return ours, depth
            except (AttributeError, TypeError):
                if child_of(node, key) is None:
                    return ours, depth
                raise PatchError(f"nothing can stand below {pointer(path[: depth + 1])}") from None
            node[key] = child  # type: ignore[index]  # as above
            known = below[key] = (child, {})
        ours = known
    return ours, len(path)


def _nested(path: Path, value: Json) -> Json:
    """Return `value` in the objects that have to stand on `path`. Raises PatchError for a list."""
    for key in reversed(path):
        if isinstance(key, int):
            raise PatchError(f"no list to put entry {key} in")
        value = {key: value}
    return value
