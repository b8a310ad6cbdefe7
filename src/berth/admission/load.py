"""How much work is taken on at once: requests in flight, and bytes of their bodies."""

import asyncio
import contextlib
from dataclasses import dataclass, field

from berth.settings import Server

_SLOW_SECONDS = 0.005
"""Some twenty times what a decision takes."""


@dataclass(slots=True)
class Load:
    """What is under way now."""

    in_flight: int = 0
    bytes_held: int = 0
    """Of bodies, as far as they have come."""
    slow: bool = False
    """Whether the last request took so long that others come meanwhile."""
    ending: bool = False
    """Whether the process is about to end: callers are asked to go elsewhere."""
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once nothing is under way any more, after `ending` was."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by one large body at a time: what it is parsed to may take twenty times its size."""

    def full(self, announced: int, limits: Server) -> str | None:
        """Return the limit that a request with so many bytes to come would pass now, or None.

        It is "in_flight" or "bytes", as the log names it.
        """
        if self.in_flight >= limits.most_in_flight:
            return "in_flight"
        if self.bytes_held + announced > limits.most_bytes_held:
            return "bytes"
        return None

    def begin(self) -> None:
        """Begin a request."""
        self.in_flight += 1

    def hold(self, size: int, limits: Server) -> bool:
        """Hold bytes that have come, if there is room for them."""
        if self.bytes_held + size > limits.most_bytes_held:
            return False
        self.bytes_held += size
        return True

    def give_back(self, size: int) -> None:
        """Hold these bytes no more."""
        self.bytes_held -= size

    def end(self, size: int, seconds: float) -> None:
        """End a request that took `seconds` and held `size` bytes."""
        self.slow = seconds > _SLOW_SECONDS
        self.in_flight -= 1
        self.bytes_held -= size
        if self.ending and not self.in_flight:
            self.idle.set()

    async def drained(self, seconds: float) -> None:
        """Return when nothing is under way any more, or after `seconds`."""
        if self.in_flight:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.idle.wait()
