"""Edits become RFC 6902 operations, each applied to our own copy before it is sent.

kube-apiserver answers a patch that does not apply with an error that no failurePolicy softens, so
the operations are made one by one against the document as the ones before have left it.
"""

from collections.abc import Iterable

from berth.errors import PatchError
from berth.model.edit import Append, Drop, Edit, Put
from berth.model.raw import Json, JsonObject, Path

Operation = dict[str, Json]


def record(document: JsonObject, edits: Iterable[Edit]) -> tuple[list[Operation], JsonObject]:
    """Return the operations that bring `edits` about, and the document that they lead to.

    Edits that hold already give none. `document` is left as it is; what does not change is shared
    with the result. Raises PatchError for an edit whose parent is of another kind.
    """
    operations = []
    result: Json = document
    for edit in _in_place_first(edits):
        operation = _operation(result, edit)
        if operation is not None:
            operations.append(operation)
            result = apply(result, operation)
    if not isinstance(result, dict):
        raise PatchError("the document itself was replaced")
    return operations, result


def _in_place_first(edits: Iterable[Edit]) -> list[Edit]:
    """Order edits so that each path still means what it meant: lists shrink from their end."""
    edits = list(edits)
    drops = [edit for edit in edits if isinstance(edit, Drop)]
    if drops:
        drops.sort(key=lambda drop: drop.path, reverse=True)
    return [
        *(edit for edit in edits if isinstance(edit, Put)),
        *drops,
        *(edit for edit in edits if isinstance(edit, Append)),
    ]


def _operation(document: Json, edit: Edit) -> Operation | None:
    match edit:
        case Put(path, value):
            return _put(document, path, value)
        case Append(path, value):
            there = _find(document, path)
            if there is None:
                return _put(document, path, [value])
            if not isinstance(there, list):
                raise PatchError(f"{pointer(path)} is not a list")
            return {"op": "add", "path": pointer((*path, "-")), "value": value}
        case Drop(path):
            if not _has(document, path):
                return None
            return {"op": "remove", "path": pointer(path)}


def _put(document: Json, path: Path, value: Json) -> Operation | None:
    node = document
    for depth, key in enumerate(path):
        child = _child(node, key)
        if child is None and depth < len(path) - 1:
            return {
                "op": "replace" if _holds(node, key) else "add",
                "path": pointer(path[: depth + 1]),
                "value": _nested(path[depth + 1 :], value),
            }
        if depth == len(path) - 1:
            if not _holds(node, key):
                return {"op": "add", "path": pointer(path), "value": value}
            if type(child) is type(value) and child == value:
                return None
            return {"op": "replace", "path": pointer(path), "value": value}
        node = child
    raise PatchError("an edit without a path")


def _nested(path: Path, value: Json) -> Json:
    for key in reversed(path):
        if isinstance(key, int):
            raise PatchError(f"no list to put entry {key} in")
        value = {key: value}
    return value


def _holds(node: Json, key: str | int) -> bool:
    if isinstance(node, dict) and isinstance(key, str):
        return key in node
    if isinstance(node, list) and isinstance(key, int):
        return 0 <= key < len(node)
    raise PatchError(f"{key!r} cannot be looked up in a {type(node).__name__}")


def _child(node: Json, key: str | int) -> Json:
    if not _holds(node, key):
        return None
    if isinstance(node, dict) and isinstance(key, str):
        return node[key]
    return node[key] if isinstance(node, list) and isinstance(key, int) else None


def _find(document: Json, path: Path) -> Json:
    node = document
    for key in path:
        if node is None:
            return None
        node = _child(node, key)
    return node


def _has(document: Json, path: Path) -> bool:
    parent = _find(document, path[:-1])
    return parent is not None and _holds(parent, path[-1])


def pointer(path: Path) -> str:
    """Write a path as a JSON Pointer (RFC 6901): `~` is escaped before `/`."""
    return "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in path)


def apply(document: Json, operation: Operation) -> Json:
    """Return `document` after one add, replace or remove; only what changes is copied.

    Raises PatchError where RFC 6902 has the operation fail.
    """
    path = operation["path"]
    if not isinstance(path, str) or not path.startswith("/"):
        raise PatchError("an operation without a path")
    keys = [key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/")]
    return _applied(document, keys, operation)


def _applied(node: Json, keys: list[str], operation: Operation) -> Json:
    key, rest = keys[0], keys[1:]
    if isinstance(node, dict):
        if rest or operation["op"] != "add":
            if key not in node:
                raise PatchError(f"nothing stands at {operation['path']}")
        changed = dict(node)
        if rest:
            changed[key] = _applied(node[key], rest, operation)
        elif operation["op"] == "remove":
            del changed[key]
        else:
            changed[key] = operation["value"]
        return changed
    if isinstance(node, list):
        return _applied_to_list(node, keys, operation)
    raise PatchError(f"nothing can stand at {operation['path']}")


def _applied_to_list(node: list[Json], keys: list[str], operation: Operation) -> Json:
    key, rest = keys[0], keys[1:]
    changed = list(node)
    if key == "-" and not rest and operation["op"] == "add":
        changed.append(operation["value"])
        return changed
    if not (key.isascii() and key.isdigit() and int(key) < len(node)):
        raise PatchError(f"nothing stands at {operation['path']}")
    index = int(key)
    if rest:
        changed[index] = _applied(node[index], rest, operation)
    elif operation["op"] == "remove":
        del changed[index]
    elif operation["op"] == "replace":
        changed[index] = operation["value"]
    else:
        changed.insert(index, operation["value"])
    return changed
