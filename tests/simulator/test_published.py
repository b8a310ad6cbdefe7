"""The published experiment, replayed whole on one trace; on all by `scripts/bench traces`."""

import pytest

from benchmarks.traces import line, lines, row
from berth.simulator.trace import own, read


@pytest.mark.parametrize("policy", ["fragmentation", "best-fit"])
def test_each_pod_goes_where_the_published_policy_put_it(policy: str) -> None:
    """Every placement of `golden_replay.csv`, and every point of the published curve."""
    done = line(read(own(), "multigpu50"), policy, 42)
    golden = row(lines(own(), "golden_replay.csv"), "multigpu50", policy, 42)
    assert done.exact
    assert (done.failed_at_100, done.failed) == (
        int(golden["failed_at_100pct"]),
        int(golden["failed_final"]),
    )
    assert done.curve is not None
    assert done.curve <= 0.011
