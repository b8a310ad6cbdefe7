"""Public bug reports on what can never work, by their number."""

import json
from copy import deepcopy
from typing import Any

import pytest

from berth import names
from berth.admission import mutate, verify, wire, workloads
from berth.admission.rules import Rules
from berth.model.decision import Verdict
from berth.model.reason import Reason
from berth.settings import Conversion
from tests.hami.deciding import CORES, GPU, MEMORY, faults
from tests.pods import Pod, container, gpu_pod, pod
from tests.vectors import laws
from tests.webhook import review

FORGED = {
    "hami.io/vgpu-node": "gpu-1",
    "hami.io/vgpu-devices-allocated": "GPU-0000,NVIDIA,1,0:;",
}


@pytest.mark.parametrize("labels", [{}, {"hami.io/webhook": "ignore"}], ids=["in", "opted out"])
@pytest.mark.parametrize("limits", [{GPU: "1"}, {"cpu": "1"}], ids=["a card", "no card"])
def test_r16_a_new_pod_brings_no_allocation(limits: dict[str, str], labels: Pod) -> None:
    """16 (HAMi#3041, #2959): refused for anyone but HAMi, and no label switches it off.

    That a record which cannot be read counts as a full card is the scheduler's to do, and comes
    with the fleet.
    """
    metadata = {"annotations": FORGED, "labels": labels}
    asked = pod(container(limits=limits), metadata=metadata)
    decision = verify.created(asked, "default", "someone", laws.SHIPPED)
    assert faults(decision) == [
        (Reason.ALLOCATION, f"metadata.annotations[{key}]") for key in sorted(FORGED)
    ]


def test_r16_a_running_pod_keeps_its_allocation() -> None:
    """16: nobody else adds, changes or takes out a record; whatever else they change is theirs."""
    plain = gpu_pod({GPU: "1"})
    recorded = gpu_pod({GPU: "1"})
    recorded["metadata"]["annotations"] = FORGED
    other = deepcopy(recorded)
    other["metadata"]["annotations"] = {**FORGED, "hami.io/vgpu-node": "gpu-2"}
    relabelled = deepcopy(recorded)
    relabelled["metadata"]["labels"] = {"a": "b"}
    hami = "system:serviceaccount:kube-system:hami-device-plugin"
    for new, old in ((recorded, plain), (other, recorded), (plain, recorded)):
        assert _updated(new, old, "someone") is Verdict.REFUSED
        assert _updated(new, old, hami) is Verdict.UNCHANGED
    assert _updated(relabelled, recorded, "someone") is Verdict.UNCHANGED


def _updated(new: Pod, old: Pod, user: str) -> Verdict:
    update = {"operation": "UPDATE", "oldObject": old, "userInfo": {"username": user}}
    read = wire.decode(json.dumps(review(new, **update)).encode())
    return verify.decide(read, laws.SHIPPED).verdict


def test_r10_a_key_near_to_ours_is_warned_about() -> None:
    """10 (KAI-Scheduler#257): a node label's key as an annotation looks right, and is not read."""
    asked = gpu_pod({GPU: "1"})
    asked["metadata"]["annotations"] = {"nvidia.com/gpu.memory": "8000Mi", "example.com/gpu": "1"}
    (warning,) = mutate.decide(asked, "default", laws.SHIPPED).warnings
    assert str(warning).startswith(
        "metadata.annotations[nvidia.com/gpu.memory] is not read; did you"
    )


CONVERTED = laws.rules(conversions=(Conversion(name="batch", namespaces=("*",)),))


@pytest.mark.parametrize("by", [laws.SHIPPED, CONVERTED.within("default")], ids=["hami", "volcano"])
def test_r10_no_key_that_is_read_or_is_ours_is_taken_for_a_slip(by: Rules) -> None:
    """10: what admission wrote in its first pass, and what its own pages say to write."""
    for key in (*names.WRITTEN, *names.STEERING, names.WORKLOAD_CLASS, *names.SIZE_ANNOTATIONS):
        asked = gpu_pod({GPU: "1"})
        asked["metadata"]["annotations"] = {key: ""}
        said = mutate.decide(asked, "default", by).said
        assert "not-read" not in said, key


def test_r10_a_policy_on_the_deployment_is_warned_about_at_its_creation() -> None:
    """10 (HAMi#1069): it has no effect there, and `kubectl apply` says where it belongs."""
    deployment: Any = {
        "kind": "Deployment",
        "metadata": {"annotations": {"hami.io/gpu-scheduler-policy": "binpack"}},
        "spec": {"template": {"spec": gpu_pod({GPU: "1", MEMORY: "1000"})["spec"]}},
    }
    decision = workloads.decide(deployment, "default", laws.SHIPPED)
    (warning,) = decision.warnings
    assert str(warning).endswith("no effect on Deployment; move it to its Pod template")
    assert decision.verdict is Verdict.UNCHANGED


LONGEST = "metax-tech.com/sgpu-topology-aware"
MISPLACED = {
    "on a CronJob": ((), LONGEST, "no effect on CronJob; move it to its Pod template"),
    "on its jobTemplate": (
        ("spec", "jobTemplate"),
        "nvidia.com/numa-bind",
        "no effect on CronJob; move it to its Pod template",
    ),
    "a resource": ((), MEMORY, "has no effect; write it under a container's limits"),
}


@pytest.mark.parametrize(("place", "key", "said"), MISPLACED.values(), ids=MISPLACED.keys())
def test_r10_whatever_stands_around_a_template_is_looked_at(
    place: tuple[str, ...], key: str, said: str
) -> None:
    """10: also in the middle, and kubectl shows to the end what to do; a size moves to limits."""
    template: Any = {"spec": gpu_pod({GPU: "1", MEMORY: "1000"})["spec"]}
    cron_job: Any = {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": template}}}}
    holder = cron_job["spec"]["jobTemplate"] if place else cron_job
    holder["metadata"] = {"annotations": {key: "1", "example.com/other": "2"}}
    decision = workloads.decide(cron_job, "default", laws.SHIPPED)
    (warning,) = wire.warnings(decision, "en")
    where = ".".join((*place, "metadata", "annotations"))
    assert str(warning).startswith(f"{where}[{key}] has no effect")
    assert str(warning).endswith(said)


def test_r14_the_final_object_is_judged() -> None:
    """14 (kueue#15020): what LimitRanger made of the Pod after us is what counts."""
    written: Any = deepcopy(laws.ask(gpu_pod({GPU: "1"})).pod)
    written["spec"]["containers"][0]["resources"]["requests"][CORES] = "1"
    decision = verify.created(written, "default", "limit-ranger", laws.SHIPPED)
    where = f"spec.containers[0].resources.requests[{CORES}]"
    assert faults(decision) == [(Reason.REQUEST_NOT_LIMIT, where)]


def test_r17_a_debug_container_does_not_choose_cards() -> None:
    """17 (gpu-operator#421): a container that comes later is held to the same."""
    old = laws.ask(gpu_pod({GPU: "1"})).pod
    variable = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}
    debug = [{"name": "debug", "env": [variable]}]
    new: Any = {**old, "spec": {**gpu_pod({GPU: "1"})["spec"], "ephemeralContainers": debug}}
    update = {"operation": "UPDATE", "oldObject": old, "subResource": "ephemeralcontainers"}
    read = wire.decode(json.dumps(review(new, **update)).encode())
    decision = verify.decide(read, laws.SHIPPED)
    assert faults(decision) == [(Reason.DEVICE_ENV, "spec.ephemeralContainers[0].env")]
