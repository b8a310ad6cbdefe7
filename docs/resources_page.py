#!/usr/bin/env python3
"""Writes docs/reference/resources.md from the accelerators as HAMi's chart configures them."""

from collections.abc import Iterator
from pathlib import Path

from berth import names
from berth.dialects import plain, pool, volcano
from berth.model.vendor import Vendor
from berth.vendors import VENDORS

PAGE = Path(__file__).parent / "reference/resources.md"
HEAD = """\
# Resources

<!-- scripts/generate writes this page from src/berth/vendors: change it there. -->

What a container writes under `resources.limits`, by accelerator, with the names of HAMi's chart; a
`device-config.yaml` may give others. Requests may be left out; where they stand, they equal the
limits. All numbers are whole. An amount is of each device, unless it says "of all together".

| Accelerator | Count | Memory | Memory in percent | Cores | Priority |
| --- | --- | --- | --- | --- | --- |
"""
OTHERS = """
## In other dialects

Of NVIDIA's cards, where a [conversion](../how-to/translate-requests.md) reads or writes them. The
names are [settings](settings.md), `stacks`, and so are the blocks in which Volcano counts memory;
memory and cores are of each card.

| Dialect | Count | Memory | Memory in percent | Cores |
| --- | --- | --- | --- | --- |
"""
KAI = f"| kai | annotations: {', '.join(f'`{key}`' for key in names.KAI_ANNOTATIONS)} |  |  |  |\n"
FOOT = """
`16Gi` is a number of units too, 17179869184 of them: it is refused, as no card is so large, with
the number that was probably meant. Fixed sizes (templates, slices) are rounded up to the next one,
and the Pod says so afterwards. [Settings](settings.md) and [differences](differences.md) have the
rest.
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
    nvidia = next(one for one in VENDORS if one.name == "nvidia")
    for one in (volcano.words(nvidia), pool.words(nvidia), plain.words(nvidia)):
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
    without = "" if vendor.default_count or vendor.count_or_size else ", always"
    return f"`{vendor.count}`{what}{more}{without}"


def _memory(vendor: Vendor) -> str:
    if not vendor.memory:
        return ""
    unit = "MiB" if vendor.unit_mib == 1 else f"{vendor.unit_mib} MiB"
    if vendor.memory_is_bytes:
        return f"`{vendor.memory}`, a size such as 16Gi"
    if vendor.memory_in_bytes:
        unit += "; from 2^20 on bytes"
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
