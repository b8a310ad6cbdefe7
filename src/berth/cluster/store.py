"""Objects by namespace and name, with indexes, and those who are told of each change."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Generic, TypeAlias

from berth.cluster.projections import Object
from berth.cluster.wire import Kind

LOG = logging.getLogger("berth.watch")

Key: TypeAlias = tuple[str, str]
Index: TypeAlias = Callable[[Kind], Iterable[str]]
"""Gives the values under which an object is to be found: its node, say; none, one or several."""
NAMESPACE = "namespace"
BY_NAMESPACE: Mapping[str, Index[Object]] = {NAMESPACE: lambda one: [one.metadata.namespace]}
"""The index of objects by their namespace."""
Handler: TypeAlias = Callable[[Kind | None, Kind | None], None]
"""Is told (old, new): of what is new with no old, of what is gone with no new.

Called when the store has changed already, one change after the other, and may not wait.
"""


class Store(Generic[Kind]):
    """What is known of one resource. One object of each key; another uid is another object."""

    def __init__(self, indexes: Mapping[str, Index[Kind]]) -> None:
        """Start empty, with `indexes` by name."""
        self._objects: dict[Key, Kind] = {}
        self._indexes = indexes
        self._found: dict[str, dict[str, dict[Key, Kind]]] = {name: {} for name in indexes}
        self._handlers: list[Handler[Kind]] = []

    def __len__(self) -> int:
        """Count the objects."""
        return len(self._objects)

    def __iter__(self) -> Iterator[Kind]:
        """Go through all objects as they are now."""
        return iter(tuple(self._objects.values()))

    def get(self, namespace: str, name: str) -> Kind | None:
        """Return one object, or None where there is none."""
        return self._objects.get((namespace, name))

    def by(self, index: str, value: str) -> Collection[Kind]:
        """Return the objects that `index` gives this value."""
        return tuple(self._found[index].get(value, {}).values())

    def listen(self, handler: Handler[Kind]) -> None:
        """Tell `handler` of all that is here, as new, and from now on of each change."""
        for each in self:
            _tell(handler, None, each)
        self._handlers.append(handler)

    def put(self, new: Kind) -> None:
        """Take an object as it is now."""
        old = self._objects.get(new.key)
        if old is not None and old.metadata.uid != new.metadata.uid:
            self._change(old, None)  # deleted and made again, and we saw no more than the end
            old = None
        if old is None or old.metadata.resource_version != new.metadata.resource_version:
            self._change(old, new)

    def remove(self, key: Key) -> None:
        """Forget an object; nothing happens where there is none."""
        old = self._objects.get(key)
        if old is not None:
            self._change(old, None)

    def replace(self, objects: Iterable[Kind]) -> None:
        """Take a whole list: what is not in it is gone, and what is as before has not changed."""
        listed = {each.key: each for each in objects}
        for key in [key for key in self._objects if key not in listed]:
            self.remove(key)
        for each in listed.values():
            self.put(each)

    def _change(self, old: Kind | None, new: Kind | None) -> None:
        if old is not None:
            del self._objects[old.key]
        if new is not None:
            self._objects[new.key] = new
        for name, values in self._indexes.items():
            _move(self._found[name], values, old, new)
        for handler in self._handlers:
            _tell(handler, old, new)


def _move(
    found: dict[str, dict[Key, Kind]], values: Index[Kind], old: Kind | None, new: Kind | None
) -> None:
    if old is not None:
        for value in set(values(old)):
            del found[value][old.key]
            if not found[value]:
                del found[value]
    if new is not None:
        for value in set(values(new)):
            found.setdefault(value, {})[new.key] = new


def _tell(handler: Handler[Kind], old: Kind | None, new: Kind | None) -> None:
    try:
        handler(old, new)
    except Exception:
        # A fault of one listener must cost neither the others nor the watch.
        LOG.exception("watch.handler_fault")
