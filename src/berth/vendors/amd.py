"""AMD under HAMi: shares by memory in MiB, and by cores."""

from berth.model.records import Records
from berth.model.section import Keys, Section
from berth.model.vendor import Selectors, Vendor, recorded


class Amd(Keys, frozen=True, kw_only=True):
    """The section `amd`."""

    resource_count_name: str = "amd.com/gpu"
    resource_core_name: str = "amd.com/gpucores"
    resource_memory_name: str = "amd.com/gpumem"


def _vendors(keys: Amd) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="amd",
            name="amd",
            domain="amd.com/",
            count=keys.resource_count_name,
            memory=keys.resource_memory_name,
            cores=keys.resource_core_name,
            nonzero=frozenset({"cores"}),
            implied_cores=100,
            allocations=recorded("amd"),
            default_count=1,  # HAMi takes such a Pod over too, without a device
            records=Records(
                register=("hami.io/node-amd-register",),
                allocated=("hami.io/amd-devices-allocated",),
                cores_are_own=True,
            ),
            selectors=Selectors(
                models="amd.com/use-gputype",
                not_models="amd.com/nouse-gputype",
                uuids=("amd.com/use-gpu-uuid",),
                not_uuids=("amd.com/nouse-gpu-uuid",),
            ),
        ),
    )


SECTION = Section("amd", "amd", Amd, Amd(), _vendors)
