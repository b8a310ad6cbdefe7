"""Moore Threads under HAMi: whole cards, or one slice of one card.

Memory counts 512 MiB and cores sixteenths of a card, both for all cards of a container together.
"""

from collections.abc import Mapping

import msgspec

from berth.model.raw import Json
from berth.model.records import Counted, Records
from berth.model.section import Count, Keys, Section
from berth.model.vendor import Amounts, Fault, Selectors, Settled, Vendor

_UNIT = 512
_CORES = 16
_SMALL = (2, 4, 8, 16, 32, 64)
_NUMBER = "mthreads.com/request-gpu-num"


class Mthreads(Keys, frozen=True, kw_only=True):
    """The section `mthreads`."""

    resource_count_name: str = "mthreads.com/vgpu"
    resource_memory_name: str = "mthreads.com/sgpu-memory"
    resource_core_name: str = "mthreads.com/sgpu-core"
    memory_per_card: tuple[Count, ...] = (96,)
    """Units of a whole card, for each model; newer charts have it. The first is the usual one."""


def _settle(vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]) -> Settled:
    del annotations
    count = asked.count or 0
    memory = asked.memory
    sizes = [most // _UNIT for most, _ in vendor.slices]
    if count == 1 and memory:
        if memory in sizes:
            return Settled(amounts=asked)
        fault = Fault(
            code="not-a-slice",
            role="memory",
            facts={"memory": memory, "unit": _UNIT, "sizes": ", ".join(map(str, sizes))},
        )
        return Settled(amounts=asked, faults=(fault,))
    whole = msgspec.structs.replace(
        asked, memory=vendor.card_mib // _UNIT * count, cores=_CORES * count
    )
    return Settled(amounts=whole, annotations={_NUMBER: str(count)} if count > 1 else {})


def _vendors(keys: Mthreads) -> tuple[Vendor, ...]:
    sizes = sorted({*_SMALL, *keys.memory_per_card})
    return (
        Vendor(
            family="mthreads",
            name="mthreads",
            domain="mthreads.com/",
            count=keys.resource_count_name,
            memory=keys.resource_memory_name,
            memory_unit=_UNIT,
            cores=keys.resource_core_name,
            core_unit=_CORES,
            of_all=frozenset({"memory", "cores"}),
            nonzero=frozenset({"count"}),
            slices=tuple((size * _UNIT, size * _UNIT) for size in sizes),
            card_mib=(keys.memory_per_card or (96,))[0] * _UNIT,
            settle=_settle,
            records=Records(
                word="mthreads",
                allocated=("hami.io/mthreads-vgpu-devices-allocated",),
                counted=Counted(by_cores=True, slots=100),
                cores_in_units=True,
            ),
            allocations=(
                "hami.io/mthreads-vgpu-devices-allocated",
                "mthreads.com/gpu-index",
                "mthreads.com/predicate-node",
                "mthreads.com/predicate-time",
            ),
            selectors=Selectors(
                uuids=("mthreads.ai/use-gpuuuid",), not_uuids=("mthreads.ai/nouse-gpuuuid",)
            ),
        ),
    )


SECTION = Section("mthreads", "mthreads", Mthreads, Mthreads(), _vendors)
