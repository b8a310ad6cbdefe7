"""How a namespace's Pods are translated: what is read, what is written, and what is filled in."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from berth.model.card import Card
from berth.model.loss import Handling, Loss
from berth.model.quantity import MIB
from berth.model.vendor import Vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Memory of one card: MiB, or percent of it; exactly one is given."""

    mib: int | None = None
    percent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Presets:
    """How much memory a model takes: by a table, else by a formula.

    bytes = parameters x bytes of one x factor of the use, spread over the container's devices, and
    then `overhead_mib` on each device for the driver's context and the framework.
    """

    table: Mapping[tuple[str, str, str], int]
    """MiB of a card, by size ("7b"), use ("inference") and precision ("bf16")."""
    factors: Mapping[str, float]
    """By use."""
    overhead_mib: int

    def mib(self, model: str, use: str, precision: str, devices: int) -> int:
        """Return MiB of each device."""
        listed = self.table.get((model, use, precision))
        if listed is not None:
            return listed
        # Training keeps its master copy and moments in 32 bit whatever the precision: the factor
        # counts all that by the 16 bit weights.
        each = 2.0 if use == "train" else BYTES[precision]
        total = parameters(model) * each * self.factors[use]
        return math.ceil(total / devices / MIB) + self.overhead_mib


BYTES = {"fp32": 4.0, "fp16": 2.0, "bf16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 0.5}
"""Of one parameter."""
_SCALES = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}


def parameters(model: str) -> float:
    """Return how many parameters a size such as 7b, 1.5B or 350m says. Raises ValueError."""
    text = model.strip().lower()
    number, scale = text[:-1], _SCALES.get(text[-1:])
    if scale is None or not number.replace(".", "", 1).isdecimal() or not number.isascii():
        raise ValueError(model)
    found = float(number) * scale
    if not 0 < found <= 10**14:
        raise ValueError(model)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """CPU and memory of a container that got a device and names none, as quantities; "": none."""

    cpu_request: str = ""
    cpu_limit: str = ""
    memory_request: str = ""
    memory_limit: str = ""
    given: tuple[tuple[str, str, str], ...] = field(init=False)
    """The name, request and limit of each resource that has either."""

    def __post_init__(self) -> None:
        """Derive what every request would otherwise work out again."""
        every = (
            ("cpu", self.cpu_request, self.cpu_limit),
            ("memory", self.memory_request, self.memory_limit),
        )
        object.__setattr__(self, "given", tuple(one for one in every if any(one[1:])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """One conversion of the settings, resolved."""

    name: str
    reads: tuple[str, ...]
    """Dialects, the one that is written among them."""
    targets: Mapping[str, Vendor]
    """The words of the written dialect, by the accelerator's name."""
    losses: Mapping[Loss, Handling] = field(default_factory=dict)
    cards: tuple[Card, ...] = ()
    """What the cluster has; empty: nobody knows."""
    default_memory: Size | None = None
    presets: Presets
    memory_share: float = 1.0
    """Asked memory is divided by it: oversubscription."""
    core_share: float = 1.0
    whole_pods: bool = False
    """Whether Pods without a device get the scheduler too."""
    queue: str = ""
    """Of Pods that name none; "": the scheduler's own default."""
    defaults: Defaults = Defaults()
    volcano_minor: int = 15
    """Of version 1: 12 and older know percent, 16 and newer choose devices by UUID."""
    visible_devices: bool = False
    """Whether chosen devices are written as CUDA_VISIBLE_DEVICES too."""
    oversubscribed: str = field(init=False)
    """What is recorded in a Pod of what its wish is divided by, "" where it is not."""
    leaves_sizes: bool = field(init=False)
    """Whether sizes are what Pods say, and nothing is known to hold them against."""

    def __post_init__(self) -> None:
        """Derive what every request would otherwise work out again."""
        shares = {"memory": self.memory_share, "cores": self.core_share}
        parts = [f"{name}={factor:g}" for name, factor in shares.items() if factor > 1]
        object.__setattr__(self, "oversubscribed", ",".join(parts))
        known = self.default_memory or self.cards or parts
        object.__setattr__(self, "leaves_sizes", not known)

    def handling(self, loss: Loss) -> Handling:
        """Return what is done about a loss."""
        return self.losses.get(loss, Handling.WARN)
