#!/usr/bin/env python3
"""Writes docs/reference/metrics.md from the metrics' own names and descriptions."""

from pathlib import Path

from prometheus_client import Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from berth.observe.metrics import Metrics

PAGE = Path(__file__).parent / "reference/metrics.md"
HEAD = """\
# Metrics

<!-- scripts/generate writes this page from src/berth/observe/metrics.py: change it there. -->

Prometheus scrapes `/metrics` on the operator's port (`metrics.port`, 9464), in plain HTTP. Beside
these come the process's own: `process_cpu_seconds_total`, `process_resident_memory_bytes`,
`process_open_fds`, `python_gc_*` and `python_info`. [How to watch Berth](../how-to/watch.md) has
the alerts.

| Name | Kind | Labels | What it is |
| --- | --- | --- | --- |
"""


def main() -> None:
    """Write the page."""
    rows = "".join(_row(metric) for metric in Metrics().all())
    PAGE.write_text(HEAD + rows)


def _row(metric: MetricWrapperBase) -> str:
    family = next(iter(metric.describe()))
    name = f"{family.name}_total" if isinstance(metric, Counter) else family.name
    labels = ", ".join(f"`{label}`" for label in metric._labelnames)  # noqa: SLF001  no other way
    text = family.documentation
    if isinstance(metric, Histogram):
        bounds = ", ".join(f"{bound:g}" for bound in metric._upper_bounds[:-1])  # noqa: SLF001
        text += f" Buckets, in seconds: {bounds}."
    return f"| `{name}` | {family.type} | {labels} | {text} |\n"


if __name__ == "__main__":
    main()
