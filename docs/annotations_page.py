#!/usr/bin/env python3
"""Writes docs/reference/annotations.md from names.py, and from what the accelerators say."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from berth import names
from berth.admission import stacks
from berth.model.vendor import Selectors, Vendor
from berth.settings import Stacks
from berth.vendors import VENDORS

PAGE = Path(__file__).parent / "reference/annotations.md"
_KEY = re.compile(r"[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9._-]+)?(?<!\.)")
Part = Callable[[Vendor], object]
HEAD = """\
# Annotations and labels

<!-- scripts/generate writes this page from names.py and vendors/ in src/berth: change it there. -->
"""
CHOOSING = """
## Annotations that choose devices

Write these on a Pod, or on a Pod template. Lists are separated by commas. A word for a model
matches every model whose name contains it, in upper or lower case. If Berth does not understand a
value, or if the annotations contradict each other, it refuses the Pod.

| Accelerator | models | not these | devices | not these | one NUMA node | sharing | besides |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""
RECORDS = """
## Annotations that record an allocation

Only HAMi's and Volcano's schedulers and device plugins may write these
([why](../how-to/guard-allocations.md)). For every accelerator: {shared}.

| Accelerator | Keys |
| --- | --- |
"""


def main() -> None:
    """Write the page."""
    sections = [HEAD, *_named(), CHOOSING, *_choosing(), _records_head(), *_records()]
    PAGE.write_text("".join(sections))


def _named() -> Iterator[str]:
    """Yield a section for each part of names.py that has keys with a word about them."""
    for part in inspect.getsource(names).split("\n# ")[1:]:
        comment, _, body = part.partition("\n")
        title = re.split(r"[.(]", comment)[0].strip().replace("Ours", "Berth's own")
        rows = [f"| `{key}` | {what} |\n" for key, what in _documented(body)]
        if rows:
            yield f"\n## {title}\n\n| Key | What it is |\n| --- | --- |\n{''.join(rows)}"


def _documented(source: str) -> Iterator[tuple[str, str]]:
    body = ast.parse(source).body
    for one, below in pairwise(body):
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.value, ast.Constant):
            continue
        key = one.value.value
        if isinstance(key, str) and _KEY.fullmatch(key) and isinstance(below, ast.Expr):
            yield key, " ".join(str(ast.literal_eval(below.value)).split())


def _choosing() -> Iterator[str]:
    for title, vendor in _distinct(lambda vendor: vendor.selectors):
        chosen: Selectors = vendor.selectors
        cells = (
            (chosen.models,),
            (chosen.not_models,),
            chosen.uuids,
            chosen.not_uuids,
            (chosen.numa,),
            (chosen.mode,),
            (*chosen.other, *chosen.switches),
        )
        if chosen.keys:
            yield f"| {title} | {' | '.join(map(_keys, cells))} |\n"


def _records_head() -> str:
    return RECORDS.format(shared=_keys(names.HAMI_ALLOCATIONS))


def _records() -> Iterator[str]:
    for title, vendor in _distinct(lambda vendor: vendor.allocations):
        if vendor.allocations:
            yield f"| {title} | {_keys(vendor.allocations)} |\n"


def _distinct(part: Part) -> Iterator[tuple[str, Vendor]]:
    """Yield each accelerator whose part differs from those before it in its family."""
    seen: set[tuple[str, object]] = set()
    theirs = replace(stacks.words(Stacks(), VENDORS)["volcano"], name="nvidia, in Volcano's words")
    for vendor in (*VENDORS, theirs):
        known = (vendor.family, part(vendor))
        if known not in seen:
            seen.add(known)
            yield vendor.name, vendor


def _keys(keys: tuple[str, ...]) -> str:
    return ", ".join(f"`{key}`" for key in keys if key)


if __name__ == "__main__":
    main()
