"""The operations of RFC 6902 that a patch of ours is made of, and what they make of a document."""

from functools import lru_cache
from typing import TypeAlias

from berth.errors import PatchError
from berth.model.raw import Json, JsonObject, Path

Operation: TypeAlias = dict[str, Json]
Node: TypeAlias = JsonObject | list[Json]


def holds(node: Node, key: str | int) -> bool:
    """Whether something stands at `key`. Raises PatchError for a key of the wrong kind."""
    if isinstance(node, dict) and isinstance(key, str):
        return key in node
    if isinstance(node, list) and isinstance(key, int):
        return 0 <= key < len(node)
    raise misled(node, key)


def misled(node: Node, key: str | int) -> PatchError:
    """Return the error of a key of the wrong kind."""
    return PatchError(f"{key!r} cannot be looked up in a {type(node).__name__}")


def child_of(node: Node, key: str | int) -> Json:
    """Return what stands at `key`, None for nothing. Raises PatchError like `holds`."""
    return node[key] if holds(node, key) else None  # type: ignore[index]  # holds says so


def apply(document: Json, operation: Operation) -> Json:
    """Return `document` after one add, replace or remove, for those who are sent a patch.

    Raises PatchError where RFC 6902 has the operation fail.
    """
    op, path = operation.get("op"), operation.get("path")
    if op not in ("add", "replace", "remove") or not isinstance(path, str) or path[:1] != "/":
        raise PatchError("an operation that is none of add, replace and remove at a path")
    *above, last = map(unescaped, path[1:].split("/"))
    result = node = _copy(document, path)
    for name in above:
        key = name if isinstance(node, dict) else _index(node, name, path)
        child = _copy(child_of(node, key), path)
        node[key] = child  # type: ignore[index]  # child_of has held the key against the node
        node = child
    if isinstance(node, list) and op == "add" and last in ("-", str(len(node))):
        node.append(operation.get("value"))
        return result
    key = last if isinstance(node, dict) else _index(node, last, path)
    if op != "add" and not holds(node, key):
        raise PatchError(f"nothing stands at {path}")
    if op == "remove":
        del node[key]  # type: ignore[arg-type]  # as above
    elif op == "add" and isinstance(node, list) and isinstance(key, int):
        node.insert(key, operation.get("value"))
    else:
        node[key] = operation.get("value")  # type: ignore[index]  # as above
    return result


def unescaped(key: str) -> str:
    """Read a part of a JSON Pointer (RFC 6901)."""
    return key.replace("~1", "/").replace("~0", "~")


def _copy(node: Json, path: str) -> Node:
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
