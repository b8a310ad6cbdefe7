"""What the policy `scarcity` has learned, as a value for people to read."""

import msgspec

from berth.model.device import Kind
from berth.model.request import Shape
from berth.model.snapshot import WHOLE, Snapshot
from berth.placement.scarcity import Scarcity, State


class Learned(msgspec.Struct, frozen=True, kw_only=True):
    """Weights and prices now. Prices are in cards' worths."""

    arrivals: int
    departures_per_arrival: float
    cpu_per_card: float
    """CPU cores that Pods bring along for each card that they want."""
    weights: tuple[tuple[Shape, float], ...]
    """How much each request counts where it can be placed, the heaviest first."""
    groups: dict[int, float]
    """What taking a card of a group of so many whole cards costs: of what is to be, half."""
    kinds: dict[Kind, float]
    """What a card of each kind costs those who could take another."""


def learned(snapshot: Snapshot) -> Learned:
    """Return what a snapshot's arrivals have taught."""
    state = snapshot.keep(Scarcity.name, State)
    state.refresh(snapshot)
    weights = state.weights.by_kind.max(axis=0)
    pairs = zip(state.stock.columns.keys, map(float, weights), strict=True)
    sizes = zip(state.demand.sizes, *state.group_prices(snapshot), strict=True)
    kinds = zip(snapshot.kinds, map(float, state.kind_prices), strict=False)
    return Learned(
        arrivals=snapshot.mix.arrivals,
        departures_per_arrival=snapshot.mix.churn,
        cpu_per_card=state.demand.cpu_per_card,
        weights=tuple(sorted(pairs, key=lambda pair: -pair[1])),
        groups={size: (now + later / 2) / WHOLE for size, now, later in sizes if size},
        kinds=dict(kinds),
    )
