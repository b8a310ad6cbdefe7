"""The rounds of the admission benchmark: every server alive at once, cells taken in turns.

The servers of a cell follow each other within seconds and in a changing order, so a machine that
drifts hits all of them alike. The ones not under load are idle.
"""

import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from benchmarks.bodies import BODIES, bodies
from benchmarks.certificate import Certificate, make_certificate
from benchmarks.failure import BenchmarkError
from benchmarks.load import Load, Sample, measure
from benchmarks.probe import check
from benchmarks.process import cpu_seconds, rss_mb
from benchmarks.results import Results, best_case, best_footprint
from benchmarks.servers import Running, running, tail

_PATCHED = ("gpu", "train")
"""Bodies that a server must patch, or it does not do the work; the floor does none."""


@dataclass(frozen=True)
class Plan:
    """What to measure: servers, connection counts, rounds, and the seconds of one cell."""

    servers: tuple[str, ...]
    connections: tuple[int, ...] = (1, 8, 25, 64)
    rounds: int = 3
    warm_up_s: float = 0.25
    measured_s: float = 1.5


@dataclass
class Measured:
    """The figures of all rounds: samples by (server, body, connections), the rest by server."""

    samples: defaultdict[tuple[str, str, int], list[Sample]] = field(
        default_factory=lambda: defaultdict(list)
    )
    rss_mb: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cold_start_s: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def best(self, plan: Plan) -> Results:
        """Return the best of the rounds for every cell and server of the plan."""
        cells = product(BODIES, plan.connections, plan.servers)
        return Results(
            [best_case(s, body, n, self.samples[s, body, n]) for body, n, s in cells],
            [best_footprint(s, self.rss_mb[s], self.cold_start_s[s]) for s in plan.servers],
        )


def measure_all(plan: Plan, folder: Path) -> Results:
    """Measure the plan, each round on freshly started servers, and return the best of the rounds.

    The folder takes the certificate and the servers' logs. Raises BenchmarkError, naming the
    server, when one fails.
    """
    files, measured = make_certificate(folder), Measured()
    for number in range(plan.rounds):
        with ExitStack() as stack:
            started = [_start(name, files, folder, stack) for name in plan.servers]
            _progress(f"round {number + 1} of {plan.rounds}: {len(started)} servers are up")
            _round(plan, number, started, files, measured)
    return measured.best(plan)


def _start(name: str, files: Certificate, folder: Path, stack: ExitStack) -> Running:
    """Start the server and see that it answers every body as it should."""
    try:
        server = stack.enter_context(running(name, files, folder / f"{name}.log", bodies()["cpu"]))
        for body, content in bodies().items():
            patches = body in _PATCHED and name != "floor"
            check(server.port, content, files.client(), patches=patches)
    except BenchmarkError as error:
        raise BenchmarkError(f"{name}: {error}") from error
    return server


def _round(
    plan: Plan, number: int, started: list[Running], files: Certificate, measured: Measured
) -> None:
    contents, context = bodies(), files.client()
    for turn, (connections, body) in enumerate(product(plan.connections, BODIES), start=number):
        _progress(f"{body}, {connections} connections")
        first = turn % len(started)
        for server in started[first:] + started[:first]:
            load = Load(
                server.port, contents[body], context, connections, plan.warm_up_s, plan.measured_s
            )
            measured.samples[server.name, body, connections].append(_cell(server, load, body))
    for server in started:
        measured.cold_start_s[server.name].append(server.cold_start_s)
        measured.rss_mb[server.name].append(rss_mb(server.pids))


def _cell(server: Running, load: Load, body: str) -> Sample:
    try:
        sample = measure(load, lambda: cpu_seconds(server.pids))
        server.check()
    except BenchmarkError as error:
        cell = f"{server.name}, {body} body, {load.connections} connections"
        raise BenchmarkError(f"{cell}: {error}; its log ends with: {tail(server.log)}") from error
    return sample


def _progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
