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

Ours: TypeAlias = dict[int, Node]
"""The copies made so far, by their identity, which they keep as long as they are in here."""


def record(document: JsonObject, edits: Sequence[Edit]) -> tuple[list[Operation], JsonObject]:
    """Return the operations that bring `edits` about, and the document that they lead to.

    Edits that hold already give none. `document` is left as it is. Raises PatchError for an edit
    whose parent is of another kind.
    """
    result = document.copy()
    ours: Ours = {}
    made = [_put(result, one.path, one.value, ours) for one in edits if type(one) is Put]
    if len(made) < len(edits):
        # Each path shall still mean what it meant: lists shrink from their end, and grow last.
        drops = sorted([one.path for one in edits if type(one) is Drop], key=_rank, reverse=True)
        made += [_drop(result, path, ours) for path in drops]
        made += [_append(result, one, ours) for one in edits if type(one) is Append]
    operations = [one for one in made if one]
    return operations, result if operations else document


@lru_cache(maxsize=1024)
def _rank(path: Path) -> tuple[tuple[bool, str | int], ...]:
    """Return what orders paths, as keys of lists and of objects cannot be compared."""
    return tuple([(isinstance(key, int), key) for key in path])


def _put(document: JsonObject, path: Path, value: Json, ours: Ours) -> Operation | None:
    key = path[-1]
    node = _reach(document, path[:-1], ours)
    if node is None:
        if isinstance(key, int):
            raise PatchError(f"no list to put entry {key} in")
        return _put(document, path[:-1], {key: value}, ours)
    held = holds(node, key)
    if held:
        there: Json = node[key]  # type: ignore[index]  # holds has held the key against the node
        if type(there) is type(value) and there == value:
            return None
    elif isinstance(node, list):
        raise PatchError(f"{pointer(path)} is past the end of its list")
    node[key] = value  # type: ignore[index]  # as above
    return {"op": "replace" if held else "add", "path": pointer(path), "value": value}


def _append(document: JsonObject, edit: Append, ours: Ours) -> Operation | None:
    node = _reach(document, edit.path, ours)
    if node is None:
        return _put(document, edit.path, [edit.value], ours)
    if not isinstance(node, list):
        raise PatchError(f"{pointer(edit.path)} is not a list")
    node.append(edit.value)
    return {"op": "add", "path": pointer((*edit.path, "-")), "value": edit.value}


def _drop(document: JsonObject, path: Path, ours: Ours) -> Operation | None:
    node = _reach(document, path[:-1], ours)
    if node is None or not holds(node, path[-1]):
        return None
    node.pop(path[-1])  # type: ignore[arg-type]  # holds says that it fits
    return {"op": "remove", "path": pointer(path)}


def _reach(document: JsonObject, path: Path, ours: Ours) -> Node | None:
    """Return what stands at `path`, a copy of ours as all above it; None for nothing."""
    node: Node = document
    for key in path:
        try:
            child: Node = node[key]  # type: ignore[index,assignment]  # or an error below
            if id(child) not in ours:
                child = node[key] = child.copy()  # type: ignore[index]  # as above
                ours[id(child)] = child
        except LookupError:
            return None
        except (AttributeError, TypeError):
            if child_of(node, key) is None:
                return None
            raise PatchError(f"nothing can stand below {pointer(path)}") from None
        node = child
    return node
