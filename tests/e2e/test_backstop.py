"""The backstop: what it refuses while the webhook is down, and never while it runs."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from berth.admission import mutate
from berth.model.decision import Verdict
from tests.cluster.controlplane import ControlPlane
from tests.cluster.namespaces import own
from tests.e2e import backstop, device_pods
from tests.e2e.api import Api
from tests.e2e.backstop import Configured
from tests.e2e.conftest import Register

PODS = 100  # for each configuration
SEED = random.SystemRandom().getrandbits(32)

INJECTION = {
    "name": "library",
    "env": [
        {"name": "LD_PRELOAD", "value": "/opt/ours.so", "joinedBy": ":"},
        {"name": "CUDA_DISABLE_CONTROL", "value": "false"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
    ],
    "volumes": [{"name": "ours", "hostPath": {"path": "/opt/ours"}}],
    "volumeMounts": [{"name": "ours", "mountPath": "/opt/ours"}],
}
CONFIGURATIONS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "as shipped": ((), {}),
    "all that is written": (
        (),
        {"overwriteEnv": True, "gpuCorePolicy": "force", "runtimeClassName": "nvidia"},
    ),
    "privileged as any, variables removed": (
        ("policy.privileged=allow", "policy.limitEnv=remove"),
        {"defaultMemory": 512, "overwriteEnv": True},
    ),
    "privileged refused, no default count": (
        ("policy.privileged=deny", "policy.deviceEnv=keep"),
        {"defaultGPUNum": 0, "memoryFactor": 2},
    ),
    "no scheduler of ours": (
        ("scheduler.name=", "policy.limitEnv=keep", "policy.deviceEnv=deny"),
        {"defaultCores": 30},
    ),
    "the default scheduler keeps its Pods": (("scheduler.force=false",), {}),
    "injections": ((), {"injections": [INJECTION], "overwriteEnv": True}),
    "few resources": (
        (),
        {
            "resourceMemoryName": "",
            "resourceMemoryPercentageName": "",
            "resourcePriorityName": "",
        },
    ),
}


@pytest.fixture(params=[*CONFIGURATIONS.values()], ids=[*CONFIGURATIONS])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Configured:
    """Give each configuration in turn."""
    flags, more = request.param
    return backstop.configured(tmp_path, *flags, **more)


@pytest.fixture(scope="module")
def bare(control_plane: ControlPlane, api: Api) -> Iterator[str]:
    """Give a namespace that the policy does not reach, in a cluster with the RuntimeClass."""
    path = "/apis/node.k8s.io/v1/runtimeclasses"
    wanted = {"metadata": {"name": "nvidia"}, "handler": "nvidia"}
    assert api.ask("POST", path, wanted)[0] == 201
    with own(control_plane) as name:
        yield name
    api.ask("DELETE", f"{path}/nvidia")


def _pods(api: Api, bare: str, dice: random.Random) -> Iterator[tuple[device_pods.Pod, Any]]:
    """Yield random Pods that the API server takes, as sent and as completed by it."""
    for number in range(PODS):
        pod = device_pods.random_pod(dice, f"random-{number}")
        status, completed = api.create(pod, bare, dry_run=True)
        if status == 201:
            yield pod, completed


def _bad(api: Api, bare: str, case: Configured) -> device_pods.Pod:
    """Return a Pod that the policy of this configuration must refuse."""
    dice = random.Random(0)
    return next(
        pod
        for pod, completed in _pods(api, bare, dice)
        if backstop.expected(completed, bare, case.rules) is False
    )


def test_it_never_refuses_what_the_running_webhook_lets_through(
    api: Api, register: Register, bare: str, case: Configured
) -> None:
    """The real API server is asked both ways: with the policy, and where it does not reach."""
    sys.stdout.write(f"seed {SEED}\n")
    dice = random.Random(SEED)
    bad = _bad(api, bare, case)
    objects = backstop.printed(*case.arguments)
    let_through = 0
    # One whose Pods are ours in this configuration, for the webhook to be tried with.
    ours = "default-scheduler" if case.rules.force_default_scheduler else "hami-scheduler"
    running = register(*case.arguments, scheduler=ours)
    with backstop.in_force(api, objects, bad) as guarded, running:
        for number in range(PODS):
            pod = device_pods.random_pod(dice, f"random-{number}")
            without, _ = api.create(pod, bare, dry_run=True)
            status, answer = api.create(pod, guarded, dry_run=True)
            assert (status == 201) == (without == 201), (SEED, pod, answer)
            assert backstop.SAID not in answer.get("message", ""), (SEED, pod, answer)
            let_through += status == 201
        # The test has a webhook that rewrites: the Pod that was refused passes, or is judged.
        assert backstop.SAID not in api.create(bad, guarded, dry_run=True)[1].get("message", "")
    assert let_through > PODS // 4


def test_i9_without_the_webhook_it_refuses_just_what_would_have_been_rewritten(
    api: Api, bare: str, case: Configured
) -> None:
    """Every Pod that the webhook would have completed for a device, and no other it lets be."""
    sys.stdout.write(f"seed {SEED}\n")
    dice = random.Random(SEED)
    refused = passed = 0
    with backstop.in_force(api, backstop.printed(*case.arguments), _bad(api, bare, case)) as space:
        for pod, completed in _pods(api, bare, dice):
            wanted = backstop.expected(completed, space, case.rules)
            status, answer = api.create(pod, space, dry_run=True)
            if wanted is None:
                continue
            assert status == (201 if wanted else 403), (SEED, pod, answer)
            assert wanted or backstop.SAID in answer["message"]
            refused += not wanted
            passed += wanted
    assert refused > PODS // 10
    assert passed > PODS // 10


def test_i7_a_rewritten_pod_passes_until_a_part_of_it_is_undone(
    api: Api, bare: str, case: Configured
) -> None:
    """Whoever undid it: each operation of the patch is left out in turn."""
    sys.stdout.write(f"seed {SEED}\n")
    dice = random.Random(SEED)
    rewritten = undone = 0
    with backstop.in_force(api, backstop.printed(*case.arguments), _bad(api, bare, case)) as space:
        for pod, completed in _pods(api, bare, dice):
            decision = mutate.decide(completed, space, case.rules)
            if decision.verdict is not Verdict.PATCHED:
                continue
            whole = _again(decision.pod, pod)
            status, answer = api.create(whole, space, dry_run=True)
            assert status == 201, (SEED, whole, answer)
            rewritten += 1
            leave_out = dice.randrange(len(decision.operations))
            operations = [o for i, o in enumerate(decision.operations) if i != leave_out]
            try:
                part = _again(jsonpatch.apply_patch(completed, operations), pod)
            except jsonpatch.JsonPatchException:
                continue  # an operation that the left-out one made room for
            status, completed_part = api.create(part, bare, dry_run=True)
            wanted = status == 201 and backstop.expected(completed_part, space, case.rules)
            if wanted is None:
                continue
            status, answer = api.create(part, space, dry_run=True)
            assert (status == 201) == wanted, (SEED, part, answer)
            undone += not wanted
    assert rewritten > PODS // 10
    assert undone


def _again(stored: Any, sent: device_pods.Pod) -> device_pods.Pod:
    """Return a Pod to send once more."""
    kept = {key: stored["metadata"].get(key) or {} for key in ("labels", "annotations")}
    return {**sent, "metadata": {"name": sent["metadata"]["name"], **kept}, "spec": stored["spec"]}
