"""Environment variables of a container: set once, never twice, and kept in the node's hands."""

from collections.abc import Iterator

from berth.model.edit import Append, Change, Drop, Put, Warn
from berth.model.pod import Container
from berth.model.raw import dotted


def put(container: Container, name: str, value: str, why: str) -> Iterator[Change]:
    """Yield the edits after which `name` stands once, with `value`.

    An administrator's policy wins over what the Pod says, as the last of two entries would.
    """
    env = (*container.path, "env")
    places = [index for index, entry in enumerate(container.env) if entry.name == name]
    if not places:
        yield Append(env, {"name": name, "value": value}, why)
        return
    if any(container.env[index].value != value for index in places):
        yield Warn(f"{dotted(env)}: {name} is replaced by {value}: {why}")
    if container.env[places[0]].value != value:
        yield Put((*env, places[0]), {"name": name, "value": value}, why)
    for index in reversed(places[1:]):
        yield Drop((*env, index), f"{name} stands twice")


def drop(container: Container, names: frozenset[str], why: str) -> Iterator[Change]:
    """Yield the edits that take out every entry of `names`."""
    env = (*container.path, "env")
    for index, entry in enumerate(container.env):
        if entry.name in names:
            yield Warn(f"{dotted(env)}: {entry.name} is removed: {why}")
            yield Drop((*env, index), why)
