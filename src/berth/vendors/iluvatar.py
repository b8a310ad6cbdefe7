"""Iluvatar under HAMi: one accelerator per model, each with resources of its own."""

from collections.abc import Mapping

import msgspec

from berth.model.raw import Json
from berth.model.records import Records
from berth.model.section import Keys, Section
from berth.model.vendor import Amounts, Selectors, Settled, Vendor, recorded

_MODELS = ("MR-V100", "MR-V50", "BI-V150", "BI-V100")


class Chip(Keys, frozen=True, kw_only=True):
    """A model in the section `iluvatars`."""

    chip_name: str = ""
    """What the node side looks for; HAMi's scheduler does not read it."""
    common_word: str
    resource_count_name: str
    resource_memory_name: str = ""
    resource_core_name: str = ""


def _settle(vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]) -> Settled:
    """Give several cards whole: their cores are counted together."""
    del annotations
    count = asked.count or 0
    if count > 1:
        asked = msgspec.structs.replace(asked, cores=count * vendor.core_unit)
    return Settled(amounts=asked)


def _vendors(chips: tuple[Chip, ...]) -> tuple[Vendor, ...]:
    return tuple(
        Vendor(
            family="iluvatar",
            name=chip.common_word,
            domain="iluvatar.ai/",
            count=chip.resource_count_name,
            memory=chip.resource_memory_name,
            memory_unit=256,
            cores=chip.resource_core_name,
            of_all=frozenset({"cores"}),
            settle=_settle,
            allocations=recorded(chip.common_word),
            name_env="SOL_CONTINER_NAME",  # so misspelt by the vendor's software
            records=Records(
                register=(f"hami.io/node-{chip.common_word}-register",),
                allocated=(f"hami.io/{chip.common_word}-devices-allocated",),
            ),
            selectors=Selectors(
                uuids=(f"hami.io/use-{chip.common_word}-uuid",),
                not_uuids=(f"hami.io/no-use-{chip.common_word}-uuid",),
            ),
        )
        for chip in chips
    )


def _usual(model: str) -> Chip:
    return Chip(
        chip_name=model,
        common_word=model,
        resource_count_name=f"iluvatar.ai/{model}-vgpu",
        resource_memory_name=f"iluvatar.ai/{model}.vMem",
        resource_core_name=f"iluvatar.ai/{model}.vCore",
    )


SECTION = Section("iluvatar", "iluvatars", tuple[Chip, ...], tuple(map(_usual, _MODELS)), _vendors)
