"""Random Pods where the fleet is known: as sound as without, and placed the same a second time."""

import copy
import json
from typing import Any

import jsonpatch
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth.admission import verify, wire
from berth.errors import BadReview
from berth.model.decision import Verdict
from tests.placing import Cluster
from tests.properties import laws, strategies
from tests.properties.test_affinity import LIKED, TERMS
from tests.reviews import SPACE, review

PROFILE = settings(
    max_examples=60,
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _asking(pod: dict[str, Any]) -> dict[str, Any]:
    """Return a Pod of which one more container, and no other, asks for a device."""
    limits = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "1000"}
    asks = {"name": "gpu", "image": "i", "resources": {"limits": limits, "requests": limits}}
    spec = {key: value for key, value in pod["spec"].items() if key not in ("nodeName", "os")}
    for kind in {"containers", "initContainers"} & spec.keys():
        spec[kind] = [{**one, "resources": {}, "env": []} for one in spec[kind]]
    spec |= {"containers": [*spec["containers"], asks], "schedulerName": "hami-scheduler"}
    return {**pod, "spec": spec}


PODS = strategies.pods(good=True).map(_asking)


@pytest.mark.parametrize("delivery", ["prefer", "require", "pin"])
def test_a_random_pod_is_placed_soundly(delivery: str) -> None:
    """No fault; the patch applies elsewhere; a second pass changes nothing, and holds it once."""
    cluster = Cluster("n1", "n2", "n3", flags=(f"placement.delivery={delivery}",))
    (replica,) = cluster.replicas

    @PROFILE
    @given(st.one_of(PODS, PODS, strategies.pods()), TERMS, LIKED, st.booleans())
    def law(pod: dict[str, Any], terms: Any, liked: Any, affine: bool) -> None:  # noqa: FBT001
        if affine and isinstance(pod.get("spec"), dict):
            required = {"nodeSelectorTerms": terms} if terms is not None else None
            node = {REQUIRED: required, PREFERRED: liked}
            pod["spec"]["affinity"] = {"nodeAffinity": node}
        before = copy.deepcopy(pod)
        asked = review(pod)
        try:
            decision = replica.standings.decide(asked, pod, replica.rules)
        except BadReview:
            return
        assert pod == before
        assert json.loads(wire.answer(asked, decision, 1))["response"]["uid"] == asked.uid
        if decision.verdict is Verdict.REFUSED:
            return
        after: Any = decision.pod
        assert jsonpatch.apply_patch(before, decision.operations) == after
        again = replica.standings.decide(review(after), after, replica.rules)
        assert again.operations == []
        laws.check_nothing_is_lost(before, after)
        judged = verify.created(after, SPACE, "someone", replica.rules)
        assert (judged.verdict is not Verdict.REFUSED, judged.operations) == (True, [])
        held = len(replica.placer.reservations)
        assert held == bool(decision.placed and decision.placed.decided.node)
        cluster.now += 100
        replica.placer.reservations.expire()

    law()
