"""The rounds of the admission benchmark: all servers started afresh, and one cell after another."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count, islice, product
from pathlib import Path

from benchmarks.bodies import BODIES, bodies
from benchmarks.certificate import Certificate, make_certificate
from benchmarks.failure import BenchmarkError
from benchmarks.load import Load, Turn
from benchmarks.probe import check
from benchmarks.process import rss_mb
from benchmarks.report import BAR_CONNECTIONS
from benchmarks.results import Results, best_case, best_footprint
from benchmarks.servers import UNLIKE, Running, running
from benchmarks.turns import measure
from benchmarks.variants import template

_PATCHED = ("gpu", "train")
"""Bodies that a server must patch, or it does not do the work; the floor does none."""


@dataclass(frozen=True)
class Plan:
    """What to measure: the servers, and their turns in a round by the number of connections.

    There are more turns where the bars apply.
    """

    servers: tuple[str, ...]
    rounds: int = 3
    turns: tuple[tuple[int, int], ...] = ((1, 3), (8, 3), (BAR_CONNECTIONS, 5), (64, 3))


@dataclass
class Measured:
    """The figures of all rounds: turns by (server, body, connections), the rest by server."""

    turns: defaultdict[tuple[str, str, int], list[list[Turn]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    rss_mb: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cold_start_s: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def best(self, plan: Plan) -> Results:
        """Return the best of the rounds for every cell and server of the plan."""
        cells = product(BODIES, plan.turns, plan.servers)
        return Results(
            [best_case(s, body, n, self.turns[s, body, n]) for body, (n, _), s in cells],
            [best_footprint(s, self.rss_mb[s], self.cold_start_s[s]) for s in plan.servers],
        )


@dataclass(frozen=True)
class Client:
    """Whose certificate the load client trusts, and the numbers its requests are spelt from."""

    files: Certificate
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def load(self, server: Running, body: str, connections: int) -> Load:
        """Return the load of a cell for the server: Pods of one workload, or all different."""
        pods = template(bodies()[body], unlike=server.name in UNLIKE)
        return Load(server.port, pods, self.numbers, self.files.client(), connections)


def measure_all(plan: Plan, folder: Path) -> Results:
    """Measure the plan, each round on freshly started servers, and return the best of the rounds.

    The folder takes the certificate and the servers' logs. Raises BenchmarkError, naming the
    server, when one fails.
    """
    client, measured = Client(make_certificate(folder)), Measured()
    for number in range(plan.rounds):
        with ExitStack() as stack:
            started = [_start(name, client, folder, stack) for name in plan.servers]
            _progress(f"round {number + 1} of {plan.rounds}: {len(started)} servers are up")
            _round(plan, started, client, measured)
    return measured.best(plan)


def _start(name: str, client: Client, folder: Path, stack: ExitStack) -> Running:
    """Start the server and see that it answers every body as it should, the second time too."""
    context, first = client.files.client(), bodies()["cpu"]
    try:
        server = stack.enter_context(running(name, client.files, folder / f"{name}.log", first))
        for body in BODIES:
            pods, patches = client.load(server, body, 1).template, body in _PATCHED
            for number in islice(client.numbers, 2):
                review = pods.filled(number)
                check(server.port, review, context, constant=name == "floor", patches=patches)
    except BenchmarkError as error:
        raise BenchmarkError(f"{name}: {error}") from error
    return server


def _round(plan: Plan, started: list[Running], client: Client, measured: Measured) -> None:
    for (connections, turns), body in product(plan.turns, BODIES):
        cell = f"{body} body, {connections} connections"
        _progress(cell)
        loads = [(server, client.load(server, body, connections)) for server in started]
        for name, taken in measure(cell, loads, turns).items():
            measured.turns[name, body, connections].append(taken)
    for server in started:
        measured.cold_start_s[server.name].append(server.cold_start_s)
        measured.rss_mb[server.name].append(rss_mb(server.pids))


def _progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
