"""The accelerators that Berth knows: one file each, one line here."""

from typing import Any

from berth.model.section import Section
from berth.model.vendor import Vendor
from berth.vendors import (
    amd,
    ascend,
    awsneuron,
    biren,
    cambricon,
    enflame,
    hygon,
    iluvatar,
    kunlun,
    metax,
    mthreads,
    nvidia,
    vastai,
)

SECTIONS: tuple[Section[Any], ...] = (
    nvidia.SECTION,
    ascend.SECTION,
    cambricon.SECTION,
    hygon.SECTION,
    iluvatar.SECTION,
    enflame.SECTION,
    metax.SECTION,
    mthreads.SECTION,
    kunlun.SECTION,
    awsneuron.SECTION,
    amd.SECTION,
    biren.SECTION,
    vastai.SECTION,
)
VENDORS: tuple[Vendor, ...] = tuple(
    vendor for section in SECTIONS for vendor in section.vendors(section.default)
)
"""As HAMi's chart has them, where no device-config says otherwise."""
