"""What came of simulated runs, as a picture: needs matplotlib, the extra `plot`."""

import csv
import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean

from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from berth.errors import UsageError
from berth.simulator.result import Curve, Done, Point
from berth.simulator.runs import NAMES
from berth.simulator.trace import PUBLISHED, own

SIZE = (15.0, 4.8)
"""Inches."""
HOUR = 3600
"""Seconds."""
FROM = 80
"""Percent offered at which the first picture begins: before, nearly every policy places all."""


def draw(file: Path, runs: Sequence[Done]) -> None:
    """Draw allocation, fragmentation and failures of runs of one trace. Raises UsageError."""
    figure = Figure(figsize=SIZE, layout="constrained")
    allocation, fragmentation, failures = figure.subplots(1, 3)
    unit = runs[0].curve.unit
    scale = HOUR if unit == "seconds" else 1
    for policy, some in _by_policy(runs).items():
        curve = _mean([one.curve for one in some])
        at = [one.at / scale for one in curve]
        label = f"{policy} ({len(some)} seeds)" if len(some) > 1 else policy
        _line(allocation, at, [one.allocated for one in curve], policy, label)
        _line(fragmentation, at, [one.fragmented for one in curve], policy, label)
    across = f"time, {'hours' if scale == HOUR else unit}" if unit else "offered, % of all GPUs"
    if not unit:
        _published(allocation, runs)
    _labelled(allocation, "Allocated", across, "% of all GPUs")
    _labelled(fragmentation, "Fragmented (FGD's measure)", across, "% of all GPUs")
    _failures(failures, runs)
    figure.suptitle(f"Trace {runs[0].result.trace}")
    try:
        with rc_context({"svg.fonttype": "none"}):  # text that can be found and read aloud
            figure.savefig(file)
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None


def _line(
    axes: Axes, at: Sequence[float], values: Sequence[float], policy: str, label: str
) -> None:
    marker = "o" if len(at) == 1 else ""  # a line of one point cannot be seen
    axes.plot(at, values, color=_colour(policy), label=label, marker=marker)


def _colour(policy: str) -> tuple[float, float, float, float]:
    """Give each policy its colour, the same in every picture."""
    return colormaps["tab20"](NAMES.index(policy))


def _by_policy(runs: Iterable[Done]) -> dict[str, list[Done]]:
    found: dict[str, list[Done]] = {}
    for one in runs:
        found.setdefault(one.result.policy, []).append(one)
    return found


def _mean(curves: Sequence[Curve]) -> list[Point]:
    """Return the mean of what several seeds have at the same place, or one by one with times."""
    found: dict[float, list[Point]] = {}
    for curve in curves:
        for number, point in enumerate(curve.points):
            found.setdefault(number if curve.unit else point.at, []).append(point)
    return [
        Point(
            fmean(one.at for one in some),
            fmean(one.allocated for one in some),
            fmean(one.fragmented for one in some),
        )
        for _, some in sorted(found.items())
        if len(some) == len(curves)
    ]


def _published(axes: Axes, runs: Sequence[Done]) -> None:
    """Add the curves of the FGD paper, for the seeds that were run, or for all."""
    points = [point for one in runs for point in one.curve.points]
    highest = max((point.at for point in points), default=0)
    lowest = FROM if highest > FROM else 0
    axes.plot([lowest, highest], [lowest, highest], color="0.8", linewidth=1, zorder=0)
    seeds = {str(one.result.seed) for one in runs}
    for policy, rows in _curves(runs[0].result.trace).items():
        some = [row for row in rows if row["seed"] in seeds] or rows
        at = [percent for percent in range(lowest, 131) if percent <= highest]
        means = [fmean(float(row[str(percent)]) for row in some) for percent in at]
        label = f"{policy}, published"
        axes.plot(at, means, "--", color=_colour(policy), linewidth=1, alpha=0.7, label=label)
    if highest > lowest:
        axes.set_xlim(lowest, highest)
        seen = [point.allocated for point in points if point.at >= lowest]
        axes.set_ylim(min(lowest, *seen), min(highest, 100))


def _curves(trace: str) -> dict[str, list[dict[str, str]]]:
    """Return the published rows of a trace, by our name of the policy."""
    path = own() / "published" / "alloc_pct.csv.gz"
    ours = {theirs: name for name, theirs in PUBLISHED.items()}
    found: dict[str, list[dict[str, str]]] = {}
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            if row["trace"] == trace and row["policy"] in ours:
                found.setdefault(ours[row["policy"]], []).append(row)
    return found


def _failures(axes: Axes, runs: Sequence[Done]) -> None:
    policies = _by_policy(runs)
    sizes = list(dict.fromkeys(size for one in runs for size in one.result.classes))
    width = 0.8 / len(policies)
    for place, (policy, some) in enumerate(policies.items()):
        shares = [_failed(some, size) for size in sizes]
        across = [at + width * place for at in range(len(sizes))]
        axes.bar(across, shares, width, color=_colour(policy), label=policy)
    axes.set_xticks([at + 0.4 - width / 2 for at in range(len(sizes))], sizes, rotation=30)
    axes.set_ylim(bottom=0)
    _labelled(axes, "Failed, by size of Pod", "", "% of the Pods of that size")


def _failed(runs: Sequence[Done], size: str) -> float:
    some = [one.result.classes[size] for one in runs if size in one.result.classes]
    return sum(one.failed for one in some) / max(1, sum(one.came for one in some)) * 100


def _labelled(axes: Axes, title: str, across: str, up: str) -> None:
    axes.set_title(title)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")
