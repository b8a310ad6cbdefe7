"""The figures of a run, and how turns become one figure: the best, metric by metric.

Noise of the machine only ever adds, so the best is the nearest to what the code costs. CPU per
request is of the cheapest turn of all, with the median of the turns beside it; rate and latencies
are of the best round, whose turns are taken together.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

from benchmarks.load import Turn


@dataclass(frozen=True)
class Case:
    """One cell: server CPU in µs per request, requests per second, latencies in ms.

    The CPU of each turn is kept in the order of the turns, which all servers of a cell share.
    """

    server: str
    body: str
    connections: int
    cpu_us: float
    cpu_median_us: float
    cpu_turns_us: list[float]
    rps: float
    p50_ms: float
    p99_ms: float

    def times(self, other: "Case") -> float:
        """Return how much CPU it takes in units of the other, cheapest turn by cheapest turn."""
        return self.cpu_us / other.cpu_us

    def times_by_turns(self, other: "Case") -> float:
        """Return the same as the median over the turns, each divided by the other's of that time.

        It wanders less than `times` does: a neighbour that is there for seconds slows both.
        """
        pairs = zip(self.cpu_turns_us, other.cpu_turns_us, strict=True)
        return median(mine / theirs for mine, theirs in pairs)


@dataclass(frozen=True)
class Footprint:
    """One server: resident MB (10^6 bytes) after load, seconds from spawn to first 200 answer."""

    server: str
    rss_mb: float
    cold_start_s: float


@dataclass(frozen=True)
class Results:
    """All of a run."""

    cases: list[Case]
    servers: list[Footprint]

    def cell(self, body: str, connections: int) -> dict[str, Case]:
        """Return the cases of a body and so many connections by server."""
        found = [c for c in self.cases if (c.body, c.connections) == (body, connections)]
        return {case.server: case for case in found}

    def as_json(self) -> dict[str, list[dict[str, str | float | list[float]]]]:
        """Return the figures as the JSON form of `--json`."""
        servers = [asdict(server) for server in self.servers]
        return {"cases": [asdict(case) for case in self.cases], "servers": servers}


def best_case(server: str, body: str, connections: int, rounds: Sequence[Sequence[Turn]]) -> Case:
    """Return the cell's least and median CPU, its highest rate and its least latencies."""
    costs = [turn.cpu_s * 1e6 for turns in rounds for turn in turns]
    latencies = [[one for turn in turns for one in turn.latencies_s] for turns in rounds]
    times = [sum(turn.elapsed_s for turn in turns) for turns in rounds]
    rates = [len(answers) / time for answers, time in zip(latencies, times, strict=True)]
    return Case(
        server=server,
        body=body,
        connections=connections,
        cpu_us=round(min(costs), 1),
        cpu_median_us=round(median(costs), 1),
        cpu_turns_us=[round(cost, 1) for cost in costs],
        rps=round(max(rates), 1),
        p50_ms=_best_ms(latencies, 0.50),
        p99_ms=_best_ms(latencies, 0.99),
    )


def _best_ms(rounds: Sequence[list[float]], part: float) -> float:
    """Return the least over the rounds of the latency that `part` of the answers keep within."""
    return round(min(_quantile(latencies, part) for latencies in rounds) * 1e3, 3)


def _quantile(values: list[float], part: float) -> float:
    """Return the nearest-rank quantile of at least one value."""
    return sorted(values)[math.ceil(part * len(values)) - 1]


def best_footprint(
    server: str, rss_mb: Sequence[float], cold_start_s: Sequence[float]
) -> Footprint:
    """Return the server's least memory and shortest start over the rounds."""
    return Footprint(server, round(min(rss_mb), 1), round(min(cold_start_s), 3))
