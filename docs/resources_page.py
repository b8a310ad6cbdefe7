#!/usr/bin/env python3
"""Writes docs/reference/resources.md from the accelerators as HAMi's chart configures them."""

from collections.abc import Iterator
from pathlib import Path

from berth import names
from berth.admission import stacks
from berth.dialects import volcano
from berth.model.vendor import Vendor
from berth.settings import Stacks
from berth.vendors import VENDORS

PAGE = Path(__file__).parent / "reference/resources.md"
HEAD = """\
# Resources

<!-- scripts/generate writes this page from src/berth/vendors: change it there. -->

This is what a container can write under `resources.limits`, for each accelerator. The names are
those of HAMi's chart; a `device-config.yaml` can change them. Leave requests out, or make them
equal to the limits. All numbers are whole numbers. An amount is for each device, unless the table
says "of all together". If the count is "required", memory or cores without it give no device.

| Accelerator | Count | Memory | Memory in percent | Cores | Priority |
| --- | --- | --- | --- | --- | --- |
"""
OTHERS = """
## In other dialects

These words ask for NVIDIA's cards, if a [conversion](../how-to/translate-requests.md) reads or
writes them. Amounts are for each card. The names, and the blocks in which Volcano counts memory,
are [settings](settings.md) under `stacks`.

| Dialect | Count | Memory | Memory in percent | Cores |
| --- | --- | --- | --- | --- |
"""
KAI = f"| kai | annotations: {', '.join(f'`{key}`' for key in names.KAI_ANNOTATIONS)} |  |  |  |\n"
FOOT = """
`16Gi` means 17179869184 units. No card has so much, so it is refused, and the message names the
number that was probably meant. If a card is cut into fixed sizes (templates, slices), the amount is
rounded up to the next size, and the rounded amount is written into the Pod.
"""


def main() -> None:
    """Write the page."""
    rows = (
        f"| {one.name} | {_count(one)} | {_memory(one)} | {_named(one.memory_percent)} "
        f"| {_cores(one)} | {_named(one.priority)} |\n"
        for one in VENDORS
    )
    PAGE.write_text(f"{HEAD}{''.join(rows)}{FOOT}{OTHERS}{''.join(_others())}{KAI}")


def _others() -> Iterator[str]:
    words = stacks.words(Stacks(), VENDORS)
    for one in (words["volcano"], words["pool"], words["plain"]):
        cells = (_count(one), _memory(one), _percent(one), _cores(one))
        yield f"| {one.dialect} | {' | '.join(cells)} |\n"


def _percent(vendor: Vendor) -> str:
    last = f", up to Volcano 1.{volcano.LAST_WITH_PERCENT}" if vendor.memory_percent else ""
    return _named(vendor.memory_percent) + last


def _named(name: str) -> str:
    return f"`{name}`" if name else ""


def _of_all(vendor: Vendor, role: str) -> str:
    return ", of all together" if role in vendor.of_all else ""


def _count(vendor: Vendor) -> str:
    what = ", in slices of one device" if vendor.count_is_slices else ""
    more = ", an even number" if vendor.in_pairs else ""
    without = "" if vendor.default_count or vendor.count_or_size else ", required"
    return f"`{vendor.count}`{what}{more}{without}"


def _memory(vendor: Vendor) -> str:
    if not vendor.memory:
        return ""
    unit = "MiB" if vendor.unit_mib == 1 else f"{vendor.unit_mib} MiB"
    if vendor.memory_is_bytes:
        return f"`{vendor.memory}`, a size such as 16Gi"
    if vendor.memory_in_bytes:
        return f"`{vendor.memory}`, GiB, or a size such as 512Mi"
    if vendor.memory_in_mib_from:
        unit += f"; from {vendor.memory_in_mib_from} on MiB"
    return f"`{vendor.memory}`, {unit}{_of_all(vendor, 'memory')}"


def _cores(vendor: Vendor) -> str:
    if not vendor.cores:
        return ""
    unit = "percent" if vendor.core_unit == 100 else f"of {vendor.core_unit}"
    return f"`{vendor.cores}`, {unit}{_of_all(vendor, 'cores')}"


if __name__ == "__main__":
    main()
