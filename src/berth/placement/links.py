"""Which cards of a node belong together: by how they are linked, and by NUMA node.

Links are HAMi's pair scores: 10 for each step of PCIe that two cards share, 100 for each NVLink.
Few clusters announce them, so cards known to be of one NUMA node count as a little nearer: less
than one step, so that it never outweighs a link.
"""

from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from berth.model.device import Device
from berth.model.snapshot import Bools, Floats, Ints, Snapshot

SETS = 13_000
"""Sets of cards that are looked at: 8 of 16 are 12,870. Where there are more, the first are."""
NUMA = 5
"""What it counts that two cards are of one NUMA node."""
Table = tuple[tuple[int, ...], ...]
"""How near each card of a node is to each other."""


def table_of(devices: tuple[Device, ...]) -> Table:
    """Return how near the cards of a node are, the same value for nodes that are built alike."""
    cards = len(devices)
    return tuple(
        tuple(
            (one.links[other] if other < len(one.links) else 0)
            + NUMA * (one.numa >= 0 and one.numa == devices[other].numa)
            for other in range(cards)
        )
        for one in devices
    )


class Tables:
    """The table of each row, made when first asked for and again when its node is another."""

    def __init__(self) -> None:
        """Know none."""
        self._of: dict[int, tuple[tuple[Device, ...], Table]] = {}

    def of(self, snapshot: Snapshot, row: int) -> Table:
        """Return how near a node's cards are."""
        devices = snapshot.nodes[row].devices
        known = self._of.get(row)
        if known is None or known[0] is not devices:
            known = self._of[row] = devices, table_of(devices)
        return known[1]


def best_sets(snapshot: Snapshot, rows: Ints, good: Bools, count: int) -> tuple[Ints, Floats]:
    """Return, for each row, the `count` good cards that are nearest, and how near they are in sum.

    Of equal sets the one of the lowest indices. Rows without as many good cards get others.
    """
    tables = snapshot.keep("links", lambda _: Tables())
    each = [
        _best(tables.of(snapshot, row), here.tobytes(), count)
        for row, here in zip(rows.tolist(), good, strict=True)
    ]
    cards: Ints = np.array([cards for cards, _ in each], dtype=np.int64).reshape(len(rows), count)
    return cards, np.array([near for _, near in each])


@lru_cache(maxsize=16_384)
def _best(table: Table, here: bytes, count: int) -> tuple[tuple[int, ...], float]:
    """Return the best set of the cards that are good, of which `here` has a byte each."""
    sets, sums = _sets(table, count)
    good = np.frombuffer(here, dtype=np.bool_)
    possible = good[sets].all(axis=1)
    if not possible.any():
        return tuple([*np.flatnonzero(good).tolist(), *[0] * count][:count]), 0.0
    best = int(np.where(possible, sums, -np.inf).argmax())
    return tuple(sets[best].tolist()), float(sums[best])


@lru_cache(maxsize=256)
def _sets(table: Table, count: int) -> tuple[Ints, Floats]:
    """Return all sets of so many cards, as indices, and how near each is in sum."""
    cards = len(table)
    some = zip(
        combinations(range(cards), count), range(min(SETS, comb(cards, count))), strict=False
    )
    sets = np.array([one for one, _ in some], dtype=np.int64).reshape(-1, count)
    near = np.array(table, dtype=np.float64).reshape(cards, cards)
    pairs = combinations(range(count), 2)
    sums = sum((near[sets[:, a], sets[:, b]] for a, b in pairs), np.zeros(len(sets)))
    return sets, sums


def nearness(snapshot: Snapshot, rows: Ints, good: Bools) -> Ints:
    """Return, for each card, how near it is to the other good cards of its node in sum."""
    tables = snapshot.keep("links", lambda _: Tables())
    near = np.zeros(good.shape, dtype=np.int64)
    for at, row in enumerate(rows.tolist()):
        table = np.array(tables.of(snapshot, row), dtype=np.int64)
        cards = len(table)
        if cards:
            near[at, :cards] = table @ good[at, :cards] - np.diagonal(table)
    return near
