"""The time, for those who are given it; the one reader of the system's clock."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)  # noqa: TID251  this is the place


def timestamp() -> float:
    """Return the present moment in seconds since 1970."""
    return time.time()  # noqa: TID251  this is the place
