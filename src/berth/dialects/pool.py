"""The vGPU manager's dialect: hami.io/vgpu-memory, a size such as 16Gi, of one card unless said.

It gives memory of any card in its pool; hami.io/vgpu-count and hami.io/vgpu-cores may stand beside.
"""

from dataclasses import replace

from berth import names
from berth.dialects import convert, devices, reading
from berth.dialects.dialect import Dialect, only, worded
from berth.dialects.options import Options
from berth.model.decided import Decided
from berth.model.demand import Demand
from berth.model.edit import Change
from berth.model.pod import Pod
from berth.model.said import Said
from berth.model.vendor import Vendor

NAME = "pool"
_SCHEDULER = Said("why.pool-scheduler")


def words(nvidia: Vendor, resources: tuple[str, str, str]) -> Vendor:
    """Return NVIDIA's cards in the manager's words: the names of count, memory and cores."""
    count, memory, cores = resources
    return replace(
        worded(nvidia, NAME),
        domain="hami.io/vgpu",
        count=count,
        memory=memory,
        cores=cores,
        memory_unit=1,
        memory_is_bytes=True,
        memory_in_bytes=True,
        count_is_implied=True,
        whole_is_implied=True,
        default_count=1,
    )


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> list[Change]:
    """Return what makes the manager give the Pod its share, on the devices that were chosen."""
    changes = convert.whole(demand, pod, options, _SCHEDULER)
    by = options.conversion
    if by is not None and placed is not None:
        visible = (names.VISIBLE_DEVICES,) if by.visible_devices else ()
        variables = (names.CHOSEN_ENV, *visible)
        changes += devices.variables_of(demand, placed, variables)
    return changes


DIALECT = Dialect(name=NAME, read=only(NAME, reading.read), write=write)
