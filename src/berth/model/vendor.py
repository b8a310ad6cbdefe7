"""A kind of accelerator, as data: how HAMi names its resources and what it wants of a Pod."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from berth.model.quantity import MIB
from berth.model.raw import Json
from berth.model.records import NO_RECORDS, Records
from berth.model.said import NO_FACTS, Facts

ROLES = ("count", "memory", "memory_percent", "cores", "priority")
"""What a resource of an accelerator may say; fields of Vendor and of Amounts."""


class Amounts(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of one container, in the vendor's own units; None is "not named"."""

    count: int | None = None
    memory: int | None = None
    memory_percent: int | None = None
    cores: int | None = None
    priority: int | None = None


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What a vendor's rule forbids, at a resource (by its role) or at a Pod annotation."""

    code: str
    role: str = ""
    annotation: str = ""
    facts: Facts = NO_FACTS


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """What a vendor's rule makes of a request: the limits and annotations that should stand."""

    amounts: Amounts
    annotations: Mapping[str, str] = {}
    faults: tuple[Fault, ...] = ()


Settle: TypeAlias = Callable[["Vendor", Amounts, Mapping[str, Json]], Settled]
"""A rule that is not data. Takes what is asked, count filled in, and the Pod's annotations.

Must be at rest on its own result, since the API server may call again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selectors:
    """Pod annotations that choose among a vendor's devices; comma lists unless said otherwise."""

    models: str = ""
    not_models: str = ""
    """Parts of model names, whatever the case."""
    uuids: tuple[str, ...] = ()
    """A device has to stand in each list that is given."""
    not_uuids: tuple[str, ...] = ()
    numa: str = ""
    """A Go boolean: all devices of a container on one NUMA node."""
    mode: str = ""
    """How the device must be shared."""
    other: tuple[str, ...] = ()
    """Keys that a vendor's own rule or scheduler reads."""
    switches: tuple[str, ...] = ()
    """The same, of Go booleans."""
    asking: tuple[str, ...] = ()
    """Keys that ask for a device themselves, where no resource does."""

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys that are given."""
        single = (self.models, self.not_models, self.numa, self.mode)
        lists = (*self.uuids, *self.not_uuids, *self.other, *self.switches, *self.asking)
        return (*filter(None, single), *lists)


def recorded(word: str) -> tuple[str, str]:
    """Name the two Pod annotations in which HAMi records the devices of one kind."""
    return f"hami.io/{word}-devices-to-allocate", f"hami.io/{word}-devices-allocated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """One accelerator under HAMi, as the cluster's device-config has it.

    Numbers in a container's limits are amounts of each of its devices, unless `of_all` says so.
    """

    family: str
    """Name of the file in vendors/."""
    name: str
    dialect: str = "hami"
    """In whose words: an accelerator is the same one, of one name, in all of them."""
    domain: str
    """Prefix of the vendor's resource names, also for devices that are not managed (MIG)."""

    count: str
    memory: str = ""
    memory_percent: str = ""
    cores: str = ""
    priority: str = ""

    memory_unit: int = 1
    """MiB in one of the memory resource."""
    memory_factor: int = 1
    """What the administrator multiplies that by."""
    memory_in_bytes: bool = False
    """Whether numbers from 2**20 on are bytes (16Gi), and small ones units."""
    memory_is_bytes: bool = False
    """Whether every number is bytes."""
    memory_in_mib_from: int = 0
    """From this number on memory is MiB, below it is units; 0: always units."""
    core_unit: int = 100
    """How many of the cores resource are one whole device."""
    of_all: frozenset[str] = frozenset()
    """Roles whose number is for all devices of the container together."""
    count_is_slices: bool = False
    """Whether the count is of equal slices of one device."""
    count_or_size: bool = False
    """Whether a container names either a count or the size of a share, and no count with it."""
    in_pairs: bool = False
    """Whether devices are given in pairs."""
    nonzero: frozenset[str] = frozenset()
    """Roles in which HAMi refuses 0, which elsewhere is "not given"."""

    slices: tuple[tuple[int, int], ...] = ()
    """Sizes of a share, ascending: up to the first number of MiB, a container gets the second."""
    card_mib: int = 0
    """Memory of a whole card, where all cards are alike; 0: the scheduler looks it up."""
    memory_by_cores: bool = False
    """Whether memory goes with the cores, so that no share takes any for itself."""
    cores_by_memory: bool = False
    """Whether a share has as much of the cores as of the card's memory."""
    implied_cores: int = 0
    """Cores of a share that names none; 0: no limit."""
    whole_is_named: bool = False
    """Whether all cores are written where nobody limited the share."""
    whole_is_implied: bool = False
    """Whether they are meant there, and not written."""
    count_is_implied: bool = False
    """Whether one device is meant where a size is written, and not written."""

    default_count: int = 0
    """Devices given to a container that names memory or cores only; 0 gives none."""
    default_memory: int = 0
    """MiB that the scheduler takes where none is named; 0 is the whole card."""
    default_cores: int = 0
    settle: Settle | None = None

    runtime_class: str = ""
    priority_env: str = ""
    core_policy: str = "default"
    core_policy_env: str = ""
    core_policies: frozenset[str] = frozenset()
    name_env: str = ""
    """Variable that tells a container its own name."""
    visible_env: str = ""
    """Variable by which the container runtime chooses devices."""
    hide_from_others: bool = False
    """Set `visible_env` in containers without a device (HAMi: overwriteEnv)."""
    hidden_value: str = "none"
    """What it is set to there."""
    limit_env: frozenset[str] = frozenset()
    """Variables that the node side sets, and with which a container could leave its share."""
    device_paths: tuple[str, ...] = ()
    """hostPath prefixes that reach cards past the sharing."""
    selectors: Selectors = Selectors()
    records: Records = NO_RECORDS
    allocations: tuple[str, ...] = ()
    """Pod annotations in which HAMi's scheduler and the node side record what they gave."""
    profiles: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """Models, and the partitions ("2g.10gb") that the administrator allows on them."""
    counts_as: "Vendor | None" = None
    """In whose words quotas count it; None: in its own."""
    counts_cards: bool = False
    """Whether quotas of `requests.` are ours to keep, as a conversion takes names out of Pods."""

    resources: tuple[str, ...] = field(init=False)
    """The configured resource names, the count first."""
    named_roles: tuple[tuple[str, str], ...] = field(init=False)
    """Each configured role beside its resource name."""
    withheld_env: frozenset[str] = field(init=False)
    """Variables that a container with a device does not choose itself."""
    annotations: tuple[str, ...] = field(init=False)
    """Pod annotations that steer this vendor's placement (hami-webhook contract, user-set)."""

    def __post_init__(self) -> None:
        """Work out once what every container is held against."""
        pairs = ((role, getattr(self, role)) for role in ROLES)
        named = tuple((role, name) for role, name in pairs if name)
        object.__setattr__(self, "named_roles", named)
        object.__setattr__(self, "resources", tuple(name for _, name in named))
        object.__setattr__(self, "withheld_env", self.limit_env | {self.visible_env})
        object.__setattr__(self, "annotations", self.selectors.keys)

    @property
    def unit_mib(self) -> int:
        """MiB in one of the memory resource, as the administrator scales it."""
        return self.memory_unit * max(self.memory_factor, 1)

    def mib(self, memory: int) -> int:
        """Return how many MiB an amount of the memory resource is."""
        if self.memory_is_bytes or (self.memory_in_bytes and memory >= MIB):
            return memory // MIB
        if self.memory_in_mib_from and memory >= self.memory_in_mib_from:
            return memory
        return memory * self.unit_mib

    def sliced(self, memory: int) -> int | None:
        """Return the memory of the smallest slice that holds `memory`, None where none does."""
        for most, given in self.slices:
            if self.mib(memory) <= most:
                return given // self.unit_mib
        return None
