#!/usr/bin/env python3
"""Writes docs/reference/metrics.md from the metrics' own names and descriptions."""

from pathlib import Path

from berth.observe.metrics import Metrics, Shown

PAGE = Path(__file__).parent / "reference/metrics.md"
HEAD = """\
# Metrics

<!-- scripts/generate writes this page from src/berth/observe/metrics.py: change it there. -->

Prometheus scrapes `/metrics` on the operator's port (`metrics.port`, 9464), in plain HTTP. The
usual metrics of a process are there too: `process_cpu_seconds_total`,
`process_resident_memory_bytes`, `process_open_fds`, `python_gc_*` and `python_info`. [How to watch
Berth](../how-to/watch.md) has alerts.

| Name | Kind | Labels | What it is |
| --- | --- | --- | --- |
"""


def main() -> None:
    """Write the page."""
    rows = "".join(_row(metric) for metric in Metrics().all())
    PAGE.write_text(HEAD + rows)


def _row(metric: Shown) -> str:
    name = f"{metric.name}_total" if metric.kind == "counter" else metric.name
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    text = metric.text
    if metric.bounds:
        text += f" Buckets, in seconds: {', '.join(f'{bound:g}' for bound in metric.bounds)}."
    return f"| `{name}` | {metric.kind} | {labels} | {text} |\n"


if __name__ == "__main__":
    main()
