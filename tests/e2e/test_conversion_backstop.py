"""The backstop where Pods are translated: what it refuses while no webhook answers."""

import json
import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from berth import layered, names
from berth.admission import configuration, mutate
from berth.admission.rules import Rules
from berth.model.decision import Verdict
from tests import pods
from tests.cluster.controlplane import ControlPlane
from tests.cluster.namespaces import own
from tests.e2e import conftest, dialect_pods, guarded
from tests.e2e.api import Api

PODS = 80
SEED = random.SystemRandom().getrandbits(32)
WRITTEN = ("hami", "volcano", "pool", "plain")
READ = ["hami", "volcano", "pool", "plain", "kai"]
BAD = pods.gpu_pod({dialect_pods.GPU: "1", dialect_pods.MEMORY: "1"}, nodeName="n1")

Pod = dict[str, Any]


@pytest.fixture(scope="module")
def zones(
    control_plane: ControlPlane, api: Api, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, tuple[str, Rules]]]:
    """Give a namespace of each conversion, with its policy in force, and its rules."""
    file = tmp_path_factory.mktemp("backstop") / "settings.yaml"
    conversions = [{"name": one, "reads": READ, "writes": one} for one in WRITTEN]
    file.write_text(json.dumps({"conversions": conversions}))
    rules, _ = configuration.rules(layered.settings(file), None)
    policies = guarded.printed("--config", str(file), name="translated")
    bad = {**BAD, "metadata": {"name": "bad"}}
    with ExitStack() as stack:
        found = {}
        for one in WRITTEN:
            space = stack.enter_context(own(control_plane))
            served = {names.INJECT_LABEL: names.INJECT_LABEL_VALUE}
            conftest.label(api, space, {names.CONVERSION: one} | served)
            found[one] = (space, rules.zones[one])
        stack.enter_context(guarded.stored(api, *policies))
        for space, _ in found.values():
            guarded.eventually(partial(_is_refused, api, bad, space))
        yield found


def test_it_refuses_just_what_would_have_been_translated(
    control_plane: ControlPlane, api: Api, zones: dict[str, tuple[str, Rules]]
) -> None:
    """As it came, each Pod that would be written anew; and none as the webhook has written it."""
    sys.stdout.write(f"seed {SEED}\n")
    dice, refused, told, passed = random.Random(SEED), 0, 0, 0
    with own(control_plane) as bare:
        for number in range(PODS):
            made = dialect_pods.by_annotation if number % 3 == 0 else dialect_pods.random_pod
            pod = made(dice, number)
            writes = WRITTEN[number % len(WRITTEN)]
            space, by = zones[writes]
            _, completed = api.create(pod, bare, dry_run=True)
            wanted = guarded.expected(completed, space, by)
            status, answer = api.create(pod, space, dry_run=True)
            where = (SEED, writes, json.dumps(pod), answer.get("message"))
            assert wanted is None or status == (201 if wanted else 403), where
            refused += wanted is False
            told += "by annotation gpu-" in answer.get("message", "")
            decision = mutate.decide(completed, space, by)
            if decision.verdict is not Verdict.PATCHED:
                continue
            status, answer = api.create(_again(decision.pod, pod), space, dry_run=True)
            assert status == 201, (*where, answer.get("message"))
            passed += 1
    assert refused > PODS // 10
    assert told > 2, "none asked by KAI's annotations"
    assert passed > PODS // 10


@pytest.mark.parametrize(
    ("annotations", "refused"),
    [
        ({names.GPU_MEMORY: "16Gi"}, True),
        ({names.GPU_MEMORY: "40%,main=1Gi"}, True),
        ({names.GPU_MEMORY: "16Gi,main=100%"}, False),
        ({names.GPU_MEMORY: "100%"}, False),
        ({names.MODEL: "7b"}, True),
        ({names.MODEL: "7b", names.GPU_MEMORY: "100%"}, False),
    ],
)
def test_memory_that_an_annotation_says_stands_in_the_limits(
    api: Api, zones: dict[str, tuple[str, Rules]], annotations: dict[str, str], *, refused: bool
) -> None:
    """Where the pool is written it is all that is, and no scheduler tells; whole cards are bare."""
    space, by = zones["pool"]
    asked = pods.gpu_pod({"hami.io/vgpu-count": "3"})
    asked["metadata"] = {"name": "sized", "annotations": annotations}
    _, completed = api.create(asked, "default", dry_run=True)
    assert guarded.expected(completed, space, by) is not refused
    status, answer = api.create(asked, space, dry_run=True)
    assert status == (403 if refused else 201), answer.get("message")


def _is_refused(api: Api, pod: Pod, space: str) -> bool:
    return api.create(pod, space, dry_run=True)[0] == 403


def _again(decided: Any, pod: Pod) -> Pod:
    """Return a Pod as it was decided, in a form in which it can be created."""
    metadata = {"annotations": decided["metadata"].get("annotations", {})}
    spec = {key: value for key, value in decided["spec"].items() if key != "volumes"}
    for container in (*spec["containers"], *spec.get("initContainers", [])):
        container.pop("volumeMounts", None)
    return {**pod, "metadata": pod["metadata"] | metadata, "spec": spec}
