"""When a CA or a leaf is made, trusted, used and let go, in virtual time."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from berth.certs import rotation
from berth.certs.registered import Registered
from berth.certs.rotation import Authority, Leaf, Make, Sign, Stage, Step, Store, Stored, Wait

DAY = timedelta(days=1)
START = datetime(2026, 1, 1, tzinfo=UTC)
TERMS = rotation.Terms(leaf=7 * DAY, settle=timedelta(minutes=1), check=timedelta(seconds=30))


def authority(name: str, begins: datetime = START, leaves_end: datetime = START) -> Authority:
    """Return a CA for a year."""
    return Authority(name, f"key of {name}", begins, begins + 365 * DAY, leaves_end)


ONE = Stored(authority("one"))
LEAF = Leaf("one", START, START + 7 * DAY)


def decide(
    stored: Stored | None,
    leaf: Leaf | None = LEAF,
    seen: Mapping[str, datetime] | None = None,
    after: timedelta = timedelta(0),
) -> Step:
    """Decide at a moment after the start."""
    return rotation.decide(stored, leaf, seen, START + after, TERMS)


def test_the_first_replica_makes_a_ca_and_signs() -> None:
    """The promise of how long the leaf lasts is part of what is written."""
    assert decide(None, None) == Make()
    step = decide(ONE, None, {})
    assert step == Sign(START + 7 * DAY, rotation.promised(ONE, START + 7 * DAY))
    assert isinstance(step, Sign)
    assert step.promise.current.leaves_end == START + 7 * DAY


def test_a_leaf_is_renewed_at_two_thirds_of_its_life() -> None:
    """Not before, and as soon as a machine that slept wakes up."""
    assert isinstance(decide(ONE, after=timedelta(days=14 / 3, seconds=-40)), Wait)
    assert isinstance(decide(ONE, after=timedelta(days=14 / 3)), Sign)
    assert isinstance(decide(ONE, after=100 * DAY), Sign)


def test_we_look_again_at_the_moment_and_else_soon() -> None:
    """At two thirds on the second; without any, when the store may be another."""
    moment = timedelta(days=14 / 3)
    assert decide(ONE, after=moment - timedelta(seconds=9)) == Wait(START + moment)
    assert decide(ONE, after=DAY) == Wait(START + DAY + TERMS.check)


def test_the_next_ca_is_staged_at_two_thirds_and_signs_once_it_has_settled() -> None:
    """Made, seen in the caBundle for a minute, and only then in use."""
    late = 365 * DAY * 2 / 3
    leaf = Leaf("one", START + late - DAY, START + late + 6 * DAY)
    assert isinstance(decide(ONE, leaf, {"one": START}, late), Stage)
    two = rotation.staged(ONE, authority("two", START + late))
    assert isinstance(decide(two, leaf, {"one": START}, late + DAY), Wait)
    seen = {"one": START, "two": START + late}
    assert isinstance(decide(two, leaf, seen, late + timedelta(seconds=59)), Wait)
    step = decide(two, leaf, seen, late + timedelta(seconds=60))
    assert isinstance(step, Store)
    assert step.stored.current.certificate == "two"
    assert [(old.certificate, old.key) for old in step.stored.retired] == [("one", "")]
    assert isinstance(decide(step.stored, leaf, seen, late + timedelta(seconds=60)), Sign)


def test_where_nobody_watches_the_registration_time_alone_counts() -> None:
    """Files outside a cluster: callers read ca.crt again in that time."""
    two = rotation.staged(ONE, authority("two", START + DAY))
    assert isinstance(decide(two, after=DAY), Wait)
    assert isinstance(decide(two, after=DAY + TERMS.settle), Store)


def test_the_old_ca_leaves_after_the_last_leaf_that_it_signed() -> None:
    """By the promise that is written down, whoever signed."""
    old = authority("one", leaves_end=START + 9 * DAY)
    stored = Stored(authority("two"), retired=(old,))
    leaf = Leaf("two", START + 8 * DAY, START + 15 * DAY)
    assert isinstance(decide(stored, leaf, after=9 * DAY), Wait)
    step = decide(stored, leaf, after=9 * DAY + TERMS.settle)
    assert isinstance(step, Store)
    assert step.stored.retired == ()


def test_a_leaf_near_the_end_of_its_ca_is_not_signed_over_and_over() -> None:
    """Where the next CA cannot be published, say: a new leaf would last no longer."""
    leaf = Leaf("one", START + 362 * DAY, START + 365 * DAY)
    stored = rotation.staged(ONE, authority("two", START + 300 * DAY))
    assert isinstance(decide(stored, leaf, {"one": START}, 364.5 * DAY), Wait)


def test_who_slept_through_everything_begins_with_the_next_ca() -> None:
    """Nothing is signed by a CA that has ended, and a next one that has ended too is replaced."""
    assert isinstance(decide(ONE, after=800 * DAY), Stage)
    stored = rotation.staged(ONE, authority("two"))
    assert isinstance(decide(stored, after=800 * DAY), Stage)
    stored = rotation.staged(ONE, authority("three", START + 800 * DAY))
    seen = {"three": START + 800 * DAY}
    assert isinstance(decide(stored, LEAF, seen, 801 * DAY), Store)


@pytest.mark.parametrize("seen", [{"one": START}, {"one": START, "new": START + DAY}])
def test_a_store_that_was_emptied_costs_no_leaf(seen: dict[str, datetime]) -> None:
    """What is remembered is trusted on; the new CA signs for us once it has settled."""
    stored = rotation.remade(authority("new", START + DAY), rotation.promised(ONE, LEAF.ends))
    assert [old.certificate for old in stored.retired] == ["one"]
    assert isinstance(decide(stored, LEAF, seen, DAY), Wait)
    assert isinstance(decide(stored, LEAF, {"one": START, "new": START}, DAY), Sign)


def test_a_ca_that_the_registration_has_lost_is_left_at_once() -> None:
    """Who alone holds a leaf of it gains nothing by waiting."""
    stored = Stored(authority("new", START + DAY))
    assert isinstance(decide(stored, LEAF, {"new": START + DAY}, DAY), Sign)


def test_a_leaf_of_a_clock_that_was_ahead_is_signed_anew() -> None:
    """Nobody takes it yet; an hour is forgiven, as certificates are dated back by that."""
    ahead = Leaf("one", START + DAY, START + 8 * DAY)
    assert isinstance(decide(ONE, ahead, {"one": START}, DAY - rotation.BACK_DATED), Wait)
    step = decide(ONE, ahead, {"one": START}, DAY / 2)
    assert isinstance(step, Sign)
    assert step.ends == START + DAY / 2 + TERMS.leaf


def test_a_ca_of_a_clock_that_was_ahead_signs_nothing_yet() -> None:
    """A new one is made at once; what stands there is trusted on, as leaves of it may be about."""
    later = Stored(authority("later", START + DAY), retired=(authority("one"),))
    assert decide(later, LEAF, {"one": START, "later": START}, DAY / 2) == Make()
    made = rotation.remade(authority("new", START + DAY / 2), ONE, later)
    assert [one.certificate for one in made.retired] == ["one", "later"]
    assert isinstance(decide(made, LEAF, {"one": START, "new": START}, DAY / 2), Sign)


def test_a_next_ca_of_a_clock_that_was_ahead_is_not_waited_for() -> None:
    """It is replaced where the next one is due: else the present one would end without another."""
    late = 365 * DAY * 2 / 3
    leaf = Leaf("one", START + late - DAY, START + late + 6 * DAY)
    stored = rotation.staged(ONE, authority("next", START + late + 30 * DAY))
    seen = {"one": START, "next": START + late}
    assert isinstance(decide(stored, leaf, seen, late + DAY), Stage)
    assert isinstance(decide(stored, leaf, seen, late - DAY), Wait)


def test_what_a_clock_that_was_ahead_saw_counts_from_now() -> None:
    """Or a CA that was seen then would settle as late as that."""
    registered = Registered(watched=True)
    registered.looked(["one"], START + 30 * DAY)
    registered.looked(["one"], START)
    assert registered.seen == {"one": START}
    registered.looked(["one"], START + DAY)
    assert registered.seen == {"one": START}, "a clock that goes on changes nothing"
