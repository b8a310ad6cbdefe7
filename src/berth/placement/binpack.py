"""The fullest node first, and the fullest card: leaves whole nodes free.

HAMi sums the used shares of slots, cores and memory; here a card is as full as the fuller of its
cores and its memory, which is what decides whether something else fits. CPU breaks ties.
"""

from berth.model.snapshot import Floats, Snapshot
from berth.placement.policy import Simple
from berth.placement.trial import Trial

CPU = 0.001
"""How much a node's CPU says beside its cards."""


def fullness(trial: Trial, snapshot: Snapshot) -> Floats:
    """Return how full each node will be, 0 to 1, and a little for its CPU."""
    room = snapshot.room_total[trial.rows]
    cpu = snapshot.cpu_total[trial.rows]
    cards: Floats = 1 - trial.room_after / room.clip(min=1)
    full: Floats = cards + CPU * (1 - trial.cpu_after / cpu.clip(min=1))
    return full


BINPACK = Simple("binpack", fullness)
