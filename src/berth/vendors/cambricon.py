"""Cambricon MLU under HAMi: shares by memory in units of 256 MiB, and by cores."""

from berth.model.records import Counted, Records
from berth.model.section import Keys, Section
from berth.model.vendor import Selectors, Vendor, recorded


class Cambricon(Keys, frozen=True, kw_only=True):
    """The section `cambricon`."""

    resource_count_name: str = "cambricon.com/vmlu"
    resource_memory_name: str = "cambricon.com/mlu.smlu.vmemory"
    resource_core_name: str = "cambricon.com/mlu.smlu.vcore"


def _vendors(keys: Cambricon) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="cambricon",
            name="cambricon",
            domain="cambricon.com/",
            count=keys.resource_count_name,
            memory=keys.resource_memory_name,
            memory_unit=256,
            cores=keys.resource_core_name,
            implied_cores=100,
            records=Records(
                word="cambricon-mlu",
                allocated=("hami.io/cambricon-mlu-devices-allocated",),
                counted=Counted(by_cores=True, slots=100),
            ),
            allocations=(
                *recorded("cambricon-mlu"),
                "CAMBRICON_DSMLU_PROFILE",
                "CAMBRICON_DSMLU_ASSIGNED",
            ),
            selectors=Selectors(
                uuids=("cambricon.com/use-gpuuuid",), not_uuids=("cambricon.com/nouse-gpuuuid",)
            ),
        ),
    )


SECTION = Section("cambricon", "cambricon", Cambricon, Cambricon(), _vendors)
