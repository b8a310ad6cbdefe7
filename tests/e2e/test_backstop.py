"""The backstop: what it refuses while the webhook is down, and never while it runs."""

import contextlib
import copy
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jsonpatch
import jsonpointer
import pytest

from berth import names
from berth.admission import mutate
from berth.model.decision import Verdict
from tests import pods
from tests.cluster.controlplane import ControlPlane
from tests.cluster.namespaces import own
from tests.e2e import conftest, device_pods, guarded
from tests.e2e.api import Api
from tests.e2e.conftest import Register
from tests.e2e.guarded import Configured

PODS = 50  # for each configuration
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


@pytest.fixture(scope="module", params=[*CONFIGURATIONS.values()], ids=[*CONFIGURATIONS])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Configured:
    """Give each configuration in turn."""
    flags, more = request.param
    return guarded.configured(tmp_path_factory.mktemp("berth"), *flags, **more)


@pytest.fixture(scope="module")
def bare(control_plane: ControlPlane, api: Api) -> Iterator[str]:
    """Give a namespace that the policy does not reach, in a cluster with the RuntimeClass."""
    path = "/apis/node.k8s.io/v1/runtimeclasses"
    wanted = {"metadata": {"name": "nvidia"}, "handler": "nvidia"}
    assert api.ask("POST", path, wanted)[0] == 201
    with own(control_plane) as name:
        yield name
    api.ask("DELETE", f"{path}/nvidia")


@pytest.fixture(scope="module")
def space(api: Api, bare: str, case: Configured) -> Iterator[str]:
    """Give a namespace with the policy of this configuration in force."""
    bad = next(
        pod
        for pod, completed in _pods(api, bare, random.Random(0))
        if guarded.expected(completed, bare, case.rules) is False
    )
    with guarded.in_force(api, guarded.printed(*case.arguments), bad) as name:
        yield name


def _pods(api: Api, bare: str, dice: random.Random) -> Iterator[tuple[device_pods.Pod, Any]]:
    """Yield random Pods that the API server takes, as sent and as completed by it."""
    for number in range(PODS):
        pod = device_pods.random_pod(dice, f"random-{number}")
        status, completed = api.create(pod, bare, dry_run=True)
        if status == 201:
            yield pod, completed


def test_i9_without_the_webhook_it_refuses_just_what_would_have_been_rewritten(
    api: Api, bare: str, space: str, case: Configured
) -> None:
    """Every Pod that the webhook would have completed for a device, and no other it lets be."""
    sys.stdout.write(f"seed {SEED}\n")
    refused = passed = 0
    for pod, completed in _pods(api, bare, random.Random(SEED)):
        wanted = guarded.expected(completed, space, case.rules)
        status, answer = api.create(pod, space, dry_run=True)
        if wanted is None:
            continue
        assert status == (201 if wanted else 403), (SEED, pod, answer)
        assert wanted or guarded.SAID in answer["message"]
        refused += not wanted
        passed += wanted
    assert refused
    assert passed


def test_i7_a_rewritten_pod_passes_until_a_part_of_it_is_undone(
    api: Api, bare: str, space: str, case: Configured
) -> None:
    """Whoever undid it: each part of the patch is left out in turn."""
    sys.stdout.write(f"seed {SEED}\n")
    undone = 0
    for pod, completed in _pods(api, bare, random.Random(SEED)):
        decision = mutate.decide(completed, space, case.rules)
        if decision.verdict is not Verdict.PATCHED:
            continue
        whole = _again(decision.pod, pod)
        status, answer = api.create(whole, space, dry_run=True)
        assert status == 201, (SEED, whole, answer)
        for part in _undone(completed, decision.operations):
            status, answer = api.create(_again(part, pod), bare, dry_run=True)
            if status != 201:
                continue  # requests without their limits, say
            wanted = guarded.expected(answer, space, case.rules)
            status, answer = api.create(_again(part, pod), space, dry_run=True)
            assert wanted is None or status == (201 if wanted else 403), (SEED, part, answer)
            undone += wanted is False
    assert undone


