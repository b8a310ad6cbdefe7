"""Which of a node's cards belong together: the set with the best links, or of one NUMA node."""

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from berth.model.device import Device
from berth.model.snapshot import Bools, Ints

SETS = 13_000
"""Sets of cards that are looked at: 8 of 16 are 12,870. Where there are more, the first are."""
Links = tuple[tuple[int, ...], ...]


def links_of(devices: tuple[Device, ...]) -> Links:
    """Return how well each card is linked to each, the same value for nodes built alike."""
    return tuple(device.links for device in devices)


def best_set(links: Links, good: Bools, count: int) -> tuple[Ints, float]:
    """Return the `count` good cards with the best links, lowest indices of equals, and their sum.

    There must be as many good ones. `good` may be longer than the node has cards.
    """
    sets, sums = _sets(links, count)
    possible = good[sets].all(axis=1)
    if not possible.any():
        return np.flatnonzero(good)[:count], 0.0
    best = int(np.where(possible, sums, -np.inf).argmax())
    cards: Ints = sets[best]
    return cards, float(sums[best])


@lru_cache(maxsize=256)
def _sets(links: Links, count: int) -> tuple[Ints, NDArray[np.float64]]:
    """Return all sets of so many cards, and the sum of the links within each."""
    cards = len(links)
    some = combinations(range(cards), count)
    sets = np.array(
        [one for one, _ in zip(some, range(min(SETS, comb(cards, count))), strict=False)]
    )
    table = np.array([[*row, *[0] * (cards - len(row))] for row in links], dtype=np.float64)
    return sets, sum(
        (table[sets[:, a], sets[:, b]] for a, b in combinations(range(count), 2)),
        np.zeros(len(sets)),
    )


def of_one_numa(devices: tuple[Device, ...], good: Bools, count: int) -> Bools:
    """Keep the good cards of the first NUMA node that has enough of them; none if none has."""
    for numa in sorted({device.numa for device in devices}):
        here = np.zeros_like(good)
        for card, device in enumerate(devices):
            here[card] = good[card] and device.numa == numa
        if np.count_nonzero(here) >= count:
            return here
    return np.zeros_like(good)
