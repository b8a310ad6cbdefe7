"""Which nodes carry all containers of a Pod at once; kept, and tried again where nodes changed."""

from collections import OrderedDict
from typing import TypeAlias

import numpy as np

from berth.model.request import Named, PodRequest, Sidecars
from berth.model.snapshot import Bools, Snapshot
from berth.placement.fit import fit
from berth.placement.pick import Choice

KEPT = 64
"""Different sets of containers that are remembered."""

Containers: TypeAlias = tuple[tuple[Named, ...], tuple[Named, ...], Sidecars, Choice]


class Sheet:
    """What is kept of one set of containers."""

    def __init__(self, rows: int) -> None:
        """Know nothing of any row."""
        self.fits: Bools = np.zeros(rows, dtype=np.bool_)
        self.seen = -1


def together(wanted: PodRequest, snapshot: Snapshot, choice: Choice) -> Bools:
    """Say of each node whether its cards carry all containers of the Pod."""
    sheets: OrderedDict[Containers, Sheet] = snapshot.keep("together", lambda _: OrderedDict())
    key = wanted.devices, wanted.init_devices, wanted.sidecars, choice
    sheet = sheets.get(key)
    if sheet is None or len(sheet.fits) != len(snapshot):
        sheet = sheets[key] = Sheet(len(snapshot))
        while len(sheets) > KEPT:
            sheets.popitem(last=False)
    sheets.move_to_end(key)
    rows = snapshot.changed_since(sheet.seen)
    sheet.seen = snapshot.clock
    if len(rows):
        sheet.fits[rows] = fit(wanted, snapshot, rows, choice).fits
    return sheet.fits
