"""The backstop of every accelerator at once: HAMi's own names, for random requests of all."""

import random
import sys
from collections import Counter
from pathlib import Path

from berth.admission import mutate
from berth.model.decision import Verdict
from tests import pods
from tests.e2e import device_pods, guarded
from tests.e2e.api import Api

PODS = 150
SEED = random.SystemRandom().getrandbits(32)
AMOUNTS = ("1", "1", "2", "0", "4", "50", "100", "1000", "16k", "3000")
NAMES = ("ASCEND_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ILUVATAR_CONTAINER_NAME")


def _of_any(dice: random.Random, case: guarded.Configured, name: str) -> device_pods.Pod:
    pod = device_pods.random_pod(dice, name)
    for container in [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]:
        vendor = dice.choice(case.rules.vendors)
        asked = [resource for resource in vendor.resources if dice.random() < 0.6]
        container["resources"] = {"limits": {one: dice.choice(AMOUNTS) for one in asked}}
        if dice.random() < 0.3:
            value = dice.choice(("", "none", container["name"]))
            container["env"] = [{"name": dice.choice(NAMES), "value": value}]
    return pod


def test_no_accelerators_rewritten_pod_is_refused(api: Api, space: str, tmp_path: Path) -> None:
    """Nor one that the webhook leaves; what a vendor's own rule rounds may stay open."""
    sys.stdout.write(f"seed {SEED}\n")
    dice, seen = random.Random(SEED), Counter[str]()
    case = guarded.configured(tmp_path, overwriteEnv=True)
    bad = pods.gpu_pod({"nvidia.com/gpu": "1"})
    bad["metadata"] = {"name": "bad"}
    objects = guarded.printed(*case.arguments)
    with guarded.in_force(api, objects, bad) as guard:
        assert guarded.type_warnings(api, objects[0]) == []
        for number in range(PODS):
            pod = _of_any(dice, case, f"random-{number}")
            status, completed = api.create(pod, space, dry_run=True)
            if status != 201:
                continue
            decision = mutate.decide(completed, guard, case.rules)
            status, answer = api.create(pod, guard, dry_run=True)
            seen[f"{decision.verdict}, {status}"] += 1
            if decision.verdict in (Verdict.UNCHANGED, Verdict.IGNORED):
                assert status == 201, (SEED, pod, answer)
            elif decision.verdict is Verdict.PATCHED:
                again = {**pod, "metadata": {"name": "again"}, "spec": decision.pod["spec"]}
                status, answer = api.create(again, guard, dry_run=True)
                assert status == 201, (SEED, again, answer)
    sys.stdout.write(f"{dict(seen)}\n")
    assert seen["patched, 403"]
