"""What a Pod wants of accelerators, the same for every dialect."""

import msgspec

from berth.model.pod import Container
from berth.model.vendor import Vendor


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What one container wants of each of `count` devices."""

    vendor: Vendor
    count: int
    memory_mib: int | None
    memory_percent: int | None
    cores: int | None
    """Percent of a device's compute; None is a share without a limit."""
    priority: int | None


class ContainerDemand(msgspec.Struct, frozen=True):
    """A container beside the share that it wants, if any.

    `asks` names whose device it asks for, also where a mistake leaves the share unknown.
    """

    container: Container
    share: Share | None
    asks: Vendor | None = None


class Demand(msgspec.Struct, frozen=True):
    """A Pod's whole wish, container by container in the Pod's order."""

    containers: tuple[ContainerDemand, ...]

    @property
    def any(self) -> bool:
        """Whether some container wants a device."""
        return any(wanted.share for wanted in self.containers)
