"""How often each node can still carry each request that comes often, kept up to date by events.

A column is a request apart from which models it accepts: Pods that differ in that alone share it.
"""

from typing import Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from berth.model.request import DeviceRequest, Shape
from berth.model.snapshot import Ints, Snapshot
from berth.placement.cards import NEVER, need

Table = NDArray[np.float32]
"""Rows by columns. Whole numbers, small enough to be exact."""
HALF = np.float32(0.5)
"""Added before a division is cut to a whole number, so that rounding cannot make it one less."""


class Columns(msgspec.Struct, frozen=True):
    """Requests without their models, one per place."""

    keys: tuple[Shape, ...]
    cpu: Table
    count: Table
    most: Table
    """How often one card counts: any number of times for a share, once for one of several."""
    wants: Table
    """Kinds of card, the last for none, by columns: milli of a card, infinite if impossible."""
    takes: Table
    """Likewise: milli in all of a node, 0 if impossible."""
    several: Ints
    """The places of those that want several cards."""

    @classmethod
    def of(cls, keys: tuple[Shape, ...], snapshot: Snapshot) -> Self:
        """Lay out these shapes, all of which want cards."""
        milli = np.array([need(key.request, snapshot).milli for key in keys if key.request])
        milli = milli.reshape(len(keys), len(snapshot.kinds) + 1).T
        count = np.array([key.request.count for key in keys if key.request], dtype=np.float32)
        return cls(
            keys=keys,
            cpu=np.array([max(key.cpu_milli, 1e-6) for key in keys], dtype=np.float32),
            count=count,
            most=np.where(count > 1, 1, np.inf).astype(np.float32),
            wants=np.where(milli < NEVER, milli, np.inf).astype(np.float32),
            takes=np.where(milli < NEVER, milli * count, 0).astype(np.float32),
            several=np.flatnonzero(count > 1),
        )

    def of_cards(self, left: Ints, kind: Ints) -> tuple[Table, Table]:
        """Return, for rows by cards in this state, how often they count and what is usable.

        Both are added up over the cards: how many requests they carry (or cards that suffice),
        and the milli left on those that carry one.
        """
        some = left.astype(np.float32)[:, :, None]
        times = np.minimum(np.floor((some + HALF) / self.wants[kind]), self.most)
        return times.sum(axis=1), (some * (times > 0)).sum(axis=1)

    def slots(self, times: Table, cpu: Ints) -> Table:
        """Return how many requests a node carries, by its cards and its CPU."""
        by_cpu = (cpu.clip(min=0).astype(np.float32)[:, None] + HALF) / self.cpu
        slots: Table = np.floor(np.minimum((times + HALF) / self.count, by_cpu))
        return slots

    def most_of_several(self, kinds: Ints) -> Ints:
        """Return, for rows by cards, how many suffice for each that wants several, if idle."""
        most: Ints = np.isfinite(self.wants[:, self.several])[kinds].sum(axis=1)
        return most

    def prospects(self, times: Table, cpu: Ints, most: Ints) -> Table:
        """Return how many of those that want several a node carries, now or once others have left.

        The next group counts half for each card, with CPU for all of it, that it lacks, as others
        are to leave first, and nothing where it wants more cards than there are: `most`.
        """
        some, count = self.several, self.count[self.several]
        with_cpu = np.floor((cpu.astype(np.float32)[:, None] + HALF) * count / self.cpu[some])
        groups = self.slots(times, cpu)[:, some]
        wanted = (groups + 1) * count
        lacking = np.maximum(wanted - np.minimum(times[:, some], with_cpu), 0)
        prospects: Table = groups + np.where(wanted <= most, np.exp2(-lacking), 0)
        return prospects


def key_of(shape: Shape) -> Shape:
    """Return the shape apart from which cards it accepts, and in what order."""
    request = shape.request
    if request is None:
        return shape
    amounts = DeviceRequest(
        vendor=request.vendor,
        count=request.count,
        memory_mib=request.memory_mib,
        memory_percent=request.memory_percent,
        cores=request.cores,
        mode=request.mode,
    )
    return Shape(shape.cpu_milli, amounts)


class Stock:
    """The tables of all nodes, for one set of columns."""

    def __init__(self, columns: Columns, snapshot: Snapshot, before: "Stock | None" = None) -> None:
        """Compute all, or take over from the stock before what columns they share."""
        self.columns = columns
        self.times = np.zeros((len(snapshot), len(columns.keys)), dtype=np.float32)
        self.usable = np.zeros_like(self.times)
        self.seen = snapshot.clock
        at = {}
        if before is not None and before.fits(snapshot):
            before.catch_up(snapshot)
            at = {key: place for place, key in enumerate(before.columns.keys)}
            kept = [place for place, key in enumerate(columns.keys) if key in at]
            old = [at[columns.keys[place]] for place in kept]
            self.times[:, kept] = before.times[:, old]
            self.usable[:, kept] = before.usable[:, old]
        new = [place for place, key in enumerate(columns.keys) if key not in at]
        if new:
            some = Columns.of(tuple(columns.keys[place] for place in new), snapshot)
            self.times[:, new], self.usable[:, new] = some.of_cards(snapshot.left, snapshot.kind)

    def fits(self, snapshot: Snapshot) -> bool:
        """Whether nodes and kinds of card are still those that this was made for."""
        kinds = len(self.columns.wants) == len(snapshot.kinds) + 1
        return kinds and len(self.times) == len(snapshot)

    def catch_up(self, snapshot: Snapshot) -> Ints:
        """Compute the rows anew that have changed, and return them."""
        rows = snapshot.changed_since(self.seen)
        self.seen = snapshot.clock
        if len(rows):
            self.times[rows], self.usable[rows] = self.columns.of_cards(
                snapshot.left[rows], snapshot.kind[rows]
            )
        return rows
