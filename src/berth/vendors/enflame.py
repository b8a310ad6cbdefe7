"""Enflame under HAMi: whole GCUs, and shares of one (DRS) by slices or by memory and cores."""

import msgspec

from berth.model.records import Counted, Fields, Records
from berth.model.section import Keys, Section
from berth.model.vendor import Selectors, Vendor, recorded

_DRS = "enflame.com/drs-gcu"
_ASSIGNED = (
    *("gcu-request-size", "gcu-assigned", "gcu-assigned-id", "gcu-assigned-index"),
    *("gcu-assigned-minor", "gcu-assigned-time", "assigned-containers"),
)


class Enflame(Keys, frozen=True, kw_only=True):
    """The section `enflame`."""

    resource_name_gcu: str = msgspec.field(default="enflame.com/gcu", name="resourceNameGCU")
    resource_name_drs_gcu: str = msgspec.field(default="", name="resourceNameDRSGCU")
    resource_name_gcu_memory: str = msgspec.field(
        default="enflame.com/gcu-memory", name="resourceNameGCUMemory"
    )
    resource_name_gcu_core: str = msgspec.field(
        default="enflame.com/gcu-core", name="resourceNameGCUCore"
    )
    resource_name_vgcu: str = msgspec.field(default="", name="resourceNameVGCU")
    """What older charts call `resourceNameDRSGCU`."""
    resource_name_vgcu_percentage: str = msgspec.field(
        default="", name="resourceNameVGCUPercentage"
    )
    """Of older charts; HAMi 2.10 knows no such resource, and a Pod that names it is not ours."""


def _vendors(keys: Enflame) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="enflame",
            name="enflame-gcu",
            domain="enflame.com/",
            count=keys.resource_name_gcu,
            implied_cores=100,
            records=Records(
                word="GCU",
                allocated=("hami.io/enflame-gcu-devices-allocated",),
                counted=Counted(memory_mib=100),  # percent: HAMi knows no MiB
            ),
            allocations=recorded("enflame-gcu"),
        ),
        Vendor(
            family="enflame",
            name="enflame-drs",
            domain="enflame.com/",
            count=keys.resource_name_drs_gcu or keys.resource_name_vgcu or _DRS,
            count_is_slices=True,
            count_or_size=True,
            memory=keys.resource_name_gcu_memory,
            memory_unit=1024,
            memory_in_mib_from=256,
            cores=keys.resource_name_gcu_core,
            nonzero=frozenset({"count", "memory", "cores"}),
            records=Records(
                register=("enflame.com/gcu-drs-capacity",),
                fields=Fields(
                    inside="devices",
                    shapes="profiles",
                    id="index",
                    word="enflame-drs",
                    model="",
                    memory="",  # told by the largest shape; allocations write MiB
                    cores="",
                    slots="capacity",
                    healthy="",
                ),
                allocated=("hami.io/enflame-vgpu-devices-allocated",),
            ),
            allocations=(
                "hami.io/enflame-vgpu-devices-allocated",
                *(f"enflame.com/{key}" for key in _ASSIGNED),
            ),
            selectors=Selectors(
                uuids=("enflame.com/use-gpuuuid",), not_uuids=("enflame.com/nouse-gpuuuid",)
            ),
        ),
    )


SECTION = Section("enflame", "enflame", Enflame, Enflame(), _vendors)
