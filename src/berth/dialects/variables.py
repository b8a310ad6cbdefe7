"""Environment variables of a container: set once, never twice, and kept in the node's hands."""

from collections.abc import Iterator

from berth.model.edit import Append, Change, Drop, Put
from berth.model.pod import Container
from berth.model.said import Facts, Said


def put(container: Container, name: str, value: str, why: Said) -> Iterator[Change]:
    """Yield the edits after which `name` stands once, with `value`.

    An administrator's policy wins over what the Pod says, as the last of two entries would.
    """
    env = (*container.path, "env")
    places = container.places(name)
    if not places:
        yield Append(env, {"name": name, "value": value}, why)
        return
    if any(container.value(index) != value for index in places):
        facts: Facts = {"path": env, "name": name, "value": value, "why": why}
        yield Said("replaced.variable", facts)
    if container.value(places[0]) != value:
        yield Put((*env, places[0]), {"name": name, "value": value}, why)
    for index in reversed(places[1:]):
        yield Drop((*env, index), Said("why.twice", {"name": name}))


def drop(container: Container, names: frozenset[str], why: Said) -> Iterator[Change]:
    """Yield the edits that take out every entry of `names`."""
    env = (*container.path, "env")
    for name in sorted(names & container.env_names):
        yield Said("removed.variable", {"path": env, "name": name, "why": why})
        for index in container.places(name):
            yield Drop((*env, index), why)
