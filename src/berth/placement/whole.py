"""Which nodes would carry all containers of a Pod with nothing on them and all cards healthy."""

import msgspec
import numpy as np

from berth.model.node import Node
from berth.model.request import PodRequest
from berth.model.snapshot import Bools, Ints, Snapshot
from berth.placement.fit import fit
from berth.placement.pick import Choice

MOST = 256
"""Different nodes that are tried at once; of the others it is taken that they would."""


def carried(wanted: PodRequest, snapshot: Snapshot, rows: Ints, choice: Choice) -> Bools:
    """Say it of each of these rows: one of each sort is tried."""
    sorts = snapshot.settled("sorts", _sorts)[rows]
    if any(one.uuids or one.uuids_not or one.where for one in wanted.requests):
        sorts = np.arange(len(rows))
    _, first, back = np.unique(sorts, return_index=True, return_inverse=True)
    tried = rows[first[:MOST]]
    empty = Snapshot([_sound(snapshot.nodes[row]) for row in tried.tolist()])
    fits = np.ones(len(first), dtype=np.bool_)
    fits[: len(tried)] = fit(wanted, empty, np.arange(len(tried)), choice).fits
    found: Bools = fits[back.reshape(-1)]
    return found


def _sound(node: Node) -> Node:
    devices = tuple([msgspec.structs.replace(one, healthy=True) for one in node.devices])
    return msgspec.structs.replace(node, devices=devices, ready=True)


def _sorts(snapshot: Snapshot) -> Ints:
    """Return a number for each row, the same where cards are alike but for their UUIDs."""
    kind = snapshot.settled("healthy", all_healthy).kind
    grids = kind, snapshot.slots_total, snapshot.numa
    known: dict[object, int] = {}
    found = np.zeros(len(snapshot), dtype=np.int64)
    for row, node in enumerate(snapshot.nodes):
        key = (*[grid[row].tobytes() for grid in grids], *[one.links for one in node.devices])
        found[row] = known.setdefault(key, len(known))
    return found


def all_healthy(snapshot: Snapshot) -> Snapshot:
    """Return the same nodes as if every card were healthy: the same object where all are."""
    each = [
        (row, card, device)
        for row in snapshot.row.values()
        for card, device in enumerate(snapshot.nodes[row].devices)
        if not device.healthy
    ]
    if not each:
        return snapshot
    some = snapshot.only(np.arange(len(snapshot)))
    for row, card, device in each:
        some.kind[row, card] = snapshot.kinds.index(device.kind)
    return some
