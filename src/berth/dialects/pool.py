"""The vGPU manager's dialect: hami.io/vgpu-memory, a size such as 16Gi, of one card unless said.

It gives memory of any card in its pool; hami.io/vgpu-count and hami.io/vgpu-cores may stand beside.
"""

from collections.abc import Iterator
from dataclasses import replace

from berth import names
from berth.dialects import completion, convert, devices, reading
from berth.dialects.dialect import Dialect, only
from berth.dialects.options import Options
from berth.model.decided import Decided
from berth.model.demand import Demand
from berth.model.edit import Change, Put
from berth.model.pod import Pod
from berth.model.records import NO_RECORDS
from berth.model.said import Said
from berth.model.vendor import Selectors, Vendor

NAME = "pool"
RESOURCES = ("hami.io/vgpu-count", "hami.io/vgpu-memory", "hami.io/vgpu-cores")
_SCHEDULER = Said("why.pool-scheduler")


def words(nvidia: Vendor, resources: tuple[str, ...] = RESOURCES) -> Vendor:
    """Return NVIDIA's cards in the manager's words: the names of count, memory and cores."""
    count, memory, cores = resources
    return replace(
        nvidia,
        dialect=NAME,
        domain="hami.io/vgpu",
        count=count,
        memory=memory,
        memory_percent="",
        cores=cores,
        priority="",
        memory_unit=1,
        memory_factor=1,
        memory_is_bytes=True,
        memory_in_bytes=True,
        count_is_implied=True,
        whole_is_named=False,
        whole_is_implied=True,
        default_count=1,
        default_memory=0,
        default_cores=0,
        settle=None,
        core_policy="default",
        profiles=(),
        records=NO_RECORDS,
        allocations=(),
        counts_as=nvidia,
        selectors=Selectors(),
    )


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> Iterator[Change]:
    """Yield what makes the manager give the Pod its share, on the devices that were chosen."""
    by = options.conversion
    if by is None:
        return
    yield from convert.containers(demand, pod, options)
    if demand.any:
        yield from completion.classed(demand, pod)
        yield from convert.chosen(demand, pod, by)
        if options.scheduler_name and pod.scheduler_name != options.scheduler_name:
            yield Put(("spec", "schedulerName"), options.scheduler_name, _SCHEDULER)
    if placed is not None:
        variables = (names.CHOSEN_ENV, *_visible(visible=by.visible_devices))
        yield from devices.variables_of(demand, placed, variables)


def _visible(*, visible: bool) -> tuple[str, ...]:
    return (names.VISIBLE_DEVICES,) if visible else ()


DIALECT = Dialect(name=NAME, read=only(NAME, reading.read), write=write)
