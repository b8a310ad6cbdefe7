"""Volcano's vGPU dialect: volcano.sh/vgpu-number, vgpu-memory and vgpu-cores, of each card.

As its deviceshare plugin and its device plugin have it (1.10 to 1.16). A whole card is a number
without memory: the cores are then nobody else's either, since no memory is left.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from berth import names
from berth.dialects import choices, completion, convert, devices, reading
from berth.dialects.conversion import Conversion
from berth.dialects.dialect import Dialect, only, worded
from berth.dialects.losses import lose
from berth.dialects.options import Options
from berth.model.decided import Decided
from berth.model.demand import Demand, Share
from berth.model.edit import Change, Put
from berth.model.loss import Loss
from berth.model.pod import Pod
from berth.model.said import Said
from berth.model.vendor import Selectors, Vendor

NAME = "volcano"
LAST_WITH_PERCENT = 12
FIRST_WITH_DEVICES = 16
_MODES = ("", "hami-core", "mig")
_QUEUED = frozenset({*names.VOLCANO_GROUPS, names.VOLCANO_QUEUE})
_WHY_QUEUE = Said("why.queue")
_SCHEDULER = Said("why.volcano-scheduler")


def words(nvidia: Vendor, resources: tuple[str, str, str, str], block_mib: int) -> Vendor:
    """Return NVIDIA's cards in Volcano's words.

    `resources` are the names of number, memory, percent and cores; `block_mib` is how many MiB one
    of the memory resource is (its gpuMemoryFactor).
    """
    count, memory, percent, cores = resources
    return replace(
        worded(nvidia, NAME),
        domain="volcano.sh/vgpu",
        count=count,
        memory=memory,
        memory_percent=percent,
        cores=cores,
        memory_unit=block_mib,
        whole_is_implied=True,
        default_count=1,
        allocations=names.VOLCANO_ALLOCATIONS,
        selectors=Selectors(
            models=nvidia.selectors.models,
            not_models=nvidia.selectors.not_models,
            uuids=("volcano.sh/vgpu-use-gpuuuid",),
            not_uuids=("volcano.sh/vgpu-nouse-gpuuuid",),
            mode="volcano.sh/vgpu-mode",
        ),
    )


def recorded(vendors: Iterable[Vendor], block_mib: int) -> tuple[Vendor, ...]:
    """Return accelerators of which Volcano's annotations tell memory in blocks of so many MiB."""
    units = {names.VOLCANO_REGISTER: block_mib, names.VOLCANO_ALLOCATED: block_mib}
    return tuple(
        replace(one, records=replace(one.records, units=units))
        if block_mib != 1 and not units.keys().isdisjoint(one.records.register)
        else one
        for one in vendors
    )


def target(of: Vendor, minor: int) -> Vendor:
    """Return the words as version 1.`minor` takes them: from 1.13 on, no node has any percent."""
    return of if minor <= LAST_WITH_PERCENT else replace(of, memory_percent="")


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> list[Change]:
    """Return what makes Volcano's scheduler give the Pod its cards."""
    by, changes = options.conversion, list[Change]()
    if by is None:
        return changes
    for wanted in demand.containers:
        if wanted.share and not wanted.container.app:
            path = (*wanted.container.path, "resources", "limits")
            changes += lose(by, Loss.INIT_CONTAINER, path, Said("part.lost-init-container"))
    changes += convert.containers(demand, pod, options)
    shares = demand.shares
    if shares:
        changes += completion.classed(shares, pod)
        changes += choices.once(_chosen(shares, pod, by)) if pod.annotations else ()
        changes += queued(pod, by)
        changes += _grouped(shares, pod) if pod.annotations else ()
        changes += completion.scheduled(pod, options, _SCHEDULER)
    if placed is not None and by.volcano_minor >= FIRST_WITH_DEVICES:
        changes += devices.listed(demand, placed, pod, by.targets)
    return changes


def _chosen(shares: tuple[Share, ...], pod: Pod, by: Conversion) -> Iterator[Change]:
    """Yield the annotations that choose cards; those of models are the same in HAMi."""
    for share in choices.each_spoken(shares):
        mine = by.targets.get(share.vendor.name)
        if mine is None:
            continue
        chosen = mine.selectors
        if share.wishes.mode not in _MODES:
            mine = replace(mine, selectors=replace(chosen, mode=""))
        yield from choices.wishes(pod, share, mine, by)
        listed = share.wishes.uuids is not None or share.wishes.not_uuids
        if listed and by.volcano_minor < FIRST_WITH_DEVICES and share.vendor.dialect != NAME:
            path = ("metadata", "annotations", chosen.uuids[0])
            about = {"first": f"1.{FIRST_WITH_DEVICES}", "version": f"1.{by.volcano_minor}"}
            yield from lose(by, Loss.DEVICES, path, Said("part.lost-devices", about))


def queued(pod: Pod, by: Conversion) -> Iterator[Change]:
    """Yield the queue of a Pod that has none; a PodGroup's is its own."""
    if by.queue and pod.annotations.keys().isdisjoint(_QUEUED):
        path = ("metadata", "annotations", names.VOLCANO_QUEUE)
        yield Put(path, by.queue, _WHY_QUEUE)


def _grouped(shares: tuple[Share, ...], pod: Pod) -> Iterator[Change]:
    """Yield that a PodGroup has been sized by other words."""
    groups = [key for key in names.VOLCANO_GROUPS if key in pod.annotations]
    if groups and any(share.vendor.dialect != NAME for share in shares):
        yield Said("pod-group", {"path": ("metadata", "annotations", groups[0])})


DIALECT = Dialect(name=NAME, read=only(NAME, reading.read), write=write)
