"""The fleet at one instant as a document: the format of `berth snapshot`.

docs/reference/snapshot.md says what stands in it.
"""

from typing import Literal

import msgspec

from berth.errors import UsageError
from berth.model import version
from berth.model.charge import Charge, allocation
from berth.model.node import Node
from berth.model.snapshot import Snapshot


class Picture(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All nodes with their cards, and what every bound Pod holds of them."""

    version: Literal[1] = 1
    generation: int = 0
    nodes: tuple[Node, ...] = ()
    pods: tuple[Charge, ...] = ()
    reserved: tuple[Charge, ...] = ()
    """What is held for Pods that are not bound yet; `uid` is the id of the decision, or
    the Pod's own if another replica made it."""
    problems: tuple[str, ...] = ()
    """What is wrong with what Nodes and Pods say, a sentence each."""

    def __post_init__(self) -> None:
        """Refuse what no cluster can be. Raises ValueError."""
        twice = len(self.nodes) - len({node.name for node in self.nodes})
        if twice:
            raise ValueError(f"{twice} of the nodes have the name of another")

    def snapshot(self) -> Snapshot:
        """Return it as placement counts. A Pod whose node is not there holds nothing."""
        found = Snapshot(self.nodes)
        known = {node.name: node for node in self.nodes}
        for charge in (*self.pods, *self.reserved):
            if charge.node in known:
                found.place(allocation(charge, known[charge.node].devices)[0])
        return found


def write(picture: Picture) -> bytes:
    """Write a picture as indented JSON."""
    text = msgspec.json.encode(picture)
    return msgspec.json.format(text, indent=1) + b"\n"


def read(text: bytes) -> Picture:
    """Read a picture again. Raises UsageError, with the place of what is wrong."""
    try:
        return msgspec.json.decode(text, type=Picture)
    except (msgspec.MsgspecError, RecursionError) as error:
        why = version.another(text, 1, "snapshot") or f"this is no snapshot of a fleet: {error}"
        raise UsageError(why) from error
