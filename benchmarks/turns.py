"""One cell: servers under the same load by turns, so short that a neighbour's burst hits them all.

The connections stay open for the whole cell; the servers whose turn it is not are idle.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import partial

import uvloop

from benchmarks.failure import BenchmarkError
from benchmarks.load import Load, Turn, connected, take_turn
from benchmarks.process import cpu_seconds
from benchmarks.servers import Running, tail

_WARM_UP_S = 0.05
_MEASURED_S = 0.3


def measure(cell: str, loads: list[tuple[Running, Load]], turns: int) -> dict[str, list[Turn]]:
    """Return so many turns of each server, by its name.

    The order moves on by one server from turn to turn. Raises BenchmarkError, naming the server
    and the cell, when one fails.
    """
    return uvloop.run(_measure(cell, loads, turns))


async def _measure(
    cell: str, loads: list[tuple[Running, Load]], turns: int
) -> dict[str, list[Turn]]:
    taken: defaultdict[str, list[Turn]] = defaultdict(list)
    async with AsyncExitStack() as stack:
        opened = []
        for server, load in loads:
            with _naming(server, cell):
                opened.append((server, await stack.enter_async_context(connected(load))))
        for number in range(turns):
            first = number % len(opened)
            for server, connections in opened[first:] + opened[:first]:
                with _naming(server, cell):
                    cpu = partial(cpu_seconds, server.pids)
                    turn = await take_turn(connections, _WARM_UP_S, _MEASURED_S, cpu)
                taken[server.name].append(turn)
        for server, _ in loads:
            with _naming(server, cell):
                server.check()
    return taken


@contextmanager
def _naming(server: Running, cell: str) -> Iterator[None]:
    """Turn what goes wrong into a BenchmarkError that names the server and the cell."""
    try:
        yield
    except (BenchmarkError, OSError) as error:
        problem = "no answer within 30 s" if isinstance(error, TimeoutError) else error
        text = f"{server.name}, {cell}: {problem}; its log ends with: {tail(server.log)}"
        raise BenchmarkError(text) from error
