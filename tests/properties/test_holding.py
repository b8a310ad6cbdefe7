"""Random Pods of every accelerator: what one was admitted with is what it counts for."""

from hypothesis import HealthCheck, given, settings

from berth import layered
from berth.admission import configuration, quota, usage
from berth.model.decision import Verdict
from tests.pods import Pod
from tests.properties import test_vendors
from tests.quotas import Cluster, mark
from tests.reviews import SPACE

RULES, _ = configuration.rules(layered.settings(None), None)
HARD = {
    f"limits.{name}": "1000000"
    for vendor in RULES.vendors
    for name in (vendor.memory, vendor.cores)
    if name
}


@settings(
    max_examples=150,
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(test_vendors.pods())
def test_what_was_claimed_is_what_counts(pod: Pod) -> None:
    """Not a MiB more or less, whatever was completed, cut or rounded between."""
    cluster = Cluster(RULES, HARD)
    decision = cluster.ask(pod)
    if decision.verdict is Verdict.REFUSED or decision.demand is None:
        assert len(cluster.claims) == 0
        return
    asked = quota.asked(decision.demand)
    assert cluster.claims.held(SPACE) == asked.amounts
    assert (mark(decision) is not None) == bool(asked.amounts or asked.unsized)
    shown = cluster.show(decision.pod, "stored", phase="Pending")
    assert usage.holds(shown, RULES) == cluster.stored() == asked.amounts
    assert len(cluster.claims) == 0
