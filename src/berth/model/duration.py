"""Lengths of time as people write them: 90s, 5m, 1h30m, 2d."""

import re

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
LONGEST = 64  # no honest one is longer, and hundreds of digits are infinity
_FORM = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)


class NotADuration(ValueError):  # noqa: N818  reads as what it says
    """The text is no length of time."""


def parse(text: str) -> float:
    """Return seconds; a bare number is seconds too. Raises NotADuration."""
    short = len(text) <= LONGEST
    if short and re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return float(text)
    if not short or not _FORM.fullmatch(text):
        raise NotADuration(f"{text[:LONGEST]!r} is no length of time; write 90s, 5m, 1h30m or 2d")
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
