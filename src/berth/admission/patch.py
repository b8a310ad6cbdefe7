"""Edits become RFC 6902 operations, each applied to our own copy before it is sent.

kube-apiserver answers a patch that does not apply with an error that no failurePolicy softens, so
the operations are made one by one against the document as the ones before have left it.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from berth.errors import PatchError
from berth.model.edit import Append, Drop, Edit, Put
from berth.model.raw import Json, JsonObject, Path

Operation = dict[str, Json]


class Step(NamedTuple):
    """One operation, its path not yet written as text."""

    op: str
    path: Path
    value: Json = None


def record(document: JsonObject, edits: Iterable[Edit]) -> tuple[list[Operation], JsonObject]:
    """Return the operations that bring `edits` about, and the document that they lead to.

    Edits that hold already give none. `document` is left as it is; what does not change is shared
    with the result. Raises PatchError for an edit whose parent is of another kind.
    """
    operations = []
    result: Json = document
    for edit in _in_place_first(edits):
        step = _step(result, edit)
        if step is not None:
            result = _applied(result, step)
            operations.append(_written(step))
    if not isinstance(result, dict):
        raise PatchError("the document itself was replaced")
    return operations, result


def _in_place_first(edits: Iterable[Edit]) -> list[Edit]:
    """Order edits so that each path still means what it meant: lists shrink from their end."""
    edits = list(edits)
    drops = [edit for edit in edits if isinstance(edit, Drop)]
    if drops:
        drops.sort(key=lambda drop: [(isinstance(k, int), k) for k in drop.path], reverse=True)
    return [
        *(edit for edit in edits if isinstance(edit, Put)),
        *drops,
        *(edit for edit in edits if isinstance(edit, Append)),
    ]


def _step(document: Json, edit: Edit) -> Step | None:
    match edit:
        case Put(path, value):
            return _put(document, path, value)
        case Append(path, value):
            there = _find(document, path)
            if there is None:
                return _put(document, path, [value])
            if not isinstance(there, list):
                raise PatchError(f"{pointer(path)} is not a list")
            return Step("add", (*path, "-"), value)
        case Drop(path):
            parent = _find(document, path[:-1])
            if parent is None or not _holds(parent, path[-1]):
                return None
            return Step("remove", path)


def _put(document: Json, path: Path, value: Json) -> Step | None:
    node = document
    for depth, key in enumerate(path[:-1], 1):
        child = _child(node, key)
        if child is None:
            op = "replace" if _holds(node, key) else "add"
            return Step(op, path[:depth], _nested(path[depth:], value))
        node = child
    key = path[-1]
    if not _holds(node, key):
        return Step("add", path, value)
    there = _child(node, key)
    same = type(there) is type(value) and there == value
    return None if same else Step("replace", path, value)


def _nested(path: Path, value: Json) -> Json:
    for key in reversed(path):
        if isinstance(key, int):
            raise PatchError(f"no list to put entry {key} in")
        value = {key: value}
    return value


def _find(document: Json, path: Path) -> Json:
    node = document
    for key in path:
        if node is None:
            return None
        node = _child(node, key)
    return node


def _holds(node: Json, key: str | int) -> bool:
    if isinstance(node, dict) and isinstance(key, str):
        return key in node
    if isinstance(node, list) and isinstance(key, int):
        return 0 <= key < len(node)
    raise PatchError(f"{key!r} cannot be looked up in a {type(node).__name__}")


def _child(node: Json, key: str | int) -> Json:
    if isinstance(node, dict) and isinstance(key, str):
        return node.get(key)
    if isinstance(node, list) and isinstance(key, int):
        return node[key] if 0 <= key < len(node) else None
    raise PatchError(f"{key!r} cannot be looked up in a {type(node).__name__}")


def apply(document: Json, operation: Operation) -> Json:
    """Return `document` after one add, replace or remove; only what changes is copied.

    Raises PatchError where RFC 6902 has the operation fail.
    """
    op, path = operation.get("op"), operation.get("path")
    if op not in ("add", "replace", "remove") or not isinstance(op, str):
        raise PatchError("an operation that is none of add, replace and remove")
    if not isinstance(path, str) or not path.startswith("/"):
        raise PatchError("an operation without a path")
    keys = (key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/"))
    return _applied(document, Step(op, tuple(keys), operation.get("value")))


def _applied(document: Json, step: Step) -> Json:
    result = node = _copy(document, step)
    for key in step.path[:-1]:
        if isinstance(node, dict):
            child = _copy(node.get(str(key)), step)
            node[str(key)] = child
        else:
            place = _index(node, key, step)
            child = _copy(node[place], step)
            node[place] = child
        node = child
    if isinstance(node, dict):
        _change_object(node, step)
    else:
        _change_list(node, step)
    return result


def _copy(node: Json, step: Step) -> JsonObject | list[Json]:
    if isinstance(node, dict):
        return dict(node)
    if isinstance(node, list):
        return list(node)
    raise PatchError(f"there is nothing on the way to {pointer(step.path)}")


def _change_object(node: JsonObject, step: Step) -> None:
    name = str(step.path[-1])
    if step.op != "add" and name not in node:
        raise PatchError(f"nothing stands at {pointer(step.path)}")
    if step.op == "remove":
        del node[name]
    else:
        node[name] = step.value


def _change_list(node: list[Json], step: Step) -> None:
    key = step.path[-1]
    if step.op == "add" and key in ("-", len(node), str(len(node))):
        node.append(step.value)
        return
    place = _index(node, key, step)
    if step.op == "remove":
        del node[place]
    elif step.op == "replace":
        node[place] = step.value
    else:
        node.insert(place, step.value)


def _index(node: list[Json], key: str | int, step: Step) -> int:
    """Read an array index as RFC 6901 has it: digits without a leading zero."""
    if isinstance(key, str):
        plain = key.isascii() and key.isdigit() and (key == "0" or not key.startswith("0"))
        key = int(key) if plain else -1
    if not 0 <= key < len(node):
        raise PatchError(f"nothing stands at {pointer(step.path)}")
    return key


def _written(step: Step) -> Operation:
    if step.op == "remove":
        return {"op": step.op, "path": pointer(step.path)}
    return {"op": step.op, "path": pointer(step.path), "value": step.value}


@lru_cache(maxsize=1024)
def pointer(path: Path) -> str:
    """Write a path as a JSON Pointer (RFC 6901): `~` is escaped before `/`."""
    return "".join([f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in path])
