"""The short form of `scripts/fuzz`, and of vector L14."""

import random
import sys

from tests.fuzz import bodies, campaign, large
from tests.fuzz.campaign import Plan
from tests.fuzz.load import Target
from tests.webhook import Webhook

BODIES = 1500
LARGEST = 3
MEBIBYTES = 40
SEED = random.SystemRandom().getrandbits(32)


def test_hostile_bodies_are_survived(server: tuple[Webhook, Target]) -> None:
    """No 5xx, no hang, no wrong answer, nothing in the log that must not be there."""
    running, target = server
    sys.stdout.write(f"seed {SEED}\n")
    kinds = random.Random(SEED).sample([*large.KINDS, *large.LIMITS], LARGEST)
    plan = Plan(bodies.make, SEED, range(BODIES), (), last=bodies.largest(kinds))
    report = campaign.run(plan, target, running.log)
    assert not report.faults, campaign.shown(report.faults)
    assert running.process.poll() is None
    statuses = report.outcome.statuses
    assert min(statuses["200"], statuses["400"]) > BODIES // 4, statuses


def test_l14_bodies_of_a_mebibyte_leave_no_memory_behind(server: tuple[Webhook, Target]) -> None:
    """`scripts/fuzz --large` sends ten thousand; memory comes back to where it was."""
    running, target = server
    sys.stdout.write(f"seed {SEED}\n")
    warm_up = [bodies.make_mebibyte(SEED, -number) for number in range(1, 21)]
    plan = Plan(bodies.make_mebibyte, SEED, range(MEBIBYTES), warm_up, most_growth_mib=16)
    report = campaign.run(plan, target, running.log)
    assert not report.faults, campaign.shown(report.faults)
