"""A Pod of a live cluster, or of a made-up one, as an arrival of a trace."""

from berth.model.request import PodRequest
from berth.model.snapshot import WHOLE, Snapshot
from berth.placement.cards import need
from berth.simulator.trace import Arrival


def arrival(request: PodRequest, snapshot: Snapshot, lifetime: float | None = None) -> Arrival:
    """Return it with what it wants of cards: of kinds that differ, the mean of those that suffice.

    A card that none of them is counts whole.
    """
    milli = 0.0
    for _, one in request.devices or request.init_devices:
        wants = need(one, snapshot)
        possible = wants.possible[:-1]
        each = float(wants.milli[:-1][possible].mean()) if possible.any() else WHOLE
        milli += one.count * each
    return Arrival(request, round(milli), lifetime)
