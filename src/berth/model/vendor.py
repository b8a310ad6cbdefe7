"""A kind of accelerator, as data: how HAMi names its resources and what it wants of a Pod."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from berth.model.raw import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """One accelerator under HAMi. Memory is in MiB per device, cores in percent of a device."""

    name: str
    domain: str
    """Prefix of the vendor's resource names, also for devices that are not managed (MIG)."""
    section: str
    """Key of this vendor's part of HAMi's device-config.yaml."""
    config_keys: tuple[tuple[str, str], ...] = ()
    """Each device-config key beside the field here that it sets."""
    node_keys: frozenset[str] = frozenset()
    """device-config keys that only the node side or the scheduler reads."""

    count: str
    memory: str = ""
    memory_percent: str = ""
    cores: str = ""
    priority: str = ""

    default_count: int = 1
    """Devices given to a container that names memory or cores only; 0 gives none."""
    default_memory: int = 0
    """MiB that the scheduler takes where none is named; 0 is the whole card."""
    default_cores: int = 0
    memory_factor: int = 1
    """MiB in one unit of the memory resource."""
    runtime_class: str = ""

    priority_env: str = ""
    core_policy: str = "default"
    core_policy_env: str = ""
    core_policies: frozenset[str] = frozenset()
    visible_env: str = ""
    """Variable by which the container runtime chooses devices."""
    hide_from_others: bool = False
    """Set `visible_env` to `none` in containers without a device (HAMi: overwriteEnv)."""
    limit_env: frozenset[str] = frozenset()
    """Variables that the node side sets, and with which a container could leave its share."""
    device_paths: tuple[str, ...] = ()
    """hostPath prefixes that reach cards past the sharing."""
    annotations: tuple[str, ...] = ()
    """Pod annotations that steer this vendor's placement (hami-webhook contract, user-set)."""

    resources: tuple[str, ...] = field(init=False)
    """The configured resource names, the count first."""

    def __post_init__(self) -> None:
        """Work out once what every container is held against."""
        named = (self.count, self.memory, self.memory_percent, self.cores, self.priority)
        object.__setattr__(self, "resources", tuple(name for name in named if name))

    def named_in(self, resources: Mapping[str, Json]) -> bool:
        """Whether limits or requests name a resource of this vendor."""
        return bool(resources) and any(name in resources for name in self.resources)
