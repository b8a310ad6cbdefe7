"""A sample of random Pods: the real API server comes to what we promise of each."""

import random
import sys

import jsonpatch

from berth import layered
from berth.admission import configuration, mutate
from berth.model.decision import Verdict
from tests.e2e import stored
from tests.e2e.api import Api
from tests.properties import laws
from tests.webhook import Webhook

PODS = 300
SEED = random.SystemRandom().getrandbits(32)


def _creatable(dice: random.Random, number: int) -> stored.Pod:
    """Return a random Pod without what this API server refuses of anyone."""
    pod = laws.random_pod(dice)
    pod["metadata"] = {"name": f"random-{number}"}
    for key in ("runtimeClassName", "futureField", "resources", "os"):
        pod["spec"].pop(key, None)
    for index, container in enumerate(stored.containers(pod)):
        container["name"] = f"c{index}"
        for entry in container.get("env") or []:
            if "valueFrom" in entry:
                entry["valueFrom"] = {"fieldRef": {"fieldPath": "metadata.name"}}
    return pod


def test_the_api_server_stores_what_we_decided(
    api: Api, registered: Webhook, space: str, space_without_us: str
) -> None:
    """With us = without us + the patch that we make of what the API server shows us."""
    sys.stdout.write(f"seed {SEED}\n")
    assert registered.process.poll() is None
    dice = random.Random(SEED)
    rules, _ = configuration.rules(layered.settings(None), None)
    patched = 0
    for number in range(PODS):
        try:
            pod = _creatable(dice, number)
        except (TypeError, AttributeError, KeyError):
            continue  # one that is spoilt in its shape
        status, without_us = api.create(pod, space_without_us, dry_run=True)
        if status != 201:
            continue
        decision = mutate.decide(without_us, space, rules)
        status, with_us = api.create(pod, space, dry_run=True)
        if decision.verdict is Verdict.REFUSED:
            assert status in (403, 422), (SEED, pod)
            continue
        assert status == 201, (SEED, pod, with_us)
        expected = jsonpatch.apply_patch(without_us, decision.operations)
        assert stored.comparable(with_us) == stored.comparable(expected), (SEED, pod)
        patched += decision.verdict is Verdict.PATCHED
    assert patched > PODS // 10
