"""What a Pod may mean that the dialect it is written in cannot say."""

from enum import Enum


class Loss(Enum):
    """Which meaning; the value is its name in settings."""

    MEMORY = "memory"
    """A share of a card's memory becomes the whole card."""
    CORES = "cores"
    """A share of a card's cores becomes all of them."""
    ROUNDING = "rounding"
    """Memory is rounded up to the size of a block."""
    PRIORITY = "priority"
    MODELS = "models"
    """Which models of cards."""
    DEVICES = "devices"
    """Which cards, by UUID."""
    NUMA = "numa"
    MODE = "mode"
    """How the card is shared."""
    POLICY = "policy"
    """How nodes and devices are compared."""
    GROUP = "group"
    """Its PodGroup or queue, of a scheduler that it is taken from."""
    INIT_CONTAINER = "init-container"
    """A device of an init container, which Volcano does not count."""
    ACCELERATOR = "accelerator"
    """One that the dialect has no words for: it is left in those in which it was asked for."""


class Handling(Enum):
    """What becomes of a Pod that means more than can be said."""

    WARN = "warn"
    REFUSE = "refuse"
    DROP = "drop"
    """The rest of its meaning stands, and nothing is said."""
