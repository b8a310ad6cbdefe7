"""Huawei Ascend under HAMi: one accelerator per chip of the configuration.

A card is cut by templates (hard), or, with an annotation, freely by memory and cores (soft).
"""

from collections.abc import Mapping

import msgspec

from berth.errors import UsageError
from berth.model.raw import Json
from berth.model.records import Records
from berth.model.said import Facts, either
from berth.model.section import Count, Keys, Section, Size
from berth.model.vendor import Amounts, Fault, Selectors, Settled, Vendor, recorded

MODE = "huawei.com/vnpu-mode"
_SOFT = "hami-core"
_MODES = (_SOFT, "template")
"""HAMi 2.10 takes whatever is not the first for templates; later ones name them."""
_PAIRED = "Ascend910C"


class Template(Keys, frozen=True, kw_only=True):
    """A size into which a card can be cut."""

    name: str
    memory: Size
    ai_core: Count = 0
    ai_cpu: Count = msgspec.field(default=0, name="aiCPU")


class Chip(Keys, frozen=True, kw_only=True):
    """A chip in `vnpus.configs`. Memory is in MiB."""

    chip_name: str = ""
    """What the node side looks for; HAMi's scheduler does not read it."""
    common_word: str
    resource_name: str
    resource_memory_name: str = ""
    resource_core_name: str = ""
    memory_allocatable: Size
    memory_capacity: Size
    memory_factor: Count = 1
    ai_core: Count = 0
    ai_cpu: Count = msgspec.field(default=0, name="aiCPU")
    runtime_class_name: str = ""
    overwrite_env: bool = False
    super_pod: bool = False
    templates: tuple[Template, ...] = ()


def _settle(vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]) -> Settled:
    """Judge the mode too: who means to split softly, and misspells it, gets a template."""
    mode = annotations.get(MODE)
    settled = _split(vendor, asked, soft=mode == _SOFT)
    if not mode or mode in _MODES:
        return settled
    facts: Facts = {"shown": str(mode)[:40], "known": either(_MODES)}
    wrong = Fault(code="annotation.mode", annotation=MODE, facts=facts)
    return msgspec.structs.replace(settled, faults=(*settled.faults, wrong))


def _split(vendor: Vendor, asked: Amounts, *, soft: bool) -> Settled:
    """HAMi's MutateAdmission for Ascend, with its order of tests; soft splits have bounds here."""
    count, memory = asked.count or 0, asked.memory or 0
    if vendor.in_pairs:
        if count > 1 and count % 2:
            odd = {"count": count, "below": count - 1, "above": count + 1}
            return _refused(asked, "not-a-multiple.pairs", "count", odd)
        count += count % 2
    if asked.cores and not soft:
        return _refused(asked, "not-shared.cores", "cores", {"mode": MODE, "soft": _SOFT})
    whole = vendor.card_mib // vendor.unit_mib
    most = whole if soft else vendor.slices[-1][0] // vendor.unit_mib
    if memory > most:
        facts: Facts = {"memory": memory, "device": vendor.name, "most": most}
        return _refused(asked, "too-large.npu", "memory", facts)
    given = (memory if soft else vendor.sliced(memory)) if memory else whole
    if count > 1 and given != whole and not soft:
        if vendor.in_pairs:
            pair: Facts = {"memory": memory, "count": count, "whole": whole}
            return _refused(asked, "not-shared.pairs", "memory", pair)
        several: Facts = {"memory": memory, "count": count}
        return _refused(asked, "not-shared.templates", "memory", several)
    return Settled(amounts=msgspec.structs.replace(asked, count=count, memory=given))


def _refused(asked: Amounts, code: str, role: str, facts: Facts) -> Settled:
    return Settled(amounts=asked, faults=(Fault(code=code, role=role, facts=facts),))


def _vendors(keys: "Ascend") -> tuple[Vendor, ...]:
    return _of(keys.configs)


def _of(chips: tuple[Chip, ...]) -> tuple[Vendor, ...]:
    return tuple(map(_vendor, chips))


