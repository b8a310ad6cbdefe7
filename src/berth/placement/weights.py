"""What the policy `scarcity` learns from arrivals: how much each request counts, and on what."""

import msgspec
import numpy as np

from berth.model.mix import Mix
from berth.model.snapshot import Bools, Floats, Snapshot
from berth.placement.cards import need
from berth.placement.stock import Columns, Table, key_of
from berth.placement.typical import Typical

CARRIES_AT_MOST = 20.0
"""A request that can use only a 1/x of what is free counts x times, at most so often."""
CPU_PER_CARD = 12.0
"""Milli CPU per milli of a card, before the first Pod that wants cards."""
LEAST = 1e-6
"""The same where Pods ask for no CPU: then none is ever short."""
SIZES = 4
"""Different numbers of cards per Pod that have a price: the commonest."""


class Demand(msgspec.Struct, frozen=True):
    """What arrivals ask for, summed up."""

    cpu_per_card: float
    sizes: tuple[int, ...]
    """Numbers of cards above one, the commonest: `SIZES` places, 0 where there are fewer."""
    size_share: tuple[float, ...]
    """The part of all milli of cards that Pods of each size want."""
    accepts: Bools
    """Sets of kinds that bound Pods accept, by kinds; a Pod that accepts all is not bound."""
    bound_share: Floats
    """The part of all milli that each set's Pods want."""


def demand(mix: Mix, snapshot: Snapshot, before: tuple[int, ...]) -> Demand:
    """Sum up what has arrived; sizes keep the places that they had before."""
    cpu = total = 0.0
    sizes: dict[int, float] = {}
    bound: dict[bytes, float] = {}
    for shape, count in mix.counts.items():
        if shape.request is None:
            continue
        wants = need(shape.request, snapshot)
        possible = wants.possible[:-1]
        if not possible.any():
            continue
        milli = count * shape.request.count * float(wants.milli[:-1][possible].mean())
        cpu, total = cpu + count * shape.cpu_milli, total + milli
        sizes[shape.request.count] = sizes.get(shape.request.count, 0.0) + milli
        if not possible.all():
            bound[possible.tobytes()] = bound.get(possible.tobytes(), 0.0) + milli
    placed = _placed(sizes, before)
    accepts = [np.frombuffer(kinds, dtype=np.bool_) for kinds in bound]
    return Demand(
        cpu_per_card=max(cpu / total, LEAST) if total else CPU_PER_CARD,
        sizes=placed,
        size_share=tuple(
            sizes.get(size, 0.0) / max(total, 1.0) if size else 0.0 for size in placed
        ),
        accepts=np.array(accepts, dtype=np.bool_).reshape(len(bound), len(snapshot.kinds)),
        bound_share=np.array(list(bound.values())) / max(total, 1.0),
    )


def _placed(sizes: dict[int, float], before: tuple[int, ...]) -> tuple[int, ...]:
    """Give a place to each of the commonest sizes: scores of older weights know them by it."""
    several = sorted((size for size in sizes if size > 1), key=lambda size: -sizes[size])
    common = several[:SIZES]
    new = [size for size in common if size not in before]
    kept = [size if size in common else 0 for size in before]
    return tuple(size or (new.pop(0) if new else 0) for size in kept)


class Weights(msgspec.Struct, frozen=True):
    """How much each column counts."""

    by_kind: Table
    """On a node of each kind of card, the last for none: 0 for what cannot use it."""
    total: float
    """Of all requests, also those that want no cards."""
    groups: Floats
    """Columns by sizes: the part of a size's Pods that are of this column."""


def columns_of(counted: Typical, snapshot: Snapshot) -> Columns:
    """Lay out the shapes that want cards, without the models that they accept."""
    keys = dict.fromkeys(key_of(shape) for shape in counted.shapes if shape.request)
    return Columns.of(tuple(keys), snapshot)


def weigh(
    counted: Typical, columns: Columns, slots: Table, snapshot: Snapshot, sizes: tuple[int, ...]
) -> Weights:
    """Weigh each shape by how often it comes, times how little of what is free it can use."""
    kinds = len(snapshot.kinds) + 1
    at = {key: place for place, key in enumerate(columns.keys)}
    by_kind = np.zeros((kinds, len(at)))
    groups = np.zeros((len(at), SIZES))
    places = np.array([slots[snapshot.kind_of_node == kind].sum(axis=0) for kind in range(kinds)])
    free, total = float(snapshot.room.sum()), 0.0
    for place, shape in enumerate(counted.shapes):
        weight = float(counted.weight[place])
        if shape.request is not None:
            column = at[key_of(shape)]
            if shape.request.count in sizes:
                groups[column, sizes.index(shape.request.count)] += weight
            accepted = counted.accepted[place]
            usable = float((places[:, column] * columns.takes[:, column] * accepted).sum())
            weight *= min(CARRIES_AT_MOST, free / usable) if usable else 0.0
            by_kind[accepted, column] += weight
        total += weight
    return Weights(
        by_kind=by_kind.astype(np.float32),
        total=total,
        groups=groups / np.maximum(groups.sum(axis=0), 1e-12),
    )
