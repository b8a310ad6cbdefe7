"""The promises of `scripts/soak` in short: fewer creations, the same laws."""

from pathlib import Path

import pytest

from tests.cluster.controlplane import ControlPlane
from tests.soak import cli
from tests.soak.scenarios import Ground

PER_SECOND = 30.0  # also where others work on the same machine


@pytest.fixture
def ground(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Ground:
    """Give the ground of a short load."""
    return Ground(
        plane=control_plane,
        folder=tmp_path,
        namespace=namespace,
        creations=int(3 * PER_SECOND),
        per_second=PER_SECOND,
        flags=("--set", "server.stopSeconds=2"),
    )


@pytest.mark.parametrize("name", [name for name in cli.SCENARIOS if name != "quiet"])
def test_the_promise_is_kept(ground: Ground, name: str) -> None:
    """Each scenario says which promises were broken, and there are none."""
    result = cli.SCENARIOS[name](ground)
    assert not result.broken, (result.broken, result.lines())
