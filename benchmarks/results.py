"""The figures of a run, and how rounds become one figure: the best of them, metric by metric.

Noise of the machine only ever adds, so the best round is the nearest to what the code costs.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.load import Sample


@dataclass(frozen=True)
class Case:
    """One cell: server CPU in µs per request, requests per second, latencies in ms."""

    server: str
    body: str
    connections: int
    cpu_us: float
    rps: float
    p50_ms: float
    p99_ms: float


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

    def cpu_us(self, body: str, connections: int) -> dict[str, float]:
        """Return server CPU in µs per request by server."""
        found = [c for c in self.cases if (c.body, c.connections) == (body, connections)]
        return {case.server: case.cpu_us for case in found}

    def as_json(self) -> dict[str, list[dict[str, str | float]]]:
        """Return the figures as the JSON form of `--json`."""
        servers = [asdict(server) for server in self.servers]
        return {"cases": [asdict(case) for case in self.cases], "servers": servers}


def best_case(server: str, body: str, connections: int, rounds: Sequence[Sample]) -> Case:
    """Return the cell's least CPU and latencies and its highest rate over the rounds."""
    cpu = min(sample.cpu_s for sample in rounds)
    rate = max(len(sample.latencies_s) / sample.elapsed_s for sample in rounds)
    return Case(
        server=server,
        body=body,
        connections=connections,
        cpu_us=round(cpu * 1e6, 1),
        rps=round(rate, 1),
        p50_ms=_best_ms(rounds, 0.50),
        p99_ms=_best_ms(rounds, 0.99),
    )


def _best_ms(rounds: Sequence[Sample], part: float) -> float:
    """Return the least over the rounds of the latency that `part` of the answers keep within."""
    best = min(_quantile(sample.latencies_s, part) for sample in rounds)
    return round(best * 1e3, 3)


def _quantile(values: list[float], part: float) -> float:
    """Return the nearest-rank quantile of at least one value."""
    return sorted(values)[math.ceil(part * len(values)) - 1]


def best_footprint(
    server: str, rss_mb: Sequence[float], cold_start_s: Sequence[float]
) -> Footprint:
    """Return the server's least memory and shortest start over the rounds."""
    return Footprint(server, round(min(rss_mb), 1), round(min(cold_start_s), 3))
