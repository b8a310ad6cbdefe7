"""What the API server is told of our CAs, as last seen: between who looks and who decides."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from berth.certs import bundle
from berth.certs.rotation import Seen


@dataclass(slots=True)
class Registered:
    """The caBundle, and two bells: one rung when it was looked at, one when it shall be."""

    watched: bool
    """Somebody looks at it. Else all that we know is when a CA was made."""
    bundle: bytes | None = None
    """What every entry trusts; None before the first look."""
    empty: bool = False
    """No entry was there: nobody is told to call us, and so nobody distrusts us."""
    since: dict[str, datetime] = field(default_factory=dict)
    outdated: bool = True
    """It shall be applied even where it trusts whom it should."""
    tried: bool = False
    """It was looked for, whether or not the API server answered."""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Rung for who decides."""
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    """Rung for who looks and applies."""

    @property
    def seen(self) -> Seen | None:
        """Since when each CA stands there; None where nobody looks."""
        return self.since if self.watched else None

    def looked(self, certificates: Collection[str], now: datetime, *, empty: bool = False) -> None:
        """Note which CAs every entry trusts."""
        before, was_empty = self.bundle, self.empty
        self.empty = empty
        # What was first seen by a clock that was ahead counts from now.
        self.since = {one: min(self.since.get(one, now), now) for one in certificates}
        self.bundle = bundle.join(sorted(certificates))
        if (self.bundle, empty) != (before, was_empty) or not self.tried:
            self.news.set()
        self.tried = True

    def outdate(self) -> None:
        """Have it applied, as more than its CAs is another now."""
        self.outdated = True
        self.wanted.set()

    def failed(self) -> None:
        """Note that a look was tried: what was seen before still counts."""
        if not self.tried:
            self.news.set()
        self.tried = True
