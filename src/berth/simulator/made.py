"""A workload of one's own as a trace, and the schedule by which its Pods come.

Pods come by chance: of each class so often, for times around a mean. Without `life` they stay.
"""

from pathlib import Path

import numpy as np

from berth.errors import UsageError
from berth.model.device import Device
from berth.model.duration import NotADuration, parse
from berth.model.node import Node
from berth.model.quantity import MIB, NotAQuantity
from berth.model.quantity import parse as quantity
from berth.model.request import WHOLE, DeviceRequest, PodRequest
from berth.model.snapshot import Snapshot
from berth.simulator import workload
from berth.simulator.arrivals import arrival
from berth.simulator.schedule import FOR_GOOD, WARM, Schedule
from berth.simulator.trace import Trace
from berth.simulator.workload import Class, Nodes, Text, Wants, Workload

LIVES, AT_LEAST = 10, 2_000
"""Where classes have no rate of their own: so many mean lifetimes, and Pods, are run."""
MOST_AMOUNT = 2**50
"""Bytes (a PiB), or CPUs: sums of many, in milli, still are whole numbers of 64 bits."""
MOST = 10_000_000
"""Pods of one run: it would take hours."""


def read(file: Path, seed: int, offered: float) -> tuple[Trace, Schedule | None]:
    """Read a workload and draw who comes when. Raises UsageError, with the file.

    Without a schedule Pods stay, and come until so much is offered.
    """
    found = workload.read(file)
    try:
        of = trace(file.stem, found)
        return of, schedule(found, of, seed, offered)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None


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
    of.check_load()
    rate = offered * of.capacity / float((milli * lives).mean())
    arrivals = max(AT_LEAST, int(LIVES * float(lives.mean()) * rate))
    _check_most(arrivals)
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
    _check_most(sum(end / _seconds(one.every) for one in found.pods))
    each: list[tuple[float, int, float]] = []
    for place, one in enumerate(found.pods):
        every, life = _seconds(one.every), _seconds(one.life) if one.life else FOR_GOOD
        count = int(generator.poisson(end / every))
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


def _check_most(pods: float) -> None:
    if pods > MOST:
        raise UsageError(f"about {pods:.0f} Pods would come; a run takes at most {MOST}")


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
                memory_mib=_of_card(f"nodes {group.name}", cards.memory),
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
        devices=(("main", _wants(one.name, one.devices)),) if one.devices else (),
    )


def _wants(name: str, wants: Wants) -> DeviceRequest:
    cores, part = wants.cores, wants.memory != ""
    if cores is None:
        cores = 0 if part else WHOLE
    return DeviceRequest(
        vendor=wants.vendor,
        count=wants.count,
        memory_mib=_of_card(f"pods {name}", wants.memory) if part else None,
        cores=cores,
        models=wants.models,
    )


def _seconds(text: Text) -> float:
    try:
        found = parse(str(text))
    except NotADuration as error:
        raise UsageError(str(error)) from None
    if not found:
        raise UsageError(f"{str(text)!r}: nothing lasts or comes so; write a time above 0")
    return found


def _milli(text: Text) -> int:
    return int(-(-_amount(text) * 1000 // 1))


def _mib(text: Text) -> int:
    return int(-(-_amount(text) // MIB))


def _of_card(where: str, text: Text) -> int:
    """Return MiB of a card; a byte count without its unit is a slip of the pen."""
    if _amount(text) < MIB:
        what = "is less than 1Mi of a card; write a size such as 16Gi"
        raise UsageError(f"{where}: devices.memory: {text} {what}")
    return _mib(text)


def _amount(text: Text) -> float:
    try:
        found = quantity(text)
    except NotAQuantity:
        raise UsageError(f"{text!r} is no quantity, such as 16Gi or 500m") from None
    if found < 0:
        raise UsageError(f"{text!r} is less than nothing; write a quantity such as 16Gi or 500m")
    if found > MOST_AMOUNT:
        raise UsageError(f"{text!r} is more than any node has; write a quantity such as 16Gi")
    return float(found)
