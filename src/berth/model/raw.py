"""JSON as it came, for the places that must keep what they do not understand."""

from functools import lru_cache
from typing import TypeAlias, Union

# A Union, as `|` cannot join types with the name of one that is still to come.
Json: TypeAlias = Union[  # noqa: UP007
    bool, int, float, str, list["Json"], dict[str, "Json"], None
]
JsonObject: TypeAlias = dict[str, Json]

Path: TypeAlias = tuple[str | int, ...]
"""Where in a document: ("spec", "containers", 0, "env")."""


@lru_cache(maxsize=1024)
def dotted(path: Path) -> str:
    """Write a path as Kubernetes writes field paths: `spec.containers[0].env`."""
    text = ""
    for key in path:
        if isinstance(key, int) or not key.replace("-", "").isalnum():
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text


def child(parent: JsonObject, key: str) -> JsonObject:
    """Return the object at `key`, empty where none is."""
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def annotations(raw: JsonObject) -> JsonObject:
    """Return the annotations of an object, none where they have not their shape."""
    metadata = raw.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}
