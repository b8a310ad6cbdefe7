"""The scenarios of `scripts/soak` in short: fewer creations, the same promises."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.controlplane import ControlPlane
from tests.soak import overload, rotations, scenarios
from tests.soak.report import Result
from tests.soak.scenarios import Ground

PER_SECOND = 30.0  # also where others work on the same machine
SECONDS = 2
PATIENT = (
    "registration.timeoutSeconds=30",
    *("server.handshakeSeconds=1000", "server.headerSeconds=1000", "server.bodySeconds=1000"),
)
"""How long a call takes is the machine's to say, and whether it is answered is ours."""


@pytest.fixture
def ground(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Ground:
    """Give the ground of a short load."""
    return Ground(
        plane=control_plane,
        folder=tmp_path,
        namespace=namespace,
        creations=int(SECONDS * PER_SECOND),
        per_second=PER_SECOND,
        flags=tuple(word for limit in PATIENT for word in ("--set", limit)),
    )


def _keeps(scenario: Callable[[Ground], Result], ground: Ground) -> None:
    result = scenario(ground)
    assert not result.broken, (result.broken, result.lines())


def test_l1_no_creation_fails_in_a_rolling_restart(ground: Ground) -> None:
    """A Service's endpoint is removed only after the replica has begun to stop.

    The new ones have other settings: what an old one has written they check, and the other way
    round.
    """
    _keeps(scenarios.rolling_update, ground)


def test_l3_no_creation_fails_while_leaves_are_replaced(ground: Ground) -> None:
    """On the volumes, on one replica's before the other's."""
    _keeps(rotations.leaf, ground)


def test_l5_no_creation_fails_while_a_given_ca_is_replaced(ground: Ground) -> None:
    """Leaf and CA at once, as cert-manager does it."""
    _keeps(rotations.ca_on_volumes, ground)


def test_l5_no_creation_fails_while_our_own_ca_is_rotated(ground: Ground) -> None:
    """By `berth certificates rotate`, until the CA before it is trusted no more."""
    _keeps(rotations.ca_of_our_own, ground)


def test_no_creation_fails_while_the_settings_change(ground: Ground) -> None:
    """On one replica before the other; an injection comes and goes, amounts and dialect change."""
    _keeps(scenarios.reload, ground)


def test_a_killed_replica_loses_what_was_under_way_at_most(ground: Ground) -> None:
    """Under Fail."""
    _keeps(scenarios.killed_fail, ground)


def test_a_killed_replica_fails_no_creation_under_ignore(ground: Ground) -> None:
    """Some Pods pass as they were written: no more than were under way."""
    _keeps(scenarios.killed_ignore, ground)


def test_the_backstop_refuses_what_passes_unmutated_and_nothing_else(ground: Ground) -> None:
    """Under Ignore, while one replica is dead and then both."""
    _keeps(scenarios.killed_backstop, ground)


def test_w14_a_slow_decision_makes_no_queue(ground: Ground) -> None:
    """The process lives, probes are green, the rest is 503, what is served is served in order."""
    _keeps(overload.slow, ground)


def test_a_refusal_costs_less_than_an_answer(ground: Ground) -> None:
    """For small bodies and for the largest."""
    _keeps(overload.cost, ground)