def test_it_never_refuses_what_the_running_webhook_lets_through(
    api: Api, register: Register, bare: str, space: str, case: Configured
) -> None:
    """The real API server is asked both ways: with the policy, and where it does not reach."""
    sys.stdout.write(f"seed {SEED}\n")
    dice = random.Random(SEED)
    rewritten = 0
    # One whose Pods are ours in this configuration, for the webhook to be tried with.
    ours = "default-scheduler" if case.rules.force_default_scheduler else "hami-scheduler"
    with register(*case.arguments, scheduler=ours):
        for number in range(PODS):
            pod = device_pods.random_pod(dice, f"random-{number}")
            without, _ = api.create(pod, bare, dry_run=True)
            status, answer = api.create(pod, space, dry_run=True)
            assert (status == 201) == (without == 201), (SEED, pod, answer)
            assert guarded.SAID not in answer.get("message", ""), (SEED, pod, answer)
            annotations = answer["metadata"].get("annotations", {})
            rewritten += '"containers"' in annotations.get(names.ORIGINAL_REQUEST, "")
    assert rewritten


def _undone(completed: Any, operations: list[dict[str, Any]]) -> Iterator[Any]:
    """Yield a Pod without each part of its patch; a limit and its request are one."""
    parts = [str(operation["path"]).replace("/requests/", "/limits/") for operation in operations]
    for part in dict.fromkeys(parts):
        kept = [one for one, of in zip(operations, parts, strict=True) if of != part]
        with contextlib.suppress(jsonpatch.JsonPatchException, jsonpointer.JsonPointerException):
            yield jsonpatch.apply_patch(completed, kept)  # fails where it needs what is left out


def _again(stored: Any, sent: device_pods.Pod) -> device_pods.Pod:
    """Return a Pod to send once more."""
    kept = {key: stored["metadata"].get(key) or {} for key in ("labels", "annotations")}
    return {**sent, "metadata": {"name": sent["metadata"]["name"], **kept}, "spec": stored["spec"]}


def test_the_api_server_finds_no_fault_with_its_types(api: Api, case: Configured) -> None:
    """Of validations and messages, as it looks by itself, and of each variable."""
    policy = guarded.printed(*case.arguments, name="typed")[0]
    looked = [policy, guarded.all_checked(policy, "looked-at")]
    with contextlib.ExitStack() as stack:  # all at once: it takes its time for each
        for one in looked:
            stack.enter_context(guarded.stored(api, one))
        for one in looked:
            assert guarded.type_warnings(api, one) == []


OUT: dict[str, Callable[[Any], object]] = {
    "a label on the Pod": lambda pod: pod["metadata"].update(labels={"hami.io/webhook": "ignore"}),
    "another scheduler": lambda pod: pod["spec"].update(schedulerName="volcano"),
    "a mirror of a static Pod": lambda pod: (
        pod["metadata"].update(annotations={"kubernetes.io/config.mirror": "x"}),
        pod["spec"].update(nodeName="n1"),
    ),
    "a Windows Pod": lambda pod: pod["spec"].update(os={"name": "windows"}),
    "a privileged container": lambda pod: pod["spec"]["containers"][0].update(
        securityContext={"privileged": True}
    ),
    "no device after all": lambda pod: pod["spec"]["containers"][0].update(
        resources={"limits": {"nvidia.com/gpu": "0"}}
    ),
}


def test_who_is_out_of_the_webhooks_scope_is_out_of_this_one(api: Api, bare: str) -> None:
    """By the Pod or by its namespace; and what is refused is told why, and what to do."""
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"})
    pod["metadata"] = {"name": "train"}
    assert api.create(pod, bare, dry_run=True)[0] == 201
    with guarded.in_force(api, guarded.printed(name="scoped"), pod) as space:
        status, answer = api.create(pod, space, dry_run=True)
        assert (status, answer["reason"]) == (403, "Forbidden")
        assert answer["message"].endswith(
            "denied request: the GPU webhook did not rewrite this Pod: container main asks for a "
            "device, but spec.schedulerName is not hami-scheduler; try again shortly, and tell "
            "the cluster's administrators if it stays so"
        )
        for what, leave in OUT.items():
            other = copy.deepcopy(pod)
            leave(other)
            status, answer = api.create(other, space, dry_run=True)
            assert status == 201, (what, answer)
        conftest.label(api, space, {"hami.io/webhook": "ignore"})
        guarded.eventually(lambda: api.create(pod, space, dry_run=True)[0] == 201)
