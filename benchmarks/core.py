"""`scripts/bench core`: Berth's own code without the server, and the start of the command."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns, process_time_ns

from benchmarks import bodies, variants
from berth import layered
from berth.admission import alike, configuration, recall
from berth.admission.live import Generation
from berth.admission.recall import Recall
from berth.cli import process

ROUNDS = 200
CALLS = 50
STARTS = 10
BARS_US = {"cpu": 30.0, "gpu": None, "train": 120.0}
PATH = "/mutate"


def answer(body: bytes, generation: Generation) -> bytes:
    """Do what the server does between reading a body and writing an answer, for a Pod unseen."""
    return recall.decided(body, generation, PATH).answer


def answer_alike(body: bytes, generation: Generation, memory: Recall) -> bytes:
    """Do the same for one of the Pods of a workload, of which others were seen."""
    asked = alike.asked(body)
    like = memory.of(asked, PATH, generation) if asked else None
    return like.of(asked).answer if asked and like else answer(body, generation)


def microseconds(body: bytes, answered: Callable[[bytes], bytes]) -> float:
    """Return the least time of one call, over many rounds: noise only ever adds.

    No two calls of a round get the same bytes: they are of Pods of one workload.
    """
    template = variants.template(body, unlike=False)
    sent = [template.filled(number) for number in range(CALLS)]
    least = float("inf")
    for _ in range(ROUNDS):
        started = process_time_ns()
        for one in sent:
            answered(one)
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
    settings = layered.settings(None)
    rules, _ = configuration.rules(settings, None)
    generation, memory = Generation(number=1, settings=settings, rules=rules), Recall()
    process.settle()
    unseen, seen = (
        {name: microseconds(body, answered) for name, body in bodies.bodies().items()}
        for answered in (
            lambda body: answer(body, generation),
            lambda body: answer_alike(body, generation, memory),
        )
    )
    if "--json" in arguments:
        core = {name: round(us, 1) for name, us in unseen.items()}
        recalled = {name: round(us, 1) for name, us in seen.items()}
        start = round(start_ms(), 1)
        print(json.dumps({"core_us": core, "recalled_us": recalled, "start_ms": start}))
        return
    for name, us in unseen.items():
        bar = BARS_US[name]
        verdict = "" if bar is None else f"  (bar {bar:.0f}: {'met' if us <= bar else 'not met'})"
        print(f"{name:6} {us:8.1f} us unseen, {seen[name]:6.1f} us of a workload seen{verdict}")
    start = start_ms()
    print(f"berth --help {start:.0f} ms (bar 150: {'met' if start <= 150 else 'not met'})")


if __name__ == "__main__":
    main(sys.argv[1:])
