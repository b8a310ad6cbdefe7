"""The store alone: who is told what."""

import pytest

from berth.cluster.projections import Metadata, Object
from berth.cluster.store import Store


def thing(name: str, uid: str = "u", version: str = "1", colour: str = "red") -> Object:
    """Return an object."""
    labels = {"colour": colour}
    return Object(
        metadata=Metadata(
            namespace="a", name=name, uid=uid, resource_version=version, labels=labels
        )
    )


class Listener(list[tuple[Object | None, Object | None]]):
    """Everything that it was told."""

    def __call__(self, old: Object | None, new: Object | None) -> None:
        """Take one change."""
        self.append((old, new))


@pytest.fixture
def store() -> Store[Object]:
    """Give an empty store that finds objects by colour."""
    return Store({"colour": lambda each: [each.metadata.labels["colour"]]})


def test_who_comes_late_is_told_of_all_that_is_here(store: Store[Object]) -> None:
    """As new, and then of what happens."""
    store.put(thing("x"))
    told = Listener()
    store.listen(told)
    store.remove(("a", "x"))
    assert told == [(None, thing("x")), (thing("x"), None)]


def test_a_list_tells_only_what_is_other_than_before(store: Store[Object]) -> None:
    """Of 5,000 Pods after an outage, those few that changed."""
    kept, changed, gone = thing("kept"), thing("changed"), thing("gone")
    store.replace([kept, changed, gone])
    told = Listener()
    for each in (kept, changed, gone):
        store.put(each)
    store.listen(told)
    told.clear()
    newer, new = thing("changed", version="2"), thing("new")
    store.replace([kept, newer, new])
    assert told == [(gone, None), (changed, newer), (None, new)]


def test_the_same_name_with_another_uid_is_another_object(store: Store[Object]) -> None:
    """A Pod of a StatefulSet that was replaced while nobody looked: gone, and new."""
    told = Listener()
    store.listen(told)
    first, second = thing("x", uid="1"), thing("x", uid="2", version="9")
    store.put(first)
    store.put(second)
    assert told == [(None, first), (first, None), (None, second)]


def test_an_index_follows_changes_and_forgets(store: Store[Object]) -> None:
    """By the old value nothing is found any more."""
    store.put(thing("x"))
    blue = thing("x", version="2", colour="blue")
    store.put(blue)
    assert store.by("colour", "red") == ()
    assert store.by("colour", "blue") == (blue,)
    store.remove(("a", "x"))
    assert store.by("colour", "blue") == ()


def test_an_index_may_give_a_value_twice() -> None:
    """Two containers of one Pod that ask for the same resource."""
    store = Store[Object]({"twice": lambda each: [each.metadata.uid] * 2})
    store.put(thing("x", uid="1"))
    assert store.by("twice", "1") == (thing("x", uid="1"),)
    store.remove(("a", "x"))
    assert store.by("twice", "1") == ()


def test_a_listener_that_fails_costs_the_others_nothing(store: Store[Object]) -> None:
    """The store has the change, and the next listener hears of it."""

    def fails(_old: Object | None, _new: Object | None) -> None:
        raise RuntimeError

    told = Listener()
    store.listen(fails)
    store.listen(told)
    store.put(thing("x"))
    assert told == [(None, thing("x"))]
    assert store.get("a", "x") == thing("x")


def test_listeners_see_the_store_as_it_is_after_the_change(store: Store[Object]) -> None:
    """So that a count made there is right."""
    counts: list[int] = []
    store.listen(lambda _old, _new: counts.append(len(store.by("colour", "red"))))
    store.replace([thing("x"), thing("y")])
    store.remove(("a", "x"))
    assert counts == [1, 2, 1]
