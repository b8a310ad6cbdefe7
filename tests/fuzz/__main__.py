"""`scripts/fuzz`: hostile bodies through the running webhook, and whether it minded."""

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz import bodies, campaign, large
from tests.fuzz.campaign import Plan

BODIES = 200_000
MEBIBYTES = 10_000
LARGE_GROWTH_MIB = 16
"""How far the floor moves as the allocator scatters; a leak of 4 KiB in each is 20 MiB."""


def main(arguments: Sequence[str]) -> int:
    """Run a campaign; return 1 where the webhook did not do as it must."""
    options = _parser().parse_args(arguments)
    plan = _plan(options)
    _say(f"seed {plan.seed}\n")
    with (
        tempfile.TemporaryDirectory(prefix="berth-fuzz-") as folder,
        campaign.server(Path(folder)) as (running, target),
    ):
        report = campaign.run(plan, target, running.log, _progress)
        if running.process.poll() is not None:
            report.faults.append(f"the webhook ended with {running.process.returncode}")
    _say(f"\n{report}\n")
    if report.faults:
        _say(f"{campaign.shown(report.faults)}\n")
        return 1
    return 0


def _plan(options: argparse.Namespace) -> Plan:
    seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
    count = options.bodies or (MEBIBYTES if options.large else BODIES)
    make = bodies.make_mebibyte if options.large else bodies.make
    if options.number is not None:
        return Plan(make, seed, range(options.number, options.number + 1), ())
    if options.large:
        warm_up = [make(seed, -number) for number in range(1, 101)]
        return Plan(make, seed, range(count), warm_up, LARGE_GROWTH_MIB)
    last = bodies.largest([*large.KINDS, *large.LIMITS], paths=5)
    return Plan(make, seed, range(count), (), last=last)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("scripts/fuzz", description=__doc__)
    parser.add_argument("--bodies", type=int, help=f"how many: {BODIES} as shipped")
    parser.add_argument("--seed", type=int, help="of an earlier run, to send the same bodies again")
    parser.add_argument("--number", type=int, help="with --seed: send this one body alone")
    parser.add_argument(
        "--large", action="store_true", help=f"{MEBIBYTES} bodies of a MiB instead: memory"
    )
    return parser


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _progress(text: str) -> None:
    _say(f"\r{text}   " if sys.stdout.isatty() else f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
