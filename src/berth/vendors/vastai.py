"""Vastai under HAMi: whole cards."""

from berth.model.records import Records
from berth.model.section import Keys, Section
from berth.model.vendor import Selectors, Vendor, recorded


class Vastai(Keys, frozen=True, kw_only=True):
    """The section `vastai`."""

    resource_count_name: str = "vastaitech.com/va"


def _vendors(keys: Vastai) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="vastai",
            name="vastai",
            domain="vastaitech.com/",
            count=keys.resource_count_name,
            records=Records(
                register=("hami.io/node-va-register",),
                allocated=("hami.io/Vastai-devices-allocated",),
            ),
            allocations=recorded("Vastai"),
            selectors=Selectors(
                uuids=("vastaitech.com/use-gpuuuid",), not_uuids=("vastaitech.com/nouse-gpuuuid",)
            ),
        ),
    )


SECTION = Section("vastai", "vastai", Vastai, Vastai(), _vendors)
