"""Log lines that a flood of requests must not turn into a flood of lines."""

import logging
from time import monotonic


class Seldom:
    """Writes an event at most once in a while, and says how often it came meanwhile."""

    def __init__(self, log: logging.Logger, event: str, every: float) -> None:
        """Write `event` as a warning to `log`, at most once in `every` seconds."""
        self._log, self._event, self._every = log, event, every
        self._since: float | None = None
        self._skipped = 0

    def say(self, **fields: object) -> None:
        """Write the event with `fields`, or count it."""
        now = monotonic()
        if self._since is not None and now - self._since < self._every:
            self._skipped += 1
            return
        extra = {**fields, "unsaid": self._skipped} if self._skipped else fields
        self._since, self._skipped = now, 0
        self._log.warning(self._event, extra=extra)
