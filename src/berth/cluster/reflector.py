"""How a store is kept true to the API server: what to ask next, and what each answer means.

Pure: the caller sends what `ask` returns, hands over what comes, and waits when told to. A list
fixes a version; a watch goes on from there, and each event or bookmark moves the version. When the
API server no longer has what came after the version (410), the next list tells what vanished.
"""

from collections.abc import Callable, Mapping
from typing import Generic

import msgspec

from berth.cluster.store import Store
from berth.cluster.wire import Event, Kind, Page
from berth.errors import ReadFailed

_FORBIDDEN_OR_BUSY = (401, 403, 429)  # says nothing against where we stand


class Pace(msgspec.Struct, frozen=True):
    """How much is asked for at a time, and how long is waited; seconds. As client-go has it."""

    page: int = 500
    """Objects in one page of a list: of Pods some 5 MB."""
    watch: tuple[float, float] = (300, 600)
    """A watch ends after so long, at random between these, and is resumed."""
    first: float = 0.8
    """The longest wait after a first failure; it doubles with each further one."""
    most: float = 30
    """The longest wait after many; but for more where the API server says so in Retry-After."""
    quiet: float = 75
    """A watch on which nothing comes for so long is cut: bookmarks come every 60 s."""
    answer: float = 60
    """A page may take so long."""


class Ask(msgspec.Struct, frozen=True):
    """The next GET."""

    query: Mapping[str, str]
    watch: bool


class Reflector(Generic[Kind]):
    """Keeps `store` true."""

    def __init__(self, store: Store[Kind], pace: Pace, random: Callable[[], float]) -> None:
        """Begin with a list; `random` gives numbers from 0 to 1, so that replicas differ."""
        self.lists = 0
        """Lists that were read to the end."""
        self._store = store
        self._pace = pace
        self._random = random
        self._version = ""  # empty: a list is due
        self._rest = ""
        self._read: list[Kind] = []
        self._whole = False
        self._failures = 0

    def ask(self) -> Ask:
        """Return what to ask the API server now."""
        if self._version:
            return Ask(query=self._watch(), watch=True)
        # Without a resourceVersion the list is never older than what we have seen before.
        query = {} if self._whole else {"limit": str(self._pace.page)}
        if self._rest:
            query["continue"] = self._rest
        return Ask(query=query, watch=False)

    def page(self, page: Page[Kind]) -> None:
        """Take the answer to a list; the last page makes the store what the list shows."""
        self._read.extend(page.items)
        self._rest = page.rest
        if not page.rest:
            items = self._read
            self._start_over()
            self._version, self._whole = page.version, False
            self.lists += 1
            self._store.replace(items)

    def event(self, event: Event[Kind]) -> None:
        """Take a line of a watch."""
        self._version = event.version
        self._failures = 0
        if event.object is None:
            return
        if event.deleted:
            self._store.remove(event.object.key)
        else:
            self._store.put(event.object)

    def ended(self, lasted: float) -> float:
        """Take the end of a watch without an error; return the seconds to wait.

        One that lasted is resumed at once. One that ends as it begins, again and again, is a fault.
        """
        if lasted < 1:
            return self._wait()
        self._failures = 0
        return 0

    def failed(self, error: ReadFailed) -> float:
        """Take what went wrong with the last GET; return the seconds to wait."""
        if 400 <= error.status < 500 and error.status not in _FORBIDDEN_OR_BUSY:
            # Pages that expire while they are read would expire again: all at once, then.
            self._whole = error.status == 410 and bool(self._rest)
            self._start_over()
        return max(self._wait(), error.retry_after)

    def _watch(self) -> dict[str, str]:
        least, most = self._pace.watch
        return {
            "watch": "true",
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(least + (most - least) * self._random())),
        }

    def _start_over(self) -> None:
        self._version, self._rest, self._read = "", "", []

    def _wait(self) -> float:
        longest = min(self._pace.most, self._pace.first * 2.0 ** min(self._failures, 16))
        self._failures += 1
        return longest * (1 + self._random()) / 2
