"""Requests that differ as a real API server's do: of one template, no two have the same bytes.

What Pods of one workload differ in is spelt from a number, over as many bytes of the body: the
review's uid, the Pod's name, the volume of the service account's token, and the time of applying.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from benchmarks.pods import RUN, TOKEN_VOLUME

Spelling: TypeAlias = Callable[[int], bytes]

_LETTERS = b"bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes random names of (k8s.io/apimachinery/pkg/util/rand)."""
_PAIRS = [bytes(pair) for pair in product(_LETTERS, repeat=2)]
_HOURS = [b"2025-11-04T%02d" % hour for hour in range(24)]
_SECONDS = [b":%02d:%02dZ" % divmod(second, 60) for second in range(3600)]


@dataclass(frozen=True)
class Template:
    """A body in pieces, and which of them are spelt anew for each number; lengths never change."""

    pieces: tuple[bytes, ...]
    spelt: tuple[tuple[Spelling, tuple[int, ...]], ...]

    def filled(self, number: int) -> bytes:
        """Return the body of this number (0 to 99,999,999)."""
        pieces = list(self.pieces)
        for spell, places in self.spelt:
            text = spell(number)
            for place in places:
                pieces[place] = text
        return b"".join(pieces)


def template(body: bytes, *, unlike: bool) -> Template:
    """Return the template of a review's body, which is compact JSON.

    With `unlike`, the Pods differ in an annotation too, so that none is like one before it.
    """
    review = json.loads(body)["request"]
    found = {_quoted(value): spell for value, spell in _values(review, unlike=unlike)}
    pieces: list[bytes] = []
    spelt: defaultdict[Spelling, list[int]] = defaultdict(list)
    for piece in re.split(b"(" + b"|".join(map(re.escape, found)) + b")", body):
        spell = found.get(piece)
        if spell is None:
            pieces.append(piece)
        else:
            end = len(piece) - 1
            start = end - len(spell(0))
            spelt[spell].append(len(pieces) + 1)
            pieces += [piece[:start], piece[start:end], piece[end:]]
    return Template(tuple(pieces), tuple((spell, tuple(at)) for spell, at in spelt.items()))


def _values(review: dict[str, Any], *, unlike: bool) -> Iterator[tuple[str, Spelling]]:
    """Yield each string of the review whose end is to be spelt, and how."""
    pod = review["object"]
    yield review["uid"], uid
    yield review["name"], name
    for volume in pod["spec"]["volumes"]:
        if volume["name"].startswith(TOKEN_VOLUME):
            yield volume["name"], volume_name
    for entry in pod["metadata"]["managedFields"]:
        yield entry["time"], time
    if unlike:
        yield pod["metadata"]["annotations"][RUN], run


def _quoted(value: str) -> bytes:
    return json.dumps(value).encode()


def uid(number: int) -> bytes:
    """Return a UUID of version 4 (RFC 9562)."""
    return b"%08x-4b0e-4f2d-9a63-0d1f5e8c9b37" % number


def name(number: int) -> bytes:
    """Return five letters, as at the end of a Pod's name; they repeat after 14 million."""
    last = number // 531_441 % 27
    return _PAIRS[number % 729] + _PAIRS[number // 729 % 729] + _LETTERS[last : last + 1]


def volume_name(number: int) -> bytes:
    """Return five letters, as at the end of a token volume; not those of the Pod's name."""
    return name(~number)


def time(number: int) -> bytes:
    """Return a time of RFC 3339, a second later for each number; a day has all there are."""
    return _HOURS[number // 3600 % 24] + _SECONDS[number % 3600]


def run(number: int) -> bytes:
    """Return eight digits."""
    return b"%08d" % number
