"""Vectors that a quota decides."""

import pytest

from berth import layered
from berth.admission import configuration
from berth.model.decision import Verdict
from tests.pods import container, pod
from tests.quotas import Cluster

RULES, _ = configuration.rules(layered.settings(None), None)
MEMORY = "nvidia.com/gpumem"


@pytest.mark.parametrize(("most", "passes"), [(1200, True), (1199, False)])
def test_c3_what_runs_together_counts_against_a_quota(most: int, *, passes: bool) -> None:
    """C3: beside a sidecar of 300 runs an init container of 900, and later an app of 500."""
    sidecar = container("s", {MEMORY: "300"}, restartPolicy="Always")
    init = container("i", {MEMORY: "900"})
    asked = pod(container("a", {MEMORY: "500"}), initContainers=[sidecar, init])
    decision = Cluster(RULES, {f"limits.{MEMORY}": str(most)}).ask(asked)
    assert (decision.verdict is not Verdict.REFUSED) is passes
