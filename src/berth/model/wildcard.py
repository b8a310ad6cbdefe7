"""Names in settings: one that ends in * stands for all that begin so."""

from collections.abc import Iterable

EVERY = "*"


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns, such as "team-*", stands for this name."""
    return any(name.startswith(one[:-1]) if one[-1:] == "*" else name == one for one in patterns)
