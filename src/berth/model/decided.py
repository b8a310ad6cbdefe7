"""The placement annotation: what we write into a Pod, and read again when it is bound."""

import msgspec

from berth.model.charge import Claim


class Decided(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Where one Pod goes, and why."""

    id: str
    """Of the decision: a Pod has no uid yet, and may come again."""
    policy: str = ""
    node: str = ""
    """The one chosen; empty where none fits."""
    devices: tuple[Claim, ...] = ()
    candidates: int = 0
    """How many nodes fit."""
    reason: str = ""
    generation: int = 0
    """Of the fleet that was decided from."""
