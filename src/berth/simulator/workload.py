"""A cluster and its Pods as a person describes them, in YAML: docs/reference/workload.md."""

from pathlib import Path
from typing import Annotated

import msgspec

from berth import closest, configfile
from berth.errors import UsageError
from berth.vendors import VENDORS

VERSION = 1
_Times = Annotated[int, msgspec.Meta(ge=1, le=100_000, description="a number from 1 to 100000")]
_Cards = Annotated[int, msgspec.Meta(ge=1, le=64, description="a number from 1 to 64")]
Text = str | int
"""A number that YAML reads as such is meant too: cpu: 8."""
_Percent = Annotated[int, msgspec.Meta(ge=0, le=100, description="a number from 0 to 100")]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A mapping of the file."""


class Cards(_Part, frozen=True, kw_only=True):
    """The cards of a node, all alike."""

    vendor: str = "nvidia"
    model: str
    memory: Text
    """Of each, as a quantity: 80Gi."""
    count: _Cards = 1


class Nodes(_Part, frozen=True, kw_only=True):
    """Nodes that are alike, named `name`-0 and so on."""

    name: str
    count: _Times = 1
    cpu: Text
    memory: Text
    labels: dict[str, str] = {}
    devices: Cards | None = None


class Wants(_Part, frozen=True, kw_only=True):
    """What a Pod wants of cards."""

    vendor: str = "nvidia"
    count: _Cards = 1
    memory: Text = ""
    """Of each, as a quantity; without it all of the card."""
    cores: _Percent | None = None
    """Percent of each; without it, 100 where all memory is wanted, else no limit."""
    models: tuple[str, ...] = ()


class Class(_Part, frozen=True, kw_only=True):
    """Pods that are alike."""

    name: str
    count: _Times = 1
    """How often it comes beside the others; the rate follows from --offered."""
    every: Text = ""
    """In place of it, the mean time between two of them."""
    life: Text = ""
    """The mean time that one stays; without it, for good."""
    cpu: Text = "0"
    memory: Text = "0"
    devices: Wants | None = None


class Workload(_Part, frozen=True, kw_only=True):
    """The file."""

    version: int
    nodes: tuple[Nodes, ...]
    pods: tuple[Class, ...]
    duration: Text = msgspec.field(default="", name="for")
    """How long Pods come, where classes have `every`."""


def read(file: Path) -> Workload:
    """Read a workload. Raises UsageError, with the place of what is wrong."""
    found = msgspec.convert(configfile.checked(file, Workload, "a key of a workload"), Workload)
    try:
        _check(found)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None
    return found


def _check(found: Workload) -> None:
    if found.version != VERSION:
        raise UsageError(f"version: is {found.version}; this Berth reads version {VERSION}")
    if not found.nodes or not found.pods:
        raise UsageError("nodes and pods: both need an entry")
    _check_names(found)
    rated = [one for one in found.pods if one.every]
    if rated and len(rated) < len(found.pods):
        other = next(one for one in found.pods if not one.every)
        raise UsageError(f"pods {other.name}: has no every, as others do; give each one, or none")
    if rated and not found.duration:
        raise UsageError("for: classes have every, so say how long Pods come, such as 24h")
    lives = [one for one in found.pods if one.life]
    if lives and not rated and len(lives) < len(found.pods):
        other = next(one for one in found.pods if not one.life)
        raise UsageError(f"pods {other.name}: has no life, so at a steady load it would fill all")


def _check_names(found: Workload) -> None:
    seen = set[str]()
    for group in found.nodes:
        if group.name in seen:
            raise UsageError(f"nodes {group.name}: the name stands there twice; give each its own")
        seen.add(group.name)
    known = {vendor.name for vendor in VENDORS}
    named = [(one.name, one.devices.vendor) for one in found.nodes if one.devices]
    named += [(one.name, one.devices.vendor) for one in found.pods if one.devices]
    for name, word in named:
        if word not in known:
            hint = closest.hint(word, known)
            raise UsageError(f"{name}: devices.vendor: there is no accelerator {word}{hint}")
