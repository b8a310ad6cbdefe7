"""A kind of card that the cluster has, as far as a request can be held against it."""

import msgspec


class Card(msgspec.Struct, frozen=True):
    """One model of one accelerator."""

    vendor: str
    model: str
    memory_mib: int
    most: int = 0
    """How many the largest node has; 0: not known."""