def _vendor(chip: Chip) -> Vendor:
    for template in chip.templates:
        _check(chip, template)
    if chip.memory_allocatable > chip.memory_capacity:
        raise UsageError(f"{chip.common_word}: memoryAllocatable is more than memoryCapacity")
    sizes = [(size, size) for size in sorted(one.memory for one in chip.templates)]
    word = chip.common_word
    return Vendor(
        family="ascend",
        name=word,
        domain="huawei.com/",
        count=chip.resource_name,
        memory=chip.resource_memory_name,
        memory_factor=chip.memory_factor,
        cores=chip.resource_core_name,
        in_pairs=chip.super_pod and word == _PAIRED,
        slices=(*sizes, (chip.memory_capacity, chip.memory_allocatable)),
        card_mib=chip.memory_allocatable,
        settle=_settle,
        runtime_class=chip.runtime_class_name,
        visible_env="ASCEND_VISIBLE_DEVICES",
        hide_from_others=chip.overwrite_env,
        hidden_value="",
        records=Records(
            register=(f"hami.io/node-register-{word}",),
            allocated=(f"hami.io/{word}-devices-allocated",),
        ),
        allocations=(*recorded(word), f"huawei.com/{word}"),
        selectors=Selectors(
            uuids=(f"hami.io/use-{word}-uuid",),
            not_uuids=(f"hami.io/no-use-{word}-uuid",),
            other=(MODE,),
        ),
    )


def _check(chip: Chip, template: Template) -> None:
    for part, whole, key in (
        (template.memory, chip.memory_capacity, "memory"),
        (template.ai_core, chip.ai_core, "aiCore"),
        (template.ai_cpu, chip.ai_cpu, "aiCPU"),
    ):
        if whole and part > whole:
            raise UsageError(
                f"{chip.common_word}: template {template.name} has more {key} than the chip"
            )


_GIB = 1024
_16_32 = (("vir05_1c_16g", 16 * _GIB), ("vir10_3c_32g", 32 * _GIB))


def _usual(chip: str, word: str, mib: int, *templates: tuple[str, int]) -> Chip:
    """Return a chip as HAMi's chart has it."""
    name = f"huawei.com/{word}"
    return Chip(
        chip_name=chip,
        common_word=word,
        resource_name=name,
        resource_memory_name=f"{name}-memory",
        resource_core_name=f"{name}-core",
        memory_allocatable=21527 if word == "Ascend310P" else mib,
        memory_capacity=mib,
        super_pod=word == _PAIRED,
        templates=tuple(Template(name=name, memory=memory) for name, memory in templates),
    )


_CHIPS = (
    _usual(
        *("910A", "Ascend910A", 32 * _GIB),
        *(("vir02", 2184), ("vir04", 4369), ("vir08", 8738), ("vir16", 17476)),
    ),
    _usual(
        *("910B2", "Ascend910B2", 64 * _GIB),
        *(("vir03_1c_8g", 8 * _GIB), ("vir06_1c_16g", 16 * _GIB), ("vir12_3c_32g", 32 * _GIB)),
    ),
    _usual("910B3", "Ascend910B3", 64 * _GIB, *_16_32),
    _usual("910B4-1", "Ascend910B4-1", 64 * _GIB, *_16_32),
    _usual(
        *("910B4", "Ascend910B4", 32 * _GIB),
        *(("vir05_1c_8g", 8 * _GIB), ("vir10_3c_16g", 16 * _GIB)),
    ),
    _usual(
        *("310P3", "Ascend310P", 24 * _GIB),
        *(("vir01", 3 * _GIB), ("vir02", 6 * _GIB), ("vir04", 12 * _GIB)),
    ),
    _usual("Ascend910", "Ascend910C", 64 * _GIB, *_16_32),
)


class Ascend(Keys, frozen=True, kw_only=True):
    """The section `vnpus`."""

    hami_vnpu_core: bool = False
    """Whether nodes can split softly unless they say otherwise; HAMi's scheduler asks the node."""
    configs: tuple[Chip, ...] = _CHIPS


_LIST = Section("ascend", "vnpus", tuple[Chip, ...], _CHIPS, _of)
SECTION = Section("ascend", "vnpus", Ascend, Ascend(), _vendors, _LIST)
