"""The decision annotation: what we write into a Pod, and read again when it is stored."""

import msgspec

from berth.model.charge import Claim
from berth.model.raw import Json


class Decided(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What was decided about one Pod: by its id it is known again, and where it goes, and why."""

    id: str
    """Of the decision: a Pod has no uid yet, and may come again."""
    policy: str = ""
    """How nodes were compared; empty where no node was chosen for it."""
    node: str = ""
    """The one chosen; empty where none fits."""
    delivery: str = ""
    """How its scheduler is told: what was written there is not the author's."""
    devices: tuple[Claim, ...] = ()
    """Those chosen there, for each container."""
    named: dict[str, tuple[str, ...]] = {}
    """Devices out of which the author lets each container have some, where the choice replaces his
    list; a container without is any device's."""
    candidates: int = 0
    """How many nodes fit."""
    reason: str = ""
    generation: int = 0
    """Of the fleet that was decided from."""


def write(decided: Decided) -> str:
    """Return the annotation's text."""
    return msgspec.json.encode(decided).decode()


def read(text: Json) -> Decided | None:
    """Return what an annotation says, None where it is none of ours."""
    try:
        return parse(text) if isinstance(text, str) and text else None
    except ValueError:
        return None


def parse(text: str) -> Decided:
    """Return what an annotation says. Raises ValueError, with the place of what is wrong."""
    try:
        return msgspec.json.decode(text, type=Decided)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
