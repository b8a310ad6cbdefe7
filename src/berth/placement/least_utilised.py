"""The node whose cards are least busy, as measured; where nothing is measured, the emptiest."""

from berth.model.snapshot import Floats, Snapshot
from berth.placement.binpack import fullness
from berth.placement.policy import EMPTIEST, Simple
from berth.placement.trial import Trial


def _idleness(trial: Trial, snapshot: Snapshot) -> Floats:
    """Take the percent that cards are busy, in steps of 1; then how full they are."""
    idle: Floats = -(snapshot.busy[trial.rows] + fullness(trial, snapshot) / 2)
    return idle


LEAST_UTILISED = Simple("least-utilised", _idleness, EMPTIEST)
