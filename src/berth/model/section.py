"""A section of HAMi's device-config.yaml, and the accelerators that it describes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from berth.model.vendor import Vendor

Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**31 - 1)]
"""A whole number of 32 bits, as HAMi keeps it."""
Size: TypeAlias = Annotated[int, Meta(ge=1, le=2**31 - 1)]
"""The same, of what cannot be nothing."""
Scaling: TypeAlias = Annotated[float, Meta(gt=0, le=2**31 - 1, description="a number above 0")]
Shape = TypeVar("Shape")


class Keys(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Keys that belong together. Defaults are those of HAMi's chart."""


@dataclass(frozen=True, slots=True)
class Section(Generic[Shape]):
    """How one part of the file reads; one per file in vendors/."""

    family: str
    """Name of the accelerators together, in settings."""
    key: str
    """Where the part stands in the file."""
    shape: type[Shape] | Any  # Any: tuple[Chip, ...] is no type[Shape] to a type checker
    default: Shape
    """What holds where the file says nothing."""
    vendors: Callable[[Shape], tuple[Vendor, ...]]
    """Makes the accelerators. Raises UsageError without the place: `resourceName is empty`."""
    older: "Section[Any] | None" = None
    """How it reads where it is a list, as older charts of HAMi write it."""
