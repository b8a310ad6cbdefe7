"""What a Pod would hold of a node: all its containers, and the peaks of its init containers."""

import msgspec
import numpy as np

from berth.model.placement import Allocation, Hold
from berth.model.request import PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.fit import Fitted, fit
from berth.placement.pick import Choice


def allocate(wanted: PodRequest, snapshot: Snapshot, row: int, choice: Choice) -> Allocation | None:
    """Return what the Pod would hold on this node, None if its cards do not carry all of it."""
    applied = choice.applied(wanted)
    fitted = fit(applied, snapshot, np.array([row]), choice)
    return allocations(applied, fitted, snapshot)[0]


def allocations(wanted: PodRequest, fitted: Fitted, snapshot: Snapshot) -> list[Allocation | None]:
    """Return what the Pod would hold on each row; None where it does not fit."""
    rows, fits = fitted.rows.tolist(), fitted.fits.tolist()
    each = [part.holds(snapshot, fitted.rows) for part in fitted.parts]
    before = [part.holds(snapshot, fitted.rows) for part in fitted.before]
    return [
        Allocation(
            node=snapshot.nodes[row].name,
            cpu_milli=wanted.cpu_milli,
            memory_mib=wanted.memory_mib,
            other=wanted.other,
            holds=_held(wanted, [holds[at] for holds in each], [holds[at] for holds in before]),
            workload=wanted.workload,
            group=wanted.group,
        )
        if fits[at]
        else None
        for at, row in enumerate(rows)
    ]


def _held(
    wanted: PodRequest, parts: list[list[Hold]], before: list[list[Hold]]
) -> tuple[Hold, ...]:
    """Put together what containers hold of one node, and the peaks of init containers."""
    holds = [hold for part in parts for hold in part]
    running = tuple(holds)
    for alone, (name, _) in zip(before, wanted.init_devices, strict=True):
        beside = wanted.beside(name)
        holds += _beyond(alone, [hold for hold in running if hold.container in beside], holds)
    return tuple(holds)


def _beyond(alone: list[Hold], beside: list[Hold], holds: list[Hold]) -> list[Hold]:
    """Return what an init container needs of cards beyond what is held of them anyway."""
    more = list[Hold]()
    for device in dict.fromkeys(hold.device for hold in alone):
        mine = [hold for hold in alone if hold.device == device]
        anyway, needs = _sum(device, holds), _sum(device, [*beside, *mine])
        if not any(anyway):
            more += mine
            continue
        rest = msgspec.structs.replace(
            mine[0],
            memory_mib=max(0, needs[0] - anyway[0]),
            cores=max(0, needs[1] - anyway[1]),
            slots=max(0, needs[2] - anyway[2]),
            slices=needs[3] & ~anyway[3],
            own=tuple(mine),
        )
        if rest.memory_mib or rest.cores or rest.slots or rest.slices:
            more.append(rest)
    return more


def _sum(device: int, holds: list[Hold]) -> tuple[int, int, int, int]:
    memory = cores = slots = slices = 0
    for hold in holds:
        if hold.device == device:
            memory, cores, slots = memory + hold.memory_mib, cores + hold.cores, slots + hold.slots
            slices |= hold.slices
    return memory, cores, slots, slices
