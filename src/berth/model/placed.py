"""Where a new Pod goes, and how it is told so: what placing makes of one Pod."""

from enum import Enum

import msgspec

from berth.model.decided import Decided
from berth.model.placement import Without
from berth.model.request import PodRequest


class Delivery(Enum):
    """How a scheduler is told where a Pod should go."""

    OFF = "off"
    PREFER = "prefer"
    """Weighted preferred node affinity: for schedulers that read scores."""
    REQUIRE = "require"
    """Required node affinity to the nodes that fit now."""
    PIN = "pin"
    """One node, and its devices in the words of the sharing stack."""


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A decision about the place of one Pod."""

    request: PodRequest
    """What it was made for."""
    decided: Decided
    delivery: Delivery
    visible: bool = False
    """Whether pinned devices are named in the variable by which the runtime chooses, too."""
    hosts: tuple[str, ...] = ()
    """Labels `kubernetes.io/hostname` of the nodes that fit, the best first; at most 100."""
    without: tuple[Without, ...] = ()
    """Where none fits: why."""
    refused: bool = False
    """Where none fits: whether the Pod is refused for it, or admitted with a warning."""

    @property
    def waiting_helps(self) -> bool:
        """Where none fits: whether it may fit once others have left."""
        return any(some.waiting_helps for some in self.without)

    @property
    def pinned(self) -> Decided | None:
        """What a dialect writes in its stack's own words: nothing unless it is pinned."""
        return self.decided if self.delivery is Delivery.PIN and self.decided.node else None
