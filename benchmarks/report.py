"""The readable report: every cell, every server, and berth's ratios next to the bars.

A bar is held against the cheapest turns. The ratio of turns that followed each other is steadier
where neighbours come and go, but where they stay, their load is in it.
"""

from collections.abc import Callable, Iterator

from benchmarks.bodies import BODIES
from benchmarks.results import Case, Results

BAR_CONNECTIONS = 25
FLOOR_BARS = {"cpu": 1.5, "gpu": 1.8, "train": 2.5}
"""berth costs at most this many times the CPU of the floor."""
DIFF_BARS = {"cpu": 5.0, "gpu": 7.0, "train": 8.0}
"""flask-jsonpatch costs at least this many times the CPU of berth."""
TRANSLATED_BARS = {"gpu": 1.3, "train": 1.3}
"""A Pod that is translated costs at most this many times the CPU of one that is not."""
_ALIKE = "Pods of one workload"
_UNLIKE = "Pods that are all different"


def report(results: Results) -> str:
    """Return the tables as text."""
    lines = [*_cases(results), "", *_servers(results), "", *_bars(results)]
    return "\n".join(lines)


def _cases(results: Results) -> Iterator[str]:
    figures = f"{'CPU µs/req':>12}{'median':>9}{'req/s':>10}{'p50 ms':>9}{'p99 ms':>9}"
    yield f"{'body':6} {'conns':>5}  {'server':16}{figures}"
    last = None
    for case in results.cases:
        cell = (case.body, case.connections)
        label = f"{case.body:6} {case.connections:5}" if cell != last else " " * 12
        last = cell
        figures = f"{case.cpu_us:12.1f}{case.cpu_median_us:9.1f}{case.rps:10.0f}"
        yield f"{label}  {case.server:16}{figures}{case.p50_ms:9.2f}{case.p99_ms:9.2f}"


def _servers(results: Results) -> Iterator[str]:
    yield f"{'server':16}{'RSS MB':>8}{'cold start s':>14}"
    for server in results.servers:
        yield f"{server.server:16}{server.rss_mb:8.1f}{server.cold_start_s:14.3f}"


def _bars(results: Results) -> Iterator[str]:
    yield f"CPU per request at {BAR_CONNECTIONS} connections, cheapest turn by cheapest turn;"
    yield "in brackets, the median of the ratios of turns that followed each other:"
    cells = {body: results.cell(body, BAR_CONNECTIONS) for body in BODIES}
    for server, pods in (("berth", _ALIKE), ("berth-unlike", _UNLIKE)):
        yield f"{pods} ({server}):"
        for body, cell in cells.items():
            yield _at_most(body, cell, (server, "floor"), FLOOR_BARS[body])
            yield _at_least(body, cell, ("flask-jsonpatch", server), DIFF_BARS[body])
    yield f"{_UNLIKE}, translated for Volcano (berth-volcano):"
    for body, bar in TRANSLATED_BARS.items():
        yield _at_most(body, cells[body], ("berth-volcano", "berth-unlike"), bar)


def _at_most(body: str, cell: dict[str, Case], pair: tuple[str, str], bar: float) -> str:
    """Return what the first server costs in units of the second."""
    words = f"of {pair[1]}, at most {bar:.1f}x"
    return _compared(body, cell, pair, words, lambda times: times <= bar)


def _at_least(body: str, cell: dict[str, Case], pair: tuple[str, str], bar: float) -> str:
    """Return how much cheaper than the first server the second is."""
    words = f"cheaper than {pair[0]}, at least {bar:.1f}x"
    return _compared(body, cell, pair, words, lambda times: times >= bar)


def _compared(
    body: str,
    cell: dict[str, Case],
    pair: tuple[str, str],
    words: str,
    holds: Callable[[float], bool],
) -> str:
    if missing := [name for name in pair if name not in cell]:
        return f"  {body:6} not measured: {', '.join(missing)}"
    one, other = cell[pair[0]], cell[pair[1]]
    times = one.times(other)
    shown = f"{times:5.2f}x ({one.times_by_turns(other):.2f}x)"
    return f"  {body:6} {shown} {words}: {'met' if holds(times) else 'NOT MET'}"
