"""A made-up cluster and its Pods, from a small YAML file: docs/reference/workload.md.

Pods come by chance: of each class so often, for times around a mean. Without `life` they stay.
"""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from berth import configfile
from berth.errors import UsageError
from berth.model.device import Device
from berth.model.duration import NotADuration, parse
from berth.model.node import Node
from berth.model.quantity import NotAQuantity
from berth.model.quantity import parse as quantity
from berth.model.request import WHOLE, DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.simulator.arrivals import arrival
from berth.simulator.schedule import FOR_GOOD, WARM, Schedule
from berth.simulator.trace import Trace

MIB = 2**20
LIVES, AT_LEAST = 10, 2_000
"""Where classes have no rate of their own: so many mean lifetimes, and Pods, are run."""
_Times = Annotated[int, msgspec.Meta(ge=1, le=100_000, description="a number from 1 to 100000")]
_Cards = Annotated[int, msgspec.Meta(ge=1, le=64, description="a number from 1 to 64")]
_Text = str | int
"""A number that YAML reads as such is meant too: cpu: 8."""
_Percent = Annotated[int, msgspec.Meta(ge=0, le=100, description="a number from 0 to 100")]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """A mapping of the file."""


class Cards(_Part, frozen=True, kw_only=True):
    """The cards of a node, all alike."""

    vendor: str = "nvidia"
    model: str
    memory: _Text
    """Of each, as a quantity: 80Gi."""
    count: _Cards = 1


class Nodes(_Part, frozen=True, kw_only=True):
    """Nodes that are alike, named `name`-0 and so on."""

    name: str
    count: _Times = 1
    cpu: _Text
    memory: _Text
    labels: dict[str, str] = {}
    devices: Cards | None = None


class Wants(_Part, frozen=True, kw_only=True):
    """What a Pod wants of cards."""

    vendor: str = "nvidia"
    count: _Cards = 1
    memory: _Text = ""
    """Of each, as a quantity; without it all of the card."""
    cores: _Percent | None = None
    """Percent of each; without it, 100 where all memory is wanted, else no limit."""
    models: tuple[str, ...] = ()


class Class(_Part, frozen=True, kw_only=True):
    """Pods that are alike."""

    name: str
    count: _Times = 1
    """How often it comes beside the others; the rate follows from --offered."""
    every: _Text = ""
    """In place of it, the mean time between two of them."""
    life: _Text = ""
    """The mean time that one stays; without it, for good."""
    cpu: _Text = "0"
    memory: _Text = "0"
    devices: Wants | None = None


class Workload(_Part, frozen=True, kw_only=True):
    """The file."""

    version: Literal[1]
    nodes: Annotated[tuple[Nodes, ...], msgspec.Meta(min_length=1)]
    pods: Annotated[tuple[Class, ...], msgspec.Meta(min_length=1)]
    duration: _Text = msgspec.field(default="", name="for")
    """How long Pods come, where classes have `every`."""


def read(file: Path) -> Workload:
    """Read a workload. Raises UsageError, with the place of what is wrong."""
    tree = configfile.read(file)
    strangers = list(configfile.unknown_keys(tree, Workload, noun="a key of a workload"))
    if strangers:
        raise UsageError(f"{file}: {'; '.join(strangers)}")
    try:
        found = msgspec.convert(tree, Workload)
    except msgspec.ValidationError as error:
        raise UsageError(f"{file}: {configfile.said_plainly(error, Workload)}") from None
    try:
        _check(found)
        trace(file.stem, found)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None
    return found


def _check(found: Workload) -> None:
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


def trace(name: str, found: Workload) -> Trace:
    """Return the nodes, and each class as often as it counts."""
    nodes = tuple(_node(group, number) for group in found.nodes for number in range(group.count))
    cards = Snapshot(nodes)
    pods = tuple(
        arrival(_request(one), cards, _seconds(one.life) if one.life else None)
        for one in found.pods
        for _ in range(1 if one.every else one.count)
    )
    return Trace(name, None, nodes, pods)


def schedule(found: Workload, of: Trace, seed: int, offered: float) -> Schedule | None:
    """Draw who comes when; None where Pods stay and come until so much is offered."""
    generator = np.random.default_rng(seed)
    if found.duration and found.pods[0].every:
        return _rated(found, generator)
    if not found.pods[0].life:
        return None
    lives = np.array([pod.lifetime or 0.0 for pod in of.pods])
    milli = np.array([pod.milli for pod in of.pods])
    if not of.capacity or not milli.any():
        raise UsageError(f"{of.name}: no load can be offered where no card is, or is wanted")
    rate = offered * of.capacity / float((milli * lives).mean())
    arrivals = max(AT_LEAST, int(LIVES * float(lives.mean()) * rate))
    pods = generator.integers(len(of.pods), size=arrivals)
    times = np.cumsum(generator.exponential(1 / rate, arrivals))
    return Schedule(
        pods=pods,
        times=times,
        lifetimes=generator.exponential(1.0, arrivals) * lives[pods],
        unit="seconds",
        counted=int(WARM * arrivals),
        end=float(times[-1]),
    )


def _rated(found: Workload, generator: np.random.Generator) -> Schedule:
    end = _seconds(found.duration)
    each: list[tuple[float, int, float]] = []
    for place, one in enumerate(found.pods):
        every, life = _seconds(one.every), _seconds(one.life) if one.life else FOR_GOOD
        count = int(generator.poisson(end / every)) if every else 0
        times = generator.uniform(0.0, end, count)
        lives = generator.exponential(1.0, count) * life
        each += [(float(at), place, float(long)) for at, long in zip(times, lives, strict=True)]
    each.sort()
    return Schedule(
        pods=np.array([place for _, place, _ in each], dtype=np.int64),
        times=np.array([at for at, _, _ in each]),
        lifetimes=np.array([life for _, _, life in each]),
        unit="seconds",
        end=end,
    )


def _node(group: Nodes, number: int) -> Node:
    name, cards = f"{group.name}-{number}", group.devices
    return Node(
        name=name,
        cpu_milli=_milli(group.cpu),
        memory_mib=_mib(group.memory),
        labels=group.labels,
        devices=tuple(
            Device(
                uuid=f"{name}-{card}",
                vendor=cards.vendor,
                model=cards.model,
                memory_mib=_mib(cards.memory),
            )
            for card in range(cards.count)
        )
        if cards
        else (),
    )


def _request(one: Class) -> PodRequest:
    return PodRequest(
        cpu_milli=_milli(one.cpu),
        memory_mib=_mib(one.memory),
        devices=(("main", _wants(one.devices)),) if one.devices else (),
    )


def _wants(wants: Wants) -> DeviceRequest:
    cores = wants.cores
    if cores is None:
        cores = 0 if wants.memory else WHOLE
    return DeviceRequest(
        vendor=wants.vendor,
        count=wants.count,
        memory_mib=_mib(wants.memory) if wants.memory else None,
        cores=cores,
        models=wants.models,
    )


def _seconds(text: _Text) -> float:
    try:
        return parse(str(text))
    except NotADuration as error:
        raise UsageError(str(error)) from None


def _milli(text: _Text) -> int:
    return int(-(-_amount(text) * 1000 // 1))


def _mib(text: _Text) -> int:
    return int(-(-_amount(text) // MIB))


def _amount(text: _Text) -> float:
    try:
        return float(quantity(text))
    except NotAQuantity:
        raise UsageError(f"{text!r} is no quantity, such as 16Gi or 500m") from None
