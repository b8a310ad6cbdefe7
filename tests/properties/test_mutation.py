"""Random Pods through the decision, byte for byte as the server would."""

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth import layered
from berth.admission import configuration, mutate, verify, wire
from berth.admission.rules import Rules
from berth.errors import BadReview
from berth.model.decision import Verdict
from tests import webhook
from tests.properties import laws, strategies

PROFILE = settings(
    max_examples=150,
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def _rules(*flags: str, **nvidia: Any) -> Rules:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "device-config.yaml"
        file.write_text(json.dumps({"nvidia": nvidia}))
        return configuration.rules(layered.settings(None, flags), file)[0]


CONFIGURATIONS = [
    _rules(),
    _rules(overwriteEnv=True, gpuCorePolicy="force", runtimeClassName="nvidia"),
    _rules("policy.privileged=allow", "policy.limitEnv=remove", defaultMemory=512),
    _rules("policy.privileged=deny", "policy.deviceEnv=keep", memoryFactor=2, defaultGPUNum=0),
    _rules("scheduler.name=", "policy.limitEnv=keep", defaultCores=30),
]


@pytest.mark.parametrize("rules", CONFIGURATIONS, ids=range(len(CONFIGURATIONS)))
def test_a_random_pod_is_answered_soundly(rules: Rules) -> None:
    """No fault; the patch applies elsewhere; a second pass changes nothing; it is valid then."""

    @PROFILE
    @given(strategies.pods())
    def law(pod: dict[str, Any]) -> None:
        _check(pod, rules)

    law()


def _check(pod: dict[str, Any], rules: Rules) -> None:
    before = copy.deepcopy(pod)
    body = json.dumps(webhook.review(pod), separators=(",", ":")).encode()
    review = wire.decode(body)
    assert review.object is not None
    try:
        decision = mutate.decide(review.object, review.namespace, rules)
    except BadReview:
        return  # malformed in shape: HTTP 400, as the API server would have refused it
    assert json.loads(wire.answer(review, decision, 1))["response"]["uid"] == review.uid
    assert review.object == before
    assert bool(decision.operations) == (decision.verdict is Verdict.PATCHED)
    if decision.verdict is Verdict.REFUSED:
        assert decision.problems
        return
    patched = jsonpatch.apply_patch(before, decision.operations)
    assert patched == decision.pod
    again = mutate.decide(decision.pod, review.namespace, rules)
    assert again.operations == []
    laws.check_nothing_is_lost(pod, decision.pod)
    judged = verify.created(decision.pod, review.namespace, "someone", rules)
    assert judged.verdict is not Verdict.REFUSED, "what /mutate let through is refused"
    assert (judged.operations, judged.warnings) == ([], ())


@PROFILE
@given(st.lists(strategies.pods(good=True), min_size=2, max_size=2))
def test_a_container_that_a_later_webhook_adds_is_completed_too(
    pods: list[dict[str, Any]],
) -> None:
    """Reinvocation with another container changes that container alone (vector I2)."""
    rules = CONFIGURATIONS[0]
    first = mutate.decide(pods[0], "default", rules)
    if first.verdict is not Verdict.PATCHED:
        return
    added = {**pods[1]["spec"]["containers"][0], "name": "added"}
    grown = copy.deepcopy(first.pod)
    spec: Any = grown["spec"]
    spec["containers"].append(added)
    second = mutate.decide(grown, "default", rules)
    place = f"/spec/containers/{len(spec['containers']) - 1}/"
    for operation in second.operations:
        path = str(operation["path"])
        assert path.startswith((place, "/metadata/annotations"))
