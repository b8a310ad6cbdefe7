"""Biren under HAMi: whole cards."""

from berth.model.records import Records
from berth.model.section import Keys, Section
from berth.model.vendor import Selectors, Vendor, recorded


class Biren(Keys, frozen=True, kw_only=True):
    """The section `biren`."""

    resource_count_name: str = "birentech.com/gpu"


def _vendors(keys: Biren) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="biren",
            name="biren",
            domain="birentech.com/",
            count=keys.resource_count_name,
            records=Records(
                register=("hami.io/node-biren-register",),
                allocated=("hami.io/Biren-devices-allocated",),
            ),
            allocations=recorded("Biren"),
            selectors=Selectors(
                uuids=("birentech.com/use-gpuuuid",), not_uuids=("birentech.com/nouse-gpuuuid",)
            ),
        ),
    )


SECTION = Section("biren", "biren", Biren, Biren(), _vendors)
