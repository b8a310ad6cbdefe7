"""Where certificates come from: the one thing that what is given and what is made agree on."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from berth.certs.authority import Pair
from berth.certs.registered import Registered


@dataclass(frozen=True, slots=True)
class Turn:
    """The outcome of one look."""

    pair: Pair | None
    """To be shown from now on; None: what is shown will do."""
    trusted: bytes
    """The PEM bundle that vouches for what is shown, and what soon may be."""
    until: datetime
    """When to look again at the latest."""


class Source(Protocol):
    """Certificates, made or given."""

    async def turn(self, in_use: Pair | None, registered: Registered) -> Turn:
        """Look what is to be done, and do it. Raises UsageError."""

    async def trusted(self, found: Collection[str]) -> bytes:
        """Return what the caBundle shall be, read anew; `found` is there now. Raises UsageError."""

    @property
    def watched(self) -> Sequence[Path]:
        """Files of which a change is news."""
