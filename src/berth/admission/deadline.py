"""How long the caller waits: kube-apiserver adds `?timeout=5s` to each call."""

import re
from functools import lru_cache
from urllib.parse import parse_qs

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
# No two of its parts may take the same digit: a thousand of them would be tried for minutes.
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)", re.ASCII)
_LONGEST = 64
"""Characters; Go writes 30 at most."""
_WAY_BACK = 0.05
"""The share of the time that the answer's way to the caller is given."""


@lru_cache(maxsize=64)  # an API server sends the same one with each call
def budget(query: str) -> float | None:
    """Return the seconds in which an answer is of use, or None where the caller names none.

    `query` is the part of the URL after "?"; the value is a duration as Go writes it: "1m30s".
    """
    values = parse_qs(query).get("timeout")
    if not values or len(values[-1]) > _LONGEST:
        return None
    parts = _PART.findall(values[-1])
    if not parts or "".join(number + unit for number, unit in parts) != values[-1]:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts) * (1 - _WAY_BACK)
