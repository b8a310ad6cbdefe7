"""What an API server answers to lists and watches, as bytes, from a history that may be cut off."""

import json
from dataclasses import dataclass, field
from typing import Any

from berth.errors import ReadFailed

Raw = dict[str, Any]
Key = tuple[str, str]


@dataclass
class ApiServer:
    """Objects with a uid, a version and a colour; every state that there ever was."""

    version: int = 1
    states: dict[int, dict[Key, Raw]] = field(default_factory=lambda: {1: {}})
    events: list[tuple[int, str, Raw]] = field(default_factory=list)
    oldest: int = 1
    """Before this version nothing is known any more."""

    @property
    def now(self) -> dict[Key, Raw]:
        """What is there now."""
        return self.states[self.version]

    def write(self, key: Key, colour: str | None) -> None:
        """Create or change an object, or delete it where `colour` is None."""
        self.version += 1
        state = dict(self.states[self.version - 1])
        old = state.pop(key, None)
        uid = old["metadata"]["uid"] if old else f"uid-{self.version}"
        new = {
            "metadata": {
                "namespace": key[0],
                "name": key[1],
                "uid": uid,
                "resourceVersion": str(self.version),
                "labels": {"colour": colour or "gone"},
            }
        }
        if colour is not None:
            state[key] = new
        self.states[self.version] = state
        if colour is not None or old is not None:
            type_ = "DELETED" if colour is None else "MODIFIED" if old else "ADDED"
            self.events.append((self.version, type_, new))

    def compact(self) -> None:
        """Forget all states but the present one."""
        self.oldest = self.version

    def page(self, query: dict[str, str]) -> bytes:
        """Answer a list. Raises ReadFailed where the token is of a state that is forgotten."""
        version, start = self.version, 0
        if "continue" in query:
            version, start = map(int, query["continue"].split("/"))
        if version < self.oldest:
            raise ReadFailed("the token is too old", 410)
        items = [self.states[version][key] for key in sorted(self.states[version])]
        end = start + int(query.get("limit", len(items) or 1))
        rest = f"{version}/{end}" if end < len(items) else ""
        metadata = {"resourceVersion": str(version), "continue": rest}
        return json.dumps({"items": items[start:end] or None, "metadata": metadata}).encode()

    def lines(self, version: int) -> list[bytes]:
        """Answer a watch from `version`: events and a bookmark; or that they are gone."""
        if version < self.oldest:
            return [_line("ERROR", {"kind": "Status", "code": 410, "message": "too old"})]
        events = [(type_, object_) for at, type_, object_ in self.events if at > version]
        bookmark = {"metadata": {"resourceVersion": str(self.version)}}
        return [_line(type_, each) for type_, each in (*events, ("BOOKMARK", bookmark))]


def _line(type_: str, object_: Raw) -> bytes:
    return json.dumps({"type": type_, "object": object_}).encode()
