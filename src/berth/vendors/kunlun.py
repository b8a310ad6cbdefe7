"""Kunlunxin under HAMi: whole XPUs, and vXPUs of a quarter, a half or all of one."""

from collections.abc import Mapping

import msgspec

from berth.model.raw import Json
from berth.model.records import Counted, Records
from berth.model.section import Keys, Section
from berth.model.vendor import Amounts, Fault, Selectors, Settled, Vendor, recorded

_CARD = 98304
_SIZES = (_CARD // 4, _CARD // 2, _CARD)
_SELECTORS = Selectors(
    uuids=("hami.io/use-xpu-uuid", "baidu.com/use-gpuuuid"),
    not_uuids=("hami.io/no-use-xpu-uuid", "baidu.com/nouse-gpuuuid"),
)


class Kunlun(Keys, frozen=True, kw_only=True):
    """The section `kunlun`."""

    resource_count_name: str = "kunlunxin.com/xpu"
    resource_v_count_name: str = "kunlunxin.com/vxpu"
    resource_v_memory_name: str = "kunlunxin.com/vxpu-memory"


def _settle(vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]) -> Settled:
    """Round memory up; 0 is the smallest vXPU, as in HAMi."""
    del annotations
    if asked.memory is None:
        return Settled(amounts=asked)
    memory = vendor.sliced(asked.memory)
    if memory is not None:
        return Settled(amounts=msgspec.structs.replace(asked, memory=memory))
    facts = {"memory": asked.memory, "most": vendor.card_mib}
    fault = Fault(code="too-large.xpu", role="memory", facts=facts)
    return Settled(amounts=asked, faults=(fault,))


def _vendors(keys: Kunlun) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="kunlun",
            name="kunlun-xpu",
            domain="kunlunxin.com/",
            count=keys.resource_count_name,
            records=Records(
                word="kunlun",
                allocated=("hami.io/kunlun-allocated",),
                counted=Counted(memory_mib=_CARD, numa_halves=True),
            ),
            allocations=("hami.io/kunlun-allocated", "BAIDU_COM_DEVICE_IDX"),
            selectors=_SELECTORS,
        ),
        Vendor(
            family="kunlun",
            name="kunlun-vxpu",
            domain="kunlunxin.com/",
            count=keys.resource_v_count_name,
            memory=keys.resource_v_memory_name,
            slices=tuple((size, size) for size in _SIZES),
            card_mib=_CARD,
            cores_by_memory=True,
            allocations=recorded("xpu"),
            settle=_settle,
            records=Records(
                register=("hami.io/node-register-xpu",),
                allocated=("hami.io/xpu-devices-allocated",),
            ),
            selectors=_SELECTORS,
        ),
    )


SECTION = Section("kunlun", "kunlun", Kunlun, Kunlun(), _vendors)
