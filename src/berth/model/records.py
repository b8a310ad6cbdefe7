"""How an accelerator stands on Nodes and in what Pods hold: HAMi's protocol, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """What a register annotation in JSON calls the parts of a device."""

    inside: str = ""
    """The key of an object in which the list stands; "": the list stands alone."""
    shapes: str = ""
    """Beside it, the names of what each device can be cut into, such as 3g.20gb; "": of nothing."""
    id: str = "id"
    word: str = ""
    """Where ids are numbers: the id of a device is `<node>-<word>-<number>`."""
    model: str = "type"
    memory: str = "devmem"
    cores: str = "devcore"
    slots: str = "count"
    numa: str = "numa"
    healthy: str = "health"
    """"": always healthy. Otherwise absent means false, since Go leaves zero values out."""
    mode: str = "mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How devices follow from a Node's resources, where no annotation lists them."""

    by_cores: bool = False
    """Whether cards are counted by the cores resource, in units of a whole card's."""
    memory_mib: int = 0
    """Of a card; 0: the memory resource, evenly over the cards, or 1 where there is none."""
    slots: int = 1
    numa_halves: bool = False
    """Whether the second half of the cards is on NUMA node 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Where a Node says which devices it has, and a Pod which it holds (HAMi's protocol)."""

    word: str = ""
    """In the ids of devices that are counted: `<node>-<word>-<index>`."""
    register: tuple[str, ...] = ()
    """Node annotations; the first that is there counts."""
    fields: Fields = Fields()
    units: Mapping[str, int] = field(default_factory=dict)
    """MiB in one of the memory that an annotation tells, of either kind, where that is not one."""
    scores: str = ""
    """Node annotation: how well each pair is linked."""
    allocated: tuple[str, ...] = ()
    """Pod annotations, of which the first that is there counts."""
    partitions: str = ""
    """Pod annotation: where on each card its partitions lie."""
    counted: Counted | None = None
    labels: str = ""
    """Prefix of the Node labels product, memory, count, replicas (GPU feature discovery)."""
    cores_are_bits: bool = False
    """Whether an allocation writes cores as a set of bits."""
    cores_in_units: bool = False
    """Whether an allocation writes cores in `core_unit`ths, not percent."""

    cores_are_own: bool = False
    """Whether nodes and allocations write cores in units of the device's own, as many as it has."""


NO_RECORDS = Records()
