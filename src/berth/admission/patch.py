"""Edits become RFC 6902 operations, each applied to our own copy as it is recorded.

kube-apiserver answers a patch that does not apply with an error that no failurePolicy softens, so
each operation is made against the document as the ones before have left it. The copy shares with
the original what no edit touches: copying a whole Pod would cost more than all the rest.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from berth.errors import PatchError
from berth.model.edit import Append, Drop, Edit, Put
from berth.model.raw import Json, JsonObject, Path

Operation = dict[str, Json]
Node: TypeAlias = JsonObject | list[Json]
Ours: TypeAlias = dict[Path, Node]
"""The copies made so far, by the paths that lead to them: edits mostly come to the same places."""
_ONLY_PUTS = {Put}


def record(document: JsonObject, edits: Sequence[Edit]) -> tuple[list[Operation], JsonObject]:
    """Return the operations that bring `edits` about, and the document that they lead to.

    Edits that hold already give none. `document` is left as it is. Raises PatchError for an edit
    whose parent is of another kind.
    """
    result = dict(document)
    ours: Ours = {(): result}
    if {*map(type, edits)} == _ONLY_PUTS:
        found = [_put(ours, edit.path, edit.value) for edit in edits if type(edit) is Put]
    else:
        found = [_applied(ours, edit) for edit in _in_place_first(edits)]
    operations = [one for one in found if one]
    return operations, result if operations else document


def _applied(ours: Ours, edit: Edit) -> Operation | None:
    if isinstance(edit, Put):
        return _put(ours, edit.path, edit.value)
    return _append(ours, edit) if isinstance(edit, Append) else _drop(ours, edit.path)


def _in_place_first(edits: Sequence[Edit]) -> Iterable[Edit]:
    """Order edits so that each path still means what it meant: lists shrink from their end."""
    puts: list[Edit] = []
    drops: list[Drop] = []
    appends: list[Edit] = []
    for edit in edits:
        if isinstance(edit, Drop):
            drops.append(edit)
        else:
            (puts if isinstance(edit, Put) else appends).append(edit)
    if len(drops) > 1:
        drops.sort(key=lambda drop: [(isinstance(k, int), k) for k in drop.path], reverse=True)
    return [*puts, *drops, *appends]


def _put(ours: Ours, path: Path, value: Json) -> Operation | None:
    node = ours.get(path[:-1])
    if node is None:
        node, depth = _reach(ours, path[:-1])
        if depth < len(path) - 1:
            path, value = path[: depth + 1], _nested(path[depth + 1 :], value)
    key = path[-1]
    held = _holds(node, key)
    if held:
        there: Json = node[key]  # type: ignore[index]  # _holds has held the key against the node
        if type(there) is type(value) and there == value:
            return None
        if isinstance(there, (dict, list)):
            _forget(ours, path)
    elif isinstance(node, list):
        raise PatchError(f"{pointer(path)} is past the end of its list")
    node[key] = value  # type: ignore[index]  # as above
    return {"op": "replace" if held else "add", "path": pointer(path), "value": value}


def _append(ours: Ours, edit: Append) -> Operation | None:
    node, depth = _reach(ours, edit.path)
    if depth < len(edit.path):
        return _put(ours, edit.path, [edit.value])
    if not isinstance(node, list):
        raise PatchError(f"{pointer(edit.path)} is not a list")
    node.append(edit.value)
    return {"op": "add", "path": pointer((*edit.path, "-")), "value": edit.value}


def _drop(ours: Ours, path: Path) -> Operation | None:
    node, depth = _reach(ours, path[:-1])
    if depth < len(path) - 1 or not _holds(node, path[-1]):
        return None
    gone: Json = node.pop(path[-1])  # type: ignore[arg-type]  # _holds says that it fits
    if isinstance(node, list) or isinstance(gone, (dict, list)):
        _forget(ours, path)
    return {"op": "remove", "path": pointer(path)}


def _forget(ours: Ours, path: Path) -> None:
    """Forget the copies at `path` and beside it, as what stands there is another from now on."""
    above = path[:-1]
    for known in [one for one in ours if len(one) >= len(path) and one[: len(above)] == above]:
        del ours[known]


def _reach(ours: Ours, path: Path) -> tuple[Node, int]:
    """Return the last node that stands on `path`, a copy of ours, and how deep that is."""
    depth = len(path)
    while path[:depth] not in ours:
        depth -= 1
    node = ours[path[:depth]]
    for key in path[depth:]:
        try:
            child = node[key].copy()  # type: ignore[index,union-attr]  # or it is an error below
        except LookupError:
            break
        except (AttributeError, TypeError):
            if _child(node, key) is None:
                break
            raise PatchError(f"nothing can stand below {pointer(path[: depth + 1])}") from None
        depth += 1
        ours[path[:depth]] = node[key] = node = child  # type: ignore[index]  # as above
    return node, depth


def _nested(path: Path, value: Json) -> Json:
    for key in reversed(path):
        if isinstance(key, int):
            raise PatchError(f"no list to put entry {key} in")
        value = {key: value}
    return value


def _holds(node: JsonObject | list[Json], key: str | int) -> bool:
    if isinstance(node, dict) and isinstance(key, str):
        return key in node
    if isinstance(node, list) and isinstance(key, int):
        return 0 <= key < len(node)
    raise _misled(node, key)


def _misled(node: Node, key: str | int) -> PatchError:
    return PatchError(f"{key!r} cannot be looked up in a {type(node).__name__}")


def _child(node: JsonObject | list[Json], key: str | int) -> Json:
    return node[key] if _holds(node, key) else None  # type: ignore[index]  # _holds says so


def apply(document: Json, operation: Operation) -> Json:
    """Return `document` after one add, replace or remove, for those who are sent a patch.

    Raises PatchError where RFC 6902 has the operation fail.
    """
    op, path = operation.get("op"), operation.get("path")
    if op not in ("add", "replace", "remove") or not isinstance(path, str) or path[:1] != "/":
        raise PatchError("an operation that is none of add, replace and remove at a path")
    *above, last = [key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/")]
    result = node = _copy(document, path)
    for name in above:
        key = name if isinstance(node, dict) else _index(node, name, path)
        child = _copy(_child(node, key), path)
        node[key] = child  # type: ignore[index]  # _child has held the key against the node
        node = child
    if isinstance(node, list) and op == "add" and last in ("-", str(len(node))):
        node.append(operation.get("value"))
        return result
    key = last if isinstance(node, dict) else _index(node, last, path)
    if op != "add" and not _holds(node, key):
        raise PatchError(f"nothing stands at {path}")
    if op == "remove":
        del node[key]  # type: ignore[arg-type]  # as above
    elif op == "add" and isinstance(node, list) and isinstance(key, int):
        node.insert(key, operation.get("value"))
    else:
        node[key] = operation.get("value")  # type: ignore[index]  # as above
    return result


def _copy(node: Json, path: str) -> JsonObject | list[Json]:
    if isinstance(node, (dict, list)):
        return node.copy()
    raise PatchError(f"there is nothing on the way to {path}")


def _index(node: list[Json], key: str, path: str) -> int:
    """Read an array index as RFC 6901 has it: digits without a leading zero."""
    plain = key.isascii() and key.isdigit() and (key == "0" or not key.startswith("0"))
    if not plain or int(key) >= len(node):
        raise PatchError(f"nothing stands at {path}")
    return int(key)


@lru_cache(maxsize=1024)
def pointer(path: Path) -> str:
    """Write a path as a JSON Pointer (RFC 6901): `~` is escaped before `/`."""
    return "".join([f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in path])
