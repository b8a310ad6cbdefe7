"""Which Pods are taken over: HAMi's truth table (1.2, step 3), opt-outs and shapes of Pods."""

from pathlib import Path
from typing import Any

import pytest

from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.hami.deciding import CORES, GPU, decide, faults, main, rules, spec
from tests.pods import container, gpu_pod, pod

SCOPE = {
    "no scheduler named": ("", True, "hami-scheduler", True),
    "no scheduler named, without force": ("", False, "hami-scheduler", True),
    "the default scheduler": ("default-scheduler", True, "hami-scheduler", True),
    "the default scheduler, without force": ("default-scheduler", False, "hami-scheduler", False),
    "HAMi's own": ("hami-scheduler", True, "hami-scheduler", True),
    "HAMi's own, without force": ("hami-scheduler", False, "hami-scheduler", True),
    "another": ("volcano", True, "hami-scheduler", False),
    "the usual name, where ours is another": ("hami-scheduler", True, "vgpu-scheduler", False),
    "no scheduler of ours, none named": ("", True, "", True),
    "no scheduler of ours, the default": ("default-scheduler", True, "", True),
    "no scheduler of ours, without force": ("default-scheduler", False, "", False),
    "no scheduler of ours, another": ("hami-scheduler", True, "", False),
}


@pytest.mark.parametrize(("named", "force", "ours", "taken"), SCOPE.values(), ids=SCOPE.keys())
def test_the_scheduler_named_decides_whose_the_pod_is(
    *, named: str, force: bool, ours: str, taken: bool, tmp_path: Path
) -> None:
    """A Pod of another scheduler is left as it is, whatever it asks for."""
    by = rules(tmp_path, f"scheduler.name={ours}", f"scheduler.force={str(force).lower()}")
    asked = gpu_pod({GPU: "1"}, schedulerName=named)
    decision = decide(asked, by)
    assert decision.verdict is (Verdict.PATCHED if taken else Verdict.IGNORED)
    assert (CORES in main(decision)["resources"]["limits"]) is taken
    assert spec(decision)["schedulerName"] == ((ours or named) if taken else named)
    assert taken or decision.pod == asked


def test_a_missing_scheduler_name_is_none_named(tmp_path: Path) -> None:
    """Pods that no API server has defaulted are in scope too."""
    bare = gpu_pod({GPU: "1"})
    del bare["spec"]["schedulerName"]
    assert spec(decide(bare, rules(tmp_path)))["schedulerName"] == "hami-scheduler"


LEFT: dict[str, tuple[dict[str, Any], str]] = {
    "the label opts out": ({"labels": {"hami.io/webhook": "ignore"}}, "default"),
    "a mirror Pod": ({"annotations": {"kubernetes.io/config.mirror": "abc"}}, "default"),
    "the system's namespace": ({}, "kube-system"),
    "Berth's own namespace": ({}, "berth-system"),
}


@pytest.mark.parametrize(("metadata", "namespace"), LEFT.values(), ids=LEFT.keys())
def test_left_alone(metadata: dict[str, Any], namespace: str, tmp_path: Path) -> None:
    """What opted out or cannot be changed passes as it is, even with a nodeName and no sense."""
    asked = pod(container(limits={GPU: "1.5"}), metadata=metadata, nodeName="gpu-1")
    decision = decide(asked, rules(tmp_path), namespace)
    assert decision.verdict is Verdict.IGNORED
    assert decision.pod == asked


def test_any_other_value_of_the_label_is_no_opt_out(tmp_path: Path) -> None:
    """The label's value is `ignore`, as HAMi's selectors have it."""
    asked = pod(container(limits={GPU: "1"}), metadata={"labels": {"hami.io/webhook": "enabled"}})
    assert decide(asked, rules(tmp_path)).verdict is Verdict.PATCHED


@pytest.mark.parametrize(
    "more",
    [{"os": {"name": "windows"}}, {"nodeSelector": {"kubernetes.io/os": "windows"}}],
    ids=["by os", "by node selector"],
)
def test_windows_pods_pass_with_a_warning(more: dict[str, Any], tmp_path: Path) -> None:
    """HAMi shares no cards on Windows nodes (differences, "Windows")."""
    decision = decide(gpu_pod({GPU: "1"}, **more), rules(tmp_path))
    assert decision.verdict is Verdict.IGNORED
    assert decision.operations == []
    assert len(decision.warnings) == 1


def test_a_pod_without_a_device_passes_unchanged(tmp_path: Path) -> None:
    """No noise for Pods that are none of our business, privileged or bound to a node included."""
    plain = pod(
        container(limits={"cpu": "1"}, securityContext={"privileged": True}), nodeName="node-1"
    )
    decision = decide(plain, rules(tmp_path))
    assert decision.verdict is Verdict.UNCHANGED
    assert decision.operations == []
    assert decision.warnings == ()


def test_a_device_for_a_pod_with_a_node_is_refused(tmp_path: Path) -> None:
    """No scheduler would give it the device (HAMi 1.2, step 7)."""
    decision = decide(gpu_pod({GPU: "1"}, nodeName="gpu-1"), rules(tmp_path))
    assert faults(decision) == [(Reason.NODE_NAME, "spec.nodeName")]
    assert decision.problems[0].reason.is_policy


def test_without_a_scheduler_of_ours_a_node_may_be_named(tmp_path: Path) -> None:
    """Then placing is not our business (HAMi 1.2, step 7)."""
    by = rules(tmp_path, "scheduler.name=")
    decision = decide(gpu_pod({GPU: "1"}, nodeName="gpu-1"), by)
    assert decision.verdict is Verdict.PATCHED


def test_a_device_for_the_pod_as_a_whole_is_refused(tmp_path: Path) -> None:
    """Pod-level resources know CPU and memory only; HAMi does not look there."""
    whole = pod(container(), resources={"limits": {GPU: "1"}})
    decision = decide(whole, rules(tmp_path))
    assert faults(decision) == [(Reason.POD_LEVEL, "spec.resources")]


def test_a_pod_without_containers_is_kubernetes_to_refuse(tmp_path: Path) -> None:
    """HAMi denies it itself; the API server does so anyway, with the field's name."""
    assert decide(pod(), rules(tmp_path)).verdict is Verdict.UNCHANGED
