"""The time, for those who are given it; the one reader of the system's clock."""

from datetime import UTC, datetime


def now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)  # noqa: TID251  this is the place
