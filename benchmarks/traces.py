"""The published experiment on whole traces: `scripts/bench traces`.

Each run becomes a line of JSON: what is allocated at 95, 100 and 130% offered, Pods failed, and
whether it meets the published curve (within 0.01 at each point, but for `random`) and the exact
replay, where there is one.
`--departures` lets Pods leave too: benchmarks/departures.py.
"""

import argparse
import csv
import gzip
import sys
from collections.abc import Iterable
from hashlib import sha1
from pathlib import Path
from time import process_time

import msgspec
import numpy as np

from benchmarks import departures
from berth.placement.baselines import Random
from berth.simulator.run import Run
from berth.simulator.runs import NAMES, policy_of
from berth.simulator.trace import PUBLISHED, Trace, own, read

TRACES = (
    "default",
    *[f"cpu{part}" for part in ("050", "100", "200", "250")],
    *[f"gpushare{part}" for part in (40, 60, 80, 100)],
    *[f"gpuspec{part}" for part in (10, 20, 25, 33)],
    *[f"multigpu{part}" for part in (20, 30, 40, 50)],
)
AT = (95, 100, 130)


class Line(msgspec.Struct, kw_only=True):
    """One run."""

    trace: str
    policy: str
    seed: int
    draw: int
    """Of `random`: which of several runs of this seed; each draws differently."""
    allocated: dict[int, float]
    """Percent, by percent offered."""
    failed: int
    """In the end."""
    failed_at_100: int
    """When 100% was offered, and no more."""
    published: float | None
    """What was published for 100% offered."""
    curve: float | None
    """The largest difference from the published curve."""
    exact: bool | None
    """Whether every Pod went where the exact replay has it."""
    cpu_seconds: float


def lines(folder: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of a published file that begins with trace, policy and seed."""
    path = folder / "published" / name
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return list(csv.DictReader(text.splitlines()))


def row(rows: Iterable[dict[str, str]], trace: str, policy: str, seed: int) -> dict[str, str]:
    """Return the row of one run, empty where there is none."""
    key = trace, PUBLISHED.get(policy), str(seed)
    return next((one for one in rows if (one["trace"], one["policy"], one["seed"]) == key), {})


def line(trace: Trace, policy: str, seed: int, draw: int = 0) -> Line:
    """Do one run to the end; of `random` the first draw is that of `berth simulate`."""
    folder = trace.folder or own()
    curve = row(lines(folder, "alloc_pct.csv.gz"), trace.name, policy, seed)
    golden = row(lines(folder, "golden_replay.csv"), trace.name, policy, seed)
    run, started, at_100 = Run(trace, seed), process_time(), 0
    chosen = Random(np.random.default_rng((draw, seed))) if draw else policy_of(policy, run.cluster)
    for _ in run.steps(chosen, 1.31):
        if run.offered <= trace.capacity:
            at_100 = run.cluster.failed
    placed = sha1(",".join(map(str, run.rows)).encode(), usedforsecurity=False).hexdigest()
    apart = [abs(run.allocated(at) - float(curve[str(at)])) for at in range(131)] if curve else []
    return Line(
        trace=trace.name,
        policy=policy,
        seed=seed,
        draw=draw,
        allocated={at: round(run.allocated(at), 2) for at in AT},
        failed=run.cluster.failed,
        failed_at_100=at_100,
        published=float(curve["100"]) if curve else None,
        curve=round(max(apart), 3) if apart else None,
        exact=placed == golden["placement_sha1"] if golden else None,
        cpu_seconds=round(process_time() - started, 1),
    )


def main() -> None:
    """Do the runs that are asked for, one after another."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--trace", action="append", choices=TRACES)
    parser.add_argument("--policy", action="append", choices=NAMES)
    parser.add_argument("--seed", action="append", type=int)
    parser.add_argument("--draws", type=int, default=1, help="of `random`: so many runs per seed")
    parser.add_argument(
        "--departures",
        nargs="*",
        type=int,
        choices=departures.SETTINGS,
        metavar="SETTING",
        help="instead: Pods come and leave, in these of the settings 1 to 7, or in all",
    )
    parser.add_argument("--arrivals", type=int, help="with --departures: fewer, for a try")
    arguments = parser.parse_args()
    if arguments.departures is not None:
        departures.main(
            arguments.departures or departures.SETTINGS,
            arguments.policy or departures.POLICIES,
            arguments.seed or departures.SEEDS,
            arguments.data,
            arguments.arrivals,
        )
        return
    for name in arguments.trace or TRACES:
        trace = read(arguments.data or own(), name)
        for policy in arguments.policy or ["scarcity", *PUBLISHED]:
            for seed in arguments.seed or range(42, 52):
                for draw in range(arguments.draws if policy == "random" else 1):
                    done = line(trace, policy, seed, draw)
                    sys.stdout.write(msgspec.json.encode(done).decode() + "\n")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
