"""The readable report: every cell, every server, and berth's ratios next to the bars."""

from collections.abc import Iterator

from benchmarks.bodies import BODIES
from benchmarks.results import Results

BAR_CONNECTIONS = 25
FLOOR_BARS = {"cpu": 1.5, "gpu": 1.8, "train": 2.5}
"""berth costs at most this many times the CPU of the floor."""
DIFF_BARS = {"cpu": 5.0, "gpu": 7.0, "train": 8.0}
"""flask-jsonpatch costs at least this many times the CPU of berth."""


def report(results: Results) -> str:
    """Return the tables as text."""
    lines = [*_cases(results), "", *_servers(results), "", *_bars(results)]
    return "\n".join(lines)


def _cases(results: Results) -> Iterator[str]:
    figures = f"{'CPU µs/req':>12}{'req/s':>10}{'p50 ms':>9}{'p99 ms':>9}"
    yield f"{'body':6} {'conns':>5}  {'server':16}{figures}"
    last = None
    for case in results.cases:
        cell = (case.body, case.connections)
        label = f"{case.body:6} {case.connections:5}" if cell != last else " " * 12
        last = cell
        figures = f"{case.cpu_us:12.1f}{case.rps:10.0f}{case.p50_ms:9.2f}{case.p99_ms:9.2f}"
        yield f"{label}  {case.server:16}{figures}"


def _servers(results: Results) -> Iterator[str]:
    yield f"{'server':16}{'RSS MB':>8}{'cold start s':>14}"
    for server in results.servers:
        yield f"{server.server:16}{server.rss_mb:8.1f}{server.cold_start_s:14.3f}"


def _bars(results: Results) -> Iterator[str]:
    yield f"CPU per request at {BAR_CONNECTIONS} connections:"
    for body in BODIES:
        cpu = results.cpu_us(body, BAR_CONNECTIONS)
        berth = cpu.get("berth")
        if berth is None:
            yield f"  {body:6} berth was not measured"
            continue
        if "floor" in cpu:
            ratio, bar = berth / cpu["floor"], FLOOR_BARS[body]
            yield f"  {body:6} {ratio:5.2f}x of floor, at most {bar:.1f}x: {_met(ratio <= bar)}"
        if "flask-jsonpatch" in cpu:
            ratio, bar = cpu["flask-jsonpatch"] / berth, DIFF_BARS[body]
            text = f"{ratio:5.2f}x cheaper than flask-jsonpatch, at least {bar:.1f}x"
            yield f"  {body:6} {text}: {_met(ratio >= bar)}"


def _met(met: bool) -> str:  # noqa: FBT001
    return "met" if met else "NOT MET"
