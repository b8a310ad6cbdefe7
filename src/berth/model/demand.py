"""What a Pod wants of accelerators, the same for every dialect."""

from collections.abc import Mapping

import msgspec

from berth.model.pod import Container, Resources
from berth.model.said import Said
from berth.model.vendor import Vendor


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """Which devices a Pod's annotations choose, and how to choose among them."""

    models: tuple[str, ...] = ()
    """Parts of model names in lower case, one of which a device must have; none: any device."""
    not_models: tuple[str, ...] = ()
    uuids: frozenset[str] | None = None
    """None: any device."""
    not_uuids: frozenset[str] = frozenset()
    numa: bool = False
    """All devices of a container on one NUMA node."""
    mode: str = ""
    """How the device must be shared, such as "mig" or "mps"; "": in any way."""
    node_policy: str = ""
    device_policy: tuple[str, ...] = ()
    """In the order in which they count; none: the cluster's."""
    weights: Mapping[str, int] = {}
    """Of slot, core and memory in the score of a device; none: all alike."""


NO_WISHES = Wishes()


class Completion(msgspec.Struct, frozen=True):
    """A resource that should stand in limits and requests, and why."""

    name: str
    before: int | None
    value: int
    why: Said


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What one container wants of each of `count` devices."""

    vendor: Vendor
    count: int
    memory_mib: int | None
    memory_percent: int | None
    """Neither MiB nor percent: the card's whole memory, or the vendor's default of it."""
    cores: int | None
    """In `vendor.core_unit`ths of a device, mostly percent; None is a share without a limit."""
    priority: int | None
    slices: int | None = None
    """How many of the vendor's equal slices of the device, where it has such."""
    wishes: Wishes = NO_WISHES
    completion: tuple[Completion, ...] = ()
    """What its limits and requests lack or have otherwise."""
    annotations: Mapping[str, str] = {}
    """Annotations of the Pod that the vendor's software needs for it."""

    @property
    def taken_mib(self) -> int | None:
        """MiB that the scheduler takes of each device, by default too; None: percent, or all."""
        if self.memory_mib is not None or self.memory_percent is not None:
            return self.memory_mib
        return self.vendor.default_memory or None

    @property
    def taken_cores(self) -> int | None:
        """The same of its cores (contract 2.2); None is a share without a limit."""
        if self.cores is not None:
            return self.cores
        return self.vendor.default_cores or None

    def __hash__(self) -> int:
        """Hash what tells most shares apart: mappings have no hash."""
        sizes = self.memory_mib, self.memory_percent, self.cores
        return hash((self.vendor.name, self.count, sizes))


class ContainerDemand(msgspec.Struct, frozen=True):
    """A container beside the share that it wants, if any.

    `asks` names whose device it asks for, also where a mistake leaves the share unknown; to ask
    for those of several is such a mistake.
    """

    container: Container
    share: Share | None
    asks: tuple[Vendor, ...] = ()
    alike: Resources | None = None
    """The resources that it asks with, where what they come to is remembered."""


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """What a Pod holds of one vendor's devices at its highest."""

    count: int = 0
    memory_mib: int = 0
    cores: int = 0
    sized: bool = True
    """Whether each share's MiB are known; else `memory_mib` is the least that it may be."""


class Demand(msgspec.Struct, frozen=True):
    """A Pod's whole wish, container by container in the Pod's order."""

    containers: tuple[ContainerDemand, ...]

    @property
    def any(self) -> bool:
        """Whether some container wants a device."""
        for wanted in self.containers:  # noqa: SIM110  asked for often, and cheaper than any()
            if wanted.share:
                return True
        return False

    @property
    def shares(self) -> tuple[Share, ...]:
        """The shares of all containers that want one, in the Pod's order."""
        return tuple([one.share for one in self.containers if one.share])

    def totals(self) -> dict[str, Total]:
        """Return what the Pod holds at once of each vendor, by name.

        Kubernetes' own rule, for each number by itself: the largest init container, beside the
        sidecars that run before it, against all sidecars and app containers together (KEP-753).
        """
        names = dict.fromkeys(one.share.vendor.name for one in self.containers if one.share)
        return {name: _total(name, self.containers) for name in names}


def _total(name: str, containers: tuple[ContainerDemand, ...]) -> Total:
    peak: tuple[int, ...] = (0, 0, 0)
    running, sized = peak, True
    for wanted in containers:
        share = wanted.share
        if share is None or share.vendor.name != name:
            continue
        sized = sized and share.taken_mib is not None
        numbers = (
            share.count,
            share.count * (share.taken_mib or 0),
            share.count * (share.taken_cores or 0),
        )
        beside = tuple(map(sum, zip(running, numbers, strict=True)))
        if not wanted.container.init:
            running = beside
        peak = tuple(map(max, peak, beside))
    return Total(count=peak[0], memory_mib=peak[1], cores=peak[2], sized=sized)
