"""The emptiest node first, and the emptiest card: `binpack` the other way round."""

from berth.model.snapshot import Floats, Snapshot
from berth.placement.binpack import fullness
from berth.placement.policy import EMPTIEST, Simple
from berth.placement.trial import Trial


def _emptiness(trial: Trial, snapshot: Snapshot) -> Floats:
    return -fullness(trial, snapshot)


SPREAD = Simple("spread", _emptiness, EMPTIEST)
