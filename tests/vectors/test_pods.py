"""Vectors K1, K2 and K6 to K15: kinds of Pods."""

from pathlib import Path
from typing import Any

import pytest

from berth import names
from berth.settings import Policy, Scheduler
from tests.pods import Pod, container, gpu_pod, pod
from tests.vectors import laws

GPU = {"nvidia.com/gpu": "1"}
LIMIT_ENV = ["CUDA_DEVICE_MEMORY_LIMIT", "CUDA_DEVICE_SM_LIMIT", "CUDA_DISABLE_CONTROL"]


@pytest.mark.parametrize(
    "user",
    [
        pytest.param({"username": "system:node:n1", "groups": ["system:nodes"]}, id="K1-kubelet"),
        pytest.param({"username": "alice"}, id="K2-a-person"),
    ],
)
@pytest.mark.parametrize("limits", [GPU, {"nvidia.com/gpu": "-1"}], ids=["good", "bad"])
def test_k1_k2_a_mirror_pod_is_left_alone(user: Pod, limits: Pod) -> None:
    """A patch would not reach the static Pod, so none is made, whoever sends its mirror."""
    metadata = {"annotations": {names.MIRROR_ANNOTATION: "5f0d"}}
    laws.untouched(pod(container(limits=limits), metadata=metadata, nodeName="n1"), userInfo=user)


def kept(**spec: Any) -> laws.Outcome:
    """Assert that a GPU Pod with `spec` is patched as one without, and keeps it."""
    outcome = laws.patched(gpu_pod(GPU, **spec))
    assert {key: outcome.pod["spec"][key] for key in spec} == spec
    assert outcome.operations == laws.patched(gpu_pod(GPU)).operations
    return outcome


def test_k6_scheduling_gates_stay() -> None:
    """A gated Pod is completed at CREATE as any other, as it cannot be later."""
    kept(schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])


def test_k7_a_device_on_a_chosen_node_is_refused() -> None:
    """A Pod with nodeName passes the scheduler by, which then gives it no device."""
    message = laws.refused(gpu_pod(GPU, nodeName="n1"), 403)
    assert message.startswith("spec.nodeName: set to n1")
    assert "node affinity" in message
    laws.untouched(pod(container(), nodeName="n1"))


@pytest.mark.parametrize("name", ["volcano", "my-scheduler"])
def test_k8_pods_of_another_scheduler_are_left_alone(name: str) -> None:
    """A scheduler that was chosen is never overwritten, and nothing else is changed either."""
    laws.untouched(gpu_pod(GPU, schedulerName=name))
    laws.untouched(gpu_pod({"nvidia.com/gpu": "-1"}, schedulerName=name))


def test_k8_the_default_scheduler_is_kept_if_so_set() -> None:
    """With scheduler.force off, only Pods that name HAMi's scheduler are ours."""
    decide = laws.deciding(laws.rules(scheduler=Scheduler(force=False)))
    laws.untouched(gpu_pod(GPU), decide)
    laws.patched(gpu_pod(GPU, schedulerName="hami-scheduler"), decide)


def test_k9_our_scheduler_is_not_written_again() -> None:
    """A value that is as it should be gets no operation."""
    outcome = laws.patched(gpu_pod(GPU, schedulerName="hami-scheduler"))
    assert not [one for one in outcome.operations if "schedulerName" in one["path"]]
    assert laws.patched(gpu_pod(GPU, schedulerName="")).pod["spec"]["schedulerName"] == (
        "hami-scheduler"
    )


@pytest.mark.parametrize(
    "spec", [{"os": {"name": "windows"}}, {"nodeSelector": {"kubernetes.io/os": "windows"}}]
)
def test_k10_a_windows_pod_gets_a_warning_and_no_patch(spec: Pod) -> None:
    """What we add is of use on Linux nodes only."""
    (warning,) = laws.untouched(gpu_pod(GPU, **spec)).response["warnings"]
    assert "Windows" in warning
    assert "warnings" not in laws.untouched(pod(container(), **spec)).response


@pytest.mark.parametrize("field", ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"])
def test_k11_namespaces_of_the_host_change_nothing(field: str) -> None:
    """They open no way to another's card, so such a Pod is as any other."""
    kept(**{field: True})


def test_k12_the_users_runtime_class_is_kept(tmp_path: Path) -> None:
    """The RuntimeClass of the device-config is for Pods that name none."""
    file = tmp_path / "device-config.yaml"
    file.write_text("nvidia:\n  runtimeClassName: nvidia\n")
    decide = laws.deciding(laws.rules(file))
    assert laws.patched(gpu_pod(GPU), decide).pod["spec"]["runtimeClassName"] == "nvidia"
    for name in ("gvisor", "nvidia", ""):
        outcome = laws.patched(gpu_pod(GPU, runtimeClassName=name), decide)
        assert outcome.pod["spec"]["runtimeClassName"] == name
        assert not [one for one in outcome.operations if "runtimeClass" in one["path"]]


def test_k13_priorities_stay() -> None:
    """The Pod's place in the queue is not ours to change."""
    kept(priorityClassName="high", priority=1000, preemptionPolicy="Never")


def test_k15_a_jobs_pod_keeps_what_its_controller_wrote() -> None:
    """Owners, labels and restartPolicy are how Job, Kueue and Argo know their Pods."""
    metadata = {
        "generateName": "train-",
        "labels": {"batch.kubernetes.io/job-name": "train", "kueue.x-k8s.io/podset": "main"},
        "annotations": {"kueue.x-k8s.io/role-hash": "abc"},
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u"}],
        "finalizers": ["batch.kubernetes.io/job-tracking"],
    }
    asked = pod(container(limits=GPU), metadata=metadata, restartPolicy="Never")
    after = laws.patched(asked).pod
    assert after["spec"]["restartPolicy"] == "Never"
    del after["metadata"]["annotations"][names.ORIGINAL_REQUEST]
    assert {key: after["metadata"][key] for key in metadata} == metadata


def test_a_chosen_device_is_taken_out_with_a_warning() -> None:
    """NVIDIA_VISIBLE_DEVICES would reach cards past the share (policy.deviceEnv)."""
    env = [{"name": "A", "value": "1"}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
    asked = pod(container(limits=GPU, env=env))
    outcome = laws.patched(asked)
    assert outcome.pod["spec"]["containers"][0]["env"] == env[:1]
    (warning,) = outcome.response["warnings"]
    assert warning.startswith("spec.containers[0].env: NVIDIA_VISIBLE_DEVICES is removed")
    keep = laws.patched(asked, laws.deciding(laws.rules(policy=Policy(device_env="keep"))))
    assert keep.pod["spec"]["containers"][0]["env"] == env
    laws.refused(asked, 403, laws.deciding(laws.rules(policy=Policy(device_env="deny"))))
    laws.untouched(pod(container(env=env)))


@pytest.mark.parametrize("name", [*LIMIT_ENV, "CUDA_DEVICE_MEMORY_LIMIT_0"])
def test_a_limit_set_by_hand_is_refused(name: str) -> None:
    """A container could raise its own share by the variables of the node side (policy.limitEnv)."""
    asked = pod(container(limits=GPU, env=[{"name": name, "value": "s3cret"}]))
    message = laws.refused(asked, 403)
    assert message.startswith(f"spec.containers[0].env: {name} ")
    assert "s3cret" not in message
    remove = laws.patched(asked, laws.deciding(laws.rules(policy=Policy(limit_env="remove"))))
    assert remove.pod["spec"]["containers"][0]["env"] == []
    laws.patched(asked, laws.deciding(laws.rules(policy=Policy(limit_env="keep"))))
