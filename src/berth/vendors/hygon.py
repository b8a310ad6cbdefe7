"""Hygon DCU under HAMi: shares by memory in MiB, and by cores."""

from berth.model.records import Records
from berth.model.section import Count, Keys, Section
from berth.model.vendor import Selectors, Vendor, recorded


class Hygon(Keys, frozen=True, kw_only=True):
    """The section `hygon`."""

    resource_count_name: str = "hygon.com/dcunum"
    resource_memory_name: str = "hygon.com/dcumem"
    resource_core_name: str = "hygon.com/dcucores"
    memory_factor: Count = 1


def _vendors(keys: Hygon) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="hygon",
            name="hygon",
            domain="hygon.com/",
            count=keys.resource_count_name,
            memory=keys.resource_memory_name,
            memory_factor=keys.memory_factor,
            cores=keys.resource_core_name,
            implied_cores=100,
            records=Records(
                register=("hami.io/node-dcu-register",),
                allocated=("hami.io/dcu-devices-allocated",),
            ),
            allocations=recorded("dcu"),
            selectors=Selectors(
                models="hygon.com/use-dcutype",
                not_models="hygon.com/nouse-dcutype",
                uuids=("hygon.com/use-gpuuuid",),
                not_uuids=("hygon.com/nouse-gpuuuid",),
            ),
        ),
    )


SECTION = Section("hygon", "hygon", Hygon, Hygon(), _vendors)
