"""`scripts/bench core`: Berth's own code without the server, from body bytes to answer bytes."""

import json
import sys
from time import process_time_ns

from benchmarks import bodies
from berth import settings
from berth.admission import configuration, mutate, wire
from berth.admission.rules import Rules
from berth.cli import webhook

ROUNDS = 200
CALLS = 50
BARS_US = {"cpu": 30.0, "gpu": None, "train": 120.0}


def answer(body: bytes, rules: Rules) -> bytes:
    """Do what the server does between reading a body and writing an answer."""
    review = wire.decode(body)
    assert review.object is not None
    return wire.answer(review, mutate.decide(review.object, review.namespace, rules))


def microseconds(body: bytes, rules: Rules) -> float:
    """Return the least time of one call, over many rounds: noise only ever adds."""
    least = float("inf")
    for _ in range(ROUNDS):
        started = process_time_ns()
        for _ in range(CALLS):
            answer(body, rules)
        least = min(least, (process_time_ns() - started) / CALLS / 1000)
    return least


def main(arguments: list[str]) -> None:
    """Print a table, or JSON."""
    rules, _ = configuration.rules(settings.load(None), None)
    webhook.settle()
    found = {name: microseconds(body, rules) for name, body in bodies.bodies().items()}
    if "--json" in arguments:
        print(json.dumps({"core_us": {name: round(us, 1) for name, us in found.items()}}))
        return
    for name, us in found.items():
        bar = BARS_US[name]
        verdict = "" if bar is None else f"  (bar {bar:.0f}: {'met' if us <= bar else 'not met'})"
        print(f"{name:6} {us:8.1f} us{verdict}")


if __name__ == "__main__":
    main(sys.argv[1:])
