"""What one Pod wants of a node and of its cards, in the terms that placement counts in."""

import msgspec

from berth.model.eligibility import ANYWHERE, Eligibility

WHOLE = 100
"""Cores (percent) that ask for a card alone."""


class DeviceRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one container wants of each of `count` different cards of one vendor.

    Memory is MiB, else percent of the card, else all of it. `cores` is percent of a card's
    compute: 0 is a share without a limit, 100 the card alone.
    """

    vendor: str
    count: int = 1
    memory_mib: int | None = None
    memory_percent: int | None = None
    cores: int = 0
    models: tuple[str, ...] = ()
    """Words of which the card's model must contain one; empty is any."""
    models_not: tuple[str, ...] = ()
    uuids: tuple[str, ...] = ()
    uuids_not: tuple[str, ...] = ()
    mode: str = ""
    """How the card must be shared, such as "mig"; "" is any way."""
    same_numa: bool = False
    linked: bool = False
    """Of several cards, the set with the best links is wanted."""

    @property
    def whole(self) -> bool:
        """Whether it wants cards alone."""
        return self.cores >= WHOLE


class Shape(msgspec.Struct, frozen=True):
    """What decides how good a node is for a Pod: Pods of one shape get the same scores."""

    cpu_milli: int
    request: DeviceRequest | None


class PodRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one Pod wants. CPU, memory and others are of the Pod: the sum or the init peak."""

    cpu_milli: int = 0
    memory_mib: int = 0
    other: dict[str, int] = {}
    devices: tuple[tuple[str, DeviceRequest], ...] = ()
    """Container name and request: one after another, each holding what it gets."""
    init_devices: tuple[tuple[str, DeviceRequest], ...] = ()
    """The same for init containers, that run alone before the others and give back."""
    eligibility: Eligibility = ANYWHERE

    @property
    def shape(self) -> Shape:
        """Its CPU beside the largest of its device requests."""
        wanted = [request for _, request in (*self.devices, *self.init_devices)]
        if len(wanted) < 2:
            return Shape(self.cpu_milli, wanted[0] if wanted else None)
        return Shape(self.cpu_milli, max(wanted, key=_size))


def _size(request: DeviceRequest) -> tuple[int, int, int]:
    memory = request.memory_mib or 1 << 30
    return (request.count, request.cores, memory)
