"""What a reflector asks next, and how long it waits; `tests/properties` has what it tells."""

import pytest

from berth.cluster.projections import Metadata, Object
from berth.cluster.reflector import Pace, Reflector
from berth.cluster.store import Store
from berth.cluster.wire import Event, Page
from berth.errors import ReadFailed

PACE = Pace(page=2, watch=(300, 600), first=1, most=8)


def reflector(chance: float = 1.0) -> Reflector[Object]:
    """Return a new one, whose dice always show the same."""
    return Reflector(Store[Object]({}), PACE, lambda: chance)


def synced() -> Reflector[Object]:
    """Return one that has read an empty list at version 7."""
    one = reflector()
    one.page(Page(items=(), version="7"))
    return one


def test_the_first_list_is_in_pages_and_consistent() -> None:
    """No resourceVersion is asked for: the API server answers with the newest."""
    assert reflector().ask().query == {"limit": "2"}


def test_a_page_that_did_not_come_is_asked_for_again() -> None:
    """Pages that were read need not be read twice."""
    one = reflector()
    one.page(Page(items=(), version="7", rest="token"))
    one.failed(ReadFailed("lost"))
    assert one.ask().query == {"limit": "2", "continue": "token"}


def test_pages_that_expired_are_followed_by_a_list_in_one_piece() -> None:
    """And the list after that one is in pages again."""
    one = reflector()
    one.page(Page(items=(), version="7", rest="token"))
    one.failed(ReadFailed("expired", 410))
    assert one.ask().query == {}
    one.page(Page(items=(), version="8"))
    one.failed(ReadFailed("too old", 410))
    assert one.ask().query == {"limit": "2"}


def test_a_token_that_the_server_does_not_understand_is_dropped() -> None:
    """400, say after a restore: the list begins again."""
    one = reflector()
    one.page(Page(items=(), version="7", rest="token"))
    one.failed(ReadFailed("continue key is not valid", 400))
    assert one.ask().query == {"limit": "2"}


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, "300"), (0.5, "450"), (1.0, "600")])
def test_a_watch_asks_for_bookmarks_and_an_end_of_its_own(chance: float, seconds: str) -> None:
    """At random between the bounds, so that not all watches are resumed at once."""
    one = reflector(chance)
    one.page(Page(items=(), version="7"))
    assert one.ask().watch
    assert one.ask().query == {
        "watch": "true",
        "resourceVersion": "7",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": seconds,
    }


def test_a_watch_goes_on_from_the_last_event_or_bookmark() -> None:
    """A quiet resource does not fall out of the server's history."""
    one = synced()
    one.event(Event(version="8", object=Object(metadata=Metadata(name="a"))))
    assert one.ask().query["resourceVersion"] == "8"
    one.event(Event(version="90"))
    assert one.ask().query["resourceVersion"] == "90"


@pytest.mark.parametrize("status", [0, 401, 403, 429, 500, 503, 504])
def test_what_says_nothing_against_our_version_keeps_it(status: int) -> None:
    """No new list for a lost connection, a missing right or a busy server."""
    one = synced()
    one.failed(ReadFailed("no", status))
    assert one.ask().query["resourceVersion"] == "7"


@pytest.mark.parametrize("status", [400, 404, 410, 422])
def test_what_says_that_our_version_is_of_no_use_makes_a_new_list(status: int) -> None:
    """410 above all."""
    one = synced()
    one.failed(ReadFailed("no", status))
    assert not one.ask().watch


def test_waits_double_up_to_a_bound_and_start_anew_after_an_event() -> None:
    """With the dice at their highest: each wait is the longest that there may be."""
    one = synced()
    assert [one.failed(ReadFailed("lost")) for _ in range(5)] == [1, 2, 4, 8, 8]
    one.event(Event(version="8"))
    assert one.failed(ReadFailed("lost")) == 1


def test_waits_differ_by_half() -> None:
    """So that those whom one outage hit do not all come back at once."""
    assert reflector(0.0).failed(ReadFailed("lost")) == 0.5
    assert reflector(1.0).failed(ReadFailed("lost")) == 1


def test_a_list_between_two_410s_does_not_shorten_the_waits() -> None:
    """Else a server that can list and not watch would be listed without end."""
    one = synced()
    waits = []
    for _ in range(3):
        waits.append(one.failed(ReadFailed("too old", 410)))
        one.page(Page(items=(), version="7"))
    assert waits == [1, 2, 4]


def test_retry_after_is_the_least_that_is_waited() -> None:
    """Also where it is longer than our own bound."""
    assert reflector().failed(ReadFailed("busy", 429, retry_after=60)) == 60
    assert reflector().failed(ReadFailed("busy", 429, retry_after=0.1)) == 1


def test_a_watch_that_lasted_is_resumed_at_once_and_a_short_one_is_not() -> None:
    """A proxy that ends each watch as it begins is not asked in a loop."""
    one = synced()
    assert [one.ended(lasted=0.5) for _ in range(3)] == [1, 2, 4]
    assert one.ended(lasted=300) == 0
    assert one.ended(lasted=0.5) == 1
