"""Which cards a request means that names them, or some that it does not want, by UUID."""

import numpy as np

from berth.model.request import DeviceRequest
from berth.model.snapshot import Bools, Ints, Snapshot

MARKS = 1 << 24
"""Marks of cards that are remembered, for all that Pods name: a byte each."""
Place = tuple[Ints, Ints]
"""Rows and cards: a UUID should be at one place, but whoever lists devices may say otherwise."""
_NOWHERE: Place = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def named(request: DeviceRequest, snapshot: Snapshot) -> Bools:
    """Say of every card whether it is one of those that are named, if any, and not left out."""
    known: dict[tuple[tuple[str, ...], tuple[str, ...]], Bools]
    known = snapshot.settled("named", lambda _: {})
    key = request.uuids, request.uuids_not
    if key not in known:
        if (len(known) + 1) * snapshot.kind.size > MARKS:
            known.clear()
        places = snapshot.settled("uuids", _places)
        mask = np.full(snapshot.kind.shape, not request.uuids)
        for uuids, wanted in ((request.uuids, True), (request.uuids_not, False)):
            for uuid in uuids:
                mask[places.get(uuid, _NOWHERE)] = wanted
        known[key] = mask
    return known[key]


def _places(snapshot: Snapshot) -> dict[str, Place]:
    found: dict[str, tuple[list[int], list[int]]] = {}
    for row, node in enumerate(snapshot.nodes):
        for card, device in enumerate(node.devices):
            rows, cards = found.setdefault(device.uuid, ([], []))
            rows.append(row)
            cards.append(card)
    return {uuid: (np.array(rows), np.array(cards)) for uuid, (rows, cards) in found.items()}
