"""Typical requests: which shapes of demand matter, and how much, as columns to compute with."""

from collections.abc import Mapping

import msgspec
import numpy as np

from berth.model.request import Shape
from berth.model.snapshot import WHOLE, Bools, Floats, Ints, Snapshot
from berth.placement.cards import NEVER, need

COVERED = 0.95
"""The share of arrivals that the list covers."""
AT_MOST = 256
"""Shapes on the list, whatever they cover; the published list of most kinds has 127."""
OF_SEVERAL = 64
"""More of them that want several cards."""


class Typical(msgspec.Struct, frozen=True):
    """Shapes by falling count, one per place of each column."""

    shapes: tuple[Shape, ...]
    weight: Floats
    """Share of the arrivals that are covered."""
    cpu: Ints
    count: Ints
    """Cards wanted; 0 is CPU only."""
    milli: Ints
    """Shapes by kinds of card, the last for none: what is taken of a card, or NEVER."""
    accepted: Bools
    """Likewise: whether such a card will do."""


def typical(counts: Mapping[Shape, int], snapshot: Snapshot, *, several: bool = False) -> Typical:
    """Take the commonest shapes until they cover 95%; with `several`, also all of many cards."""
    ordered = sorted(counts.items(), key=_common, reverse=True)
    running = np.cumsum([count for _, count in ordered])
    total = int(running[-1]) if len(running) else 0
    kept = min(int(np.searchsorted(running / max(1, total), COVERED)) + 1, len(ordered), AT_MOST)
    covered = int(running[kept - 1]) if kept else 0
    chosen = ordered[:kept]
    if several:
        many = [one for one in ordered[kept:] if one[0].request and one[0].request.count > 1]
        chosen += many[:OF_SEVERAL]
    shapes = tuple(shape for shape, _ in chosen)
    none = np.full(len(snapshot.kinds) + 1, NEVER)
    rows = [need(one.request, snapshot).milli if one.request else none for one in shapes]
    milli = np.array(rows).reshape(len(shapes), len(none))
    return Typical(
        shapes=shapes,
        weight=np.array([(count / total) / (covered / total) for _, count in chosen]),
        cpu=np.array([shape.cpu_milli for shape in shapes], dtype=np.int64),
        count=np.array([one.request.count if one.request else 0 for one in shapes], dtype=np.int64),
        milli=milli,
        accepted=milli < NEVER,
    )


def _common(counted: tuple[Shape, int]) -> tuple[int, int, int, int, str]:
    """Order by count; equal ones as published: larger CPU, share, number of cards, type."""
    shape, count = counted
    request = shape.request
    if request is None:
        return count, shape.cpu_milli, 0, 0, ""
    share = WHOLE if request.whole else request.memory_mib or request.memory_percent or WHOLE
    return count, shape.cpu_milli, share, request.count, "|".join(request.models)
