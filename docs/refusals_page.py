#!/usr/bin/env python3
"""Writes docs/reference/refusals.md and refusals.zh.md from the catalogue of sentences."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from berth.model.reason import Reason
from berth.words import chinese_causes, english_causes
from berth.words.catalogue import CATALOGUES, Language
from berth.words.entry import Cause, Entry

FOLDER = Path(__file__).parent / "reference"


class Page(NamedTuple):
    """What the page says of itself in one language."""

    name: str
    causes: Mapping[str, Cause]
    head: str
    refusals: str
    warnings: str
    columns: tuple[str, ...]


ENGLISH = """\
# Refusals and warnings

<!-- scripts/generate writes this page from src/berth/words: change it there. -->

This page lists everything that Berth can say about a Pod. Each message has a code and some facts;
Berth makes a sentence from them, in the language of the setting [`language`](settings.md): `en` or
`zh`. [中文](refusals.zh.md)

- A refusal is written as "field: sentence; remedy". If a Pod has several mistakes, all are named.
- The HTTP status is 422 if the Pod is wrong in itself, and 403 if only the rules of the cluster
  forbid it.
- Codes do not change; sentences may. The part of a code before the point is what the metric
  `berth_refusals_total` and `codes` in the log show. `said` in the log and `berth explain -o json`
  show the whole code.
- Names, field paths and amounts are the same in each language. The log and the API server's audit
  log are always in English.
"""
CHINESE = """\
# 拒绝与警告

<!-- scripts/generate writes this page from src/berth/words: change it there. -->

本页列出 Berth 对 Pod 的所有拒绝和警告。每条消息由代码和若干事实组成，
其句子按设置 [`language`](settings.md)（`en` 或 `zh`）的语言生成。[English](refusals.md)

- 拒绝写作“字段：句子；处理办法”。如果一个 Pod 有多处错误，会一次全部列出。
- 如果 Pod 本身有错，HTTP 状态码为 422；如果只是违反集群的规定，则为 403。
- 代码不会改动，句子可能改动。指标 `berth_refusals_total` 和日志的 `codes`
  使用代码中句点之前的部分；日志的 `said` 和 `berth explain -o json` 使用完整的代码。
- 资源名、字段路径和数值在任何语言中都相同。日志和 API 服务器的审计日志始终使用英文。
"""
PAGES: Mapping[Language, Page] = {
    "en": Page(
        "refusals.md",
        english_causes.CAUSES,
        ENGLISH,
        "Refusals",
        "Warnings",
        ("Code", "Sentence", "Remedy"),
    ),
    "zh": Page(
        "refusals.zh.md",
        chinese_causes.CAUSES,
        CHINESE,
        "拒绝",
        "警告",
        ("代码", "句子", "处理办法"),
    ),
}


def main() -> None:
    """Write the pages."""
    for language, page in PAGES.items():
        catalogue = CATALOGUES[language]
        lines = [page.head, f"## {page.refusals}", *_classes(catalogue.refusals, page)]
        lines += [f"\n## {page.warnings}", *_classes(catalogue.warnings, page)]
        (FOLDER / page.name).write_text("\n".join(lines) + "\n")


def _classes(entries: Mapping[str, Entry], page: Page) -> Iterator[str]:
    """Yield the lines of each class of sentences: its cause, then a row for each code."""
    for name, codes in groupby(sorted(entries), lambda code: code.partition(".")[0]):
        status = f" ({_status(name)})" if name in _REASONS else ""
        cause = page.causes[name]
        yield f"\n### `{name}`{status}\n\n{cause.why}\n"
        yield _row(page.columns)
        yield _row(["---"] * len(page.columns))
        for code in codes:
            what, fix = entries[code]
            yield _row((f"`{code}`", _shown(what), _shown(fix) or cause.remedy))


_REASONS = {reason.value for reason in Reason}


def _status(reason: str) -> int:
    return 403 if Reason(reason).is_policy else 422


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _shown(text: str) -> str:
    """Write facts as `{name}`, without how they are formatted."""
    return re.sub(r"\{(\w+)(?:![rs])?\}", r"`{\1}`", text)


if __name__ == "__main__":
    main()
