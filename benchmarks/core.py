"""`scripts/bench core`: Berth's own code without the server, and the start of the command."""

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter_ns, process_time_ns

from benchmarks import bodies
from berth import layered
from berth.admission import configuration, mutate, wire
from berth.admission.rules import Rules
from berth.cli import process

ROUNDS = 200
CALLS = 50
STARTS = 10
BARS_US = {"cpu": 30.0, "gpu": None, "train": 120.0}


def answer(body: bytes, rules: Rules) -> bytes:
    """Do what the server does between reading a body and writing an answer."""
    review = wire.decode(body)
    assert review.object is not None
    return wire.answer(review, mutate.decide(review.object, review.namespace, rules), 1)


def microseconds(body: bytes, rules: Rules) -> float:
    """Return the least time of one call, over many rounds: noise only ever adds."""
    least = float("inf")
    for _ in range(ROUNDS):
        started = process_time_ns()
        for _ in range(CALLS):
            answer(body, rules)
        least = min(least, (process_time_ns() - started) / CALLS / 1000)
    return least


def start_ms() -> float:
    """Return the least time of `berth --help`, as a whole process."""
    command = [str(Path(sys.executable).parent / "berth"), "--help"]
    least = float("inf")
    for _ in range(STARTS):
        started = perf_counter_ns()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        least = min(least, (perf_counter_ns() - started) / 1e6)
    return least


def main(arguments: list[str]) -> None:
    """Print a table, or JSON."""
    rules, _ = configuration.rules(layered.settings(None), None)
    process.settle()
    found = {name: microseconds(body, rules) for name, body in bodies.bodies().items()}
    if "--json" in arguments:
        core = {name: round(us, 1) for name, us in found.items()}
        print(json.dumps({"core_us": core, "start_ms": round(start_ms(), 1)}))
        return
    for name, us in found.items():
        bar = BARS_US[name]
        verdict = "" if bar is None else f"  (bar {bar:.0f}: {'met' if us <= bar else 'not met'})"
        print(f"{name:6} {us:8.1f} us{verdict}")
    start = start_ms()
    print(f"berth --help {start:.0f} ms (bar 150: {'met' if start <= 150 else 'not met'})")


if __name__ == "__main__":
    main(sys.argv[1:])
