"""Public bug reports, by their number: the small input of each, and what is right.

Each docstring begins with the number of the report and where it was made; it says so where we
judge otherwise. docs/reference/bug-reports.md has a row for each report, and what of it is open.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from berth.cli import explain
from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests import clauses
from tests.hami.deciding import (
    CORES,
    GPU,
    MEMORY,
    PERCENT,
    Limits,
    decide,
    faults,
    main,
    original,
    rules,
    shares,
    spec,
)
from tests.pods import Pod, container, gpu_pod, pod

PRIVILEGED = {"securityContext": {"privileged": True}}


@pytest.mark.parametrize("more", [{}, {"restartPolicy": "Always"}], ids=["init", "sidecar"])
def test_r1_a_device_for_an_init_container_alone(more: dict[str, Any], tmp_path: Path) -> None:
    """1 (HAMi#2558): init containers and sidecars are read as app containers are."""
    asked = container("fetch-weights", {GPU: "1", MEMORY: "4096"}, **more)
    decision = decide(pod(container("app"), initContainers=[asked]), rules(tmp_path))
    assert decision.verdict is Verdict.PATCHED
    assert spec(decision)["schedulerName"] == "hami-scheduler"


SHARES: dict[str, list[Limits]] = {
    "two shares by percent": [{GPU: "1", PERCENT: "40"}, {GPU: "1", PERCENT: "40"}],
    "a whole card": [{GPU: "1"}],
    "memory alone": [{MEMORY: "3000"}],
    "none": [{"cpu": "1"}],
    "too much": [{GPU: "1", MEMORY: "16Gi"}],
}


@pytest.mark.parametrize("kind", ["initContainers", "containers"])
@pytest.mark.parametrize("asked", SHARES.values(), ids=SHARES.keys())
def test_r2_a_container_that_asks_for_nothing_changes_nothing(
    asked: list[Limits], kind: str, tmp_path: Path
) -> None:
    """2 (HAMi#3052): neither what is decided nor what the others get; quota comes later."""
    by = rules(tmp_path)
    alone = pod(*(container(f"c{index}", limits) for index, limits in enumerate(asked)))
    beside = deepcopy(alone)
    beside["spec"].setdefault(kind, []).append(container("chown"))
    with_it = decide(beside, by)
    without_it = decide(alone, by)
    assert with_it.verdict is without_it.verdict
    assert faults(with_it) == faults(without_it)
    assert spec(with_it)[kind].pop() == container("chown")
    rest = {key: value for key, value in spec(with_it).items() if value}
    assert rest == spec(without_it)
    assert original(with_it) == original(without_it)


ZERO = {GPU: "0", "cpu": "2"}


def test_r4_no_devices_are_no_request(tmp_path: Path) -> None:
    """4 (k8s-device-plugin#61 and others): neither scheduler nor RuntimeClass nor resources.

    The report wants cards hidden from such a container in any case. We hide them where the
    administrator turned overwriteEnv on, as HAMi does: a Pod that asks for nothing is not changed
    unasked.
    """
    decision = decide(gpu_pod(ZERO), rules(tmp_path, runtimeClassName="nvidia"))
    assert decision.verdict is Verdict.UNCHANGED


def test_r4_with_overwrite_env_the_cards_are_hidden(tmp_path: Path) -> None:
    """4: the image's NVIDIA_VISIBLE_DEVICES=all is overruled, and nothing else is done."""
    by = rules(tmp_path, overwriteEnv=True, runtimeClassName="nvidia")
    decision = decide(gpu_pod(ZERO), by)
    assert main(decision)["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"}]
    assert spec(decision)["schedulerName"] == "default-scheduler"
    assert "runtimeClassName" not in spec(decision)


def test_r5_a_privileged_container_is_never_left_out_in_silence(tmp_path: Path) -> None:
    """5 (HAMi#2138, #611): left out with a warning, or refused with the field, by policy."""
    asked = pod(container("a", {GPU: "1", MEMORY: "2000"}, **PRIVILEGED))
    assert "privileged" in str(decide(asked, rules(tmp_path)).warnings[0])
    denied = decide(asked, rules(tmp_path, "policy.privileged=deny"))
    where = "spec.containers[0].securityContext.privileged"
    assert (Reason.PRIVILEGED, where) in faults(denied)


def test_r5_what_is_refused_is_not_patched(tmp_path: Path) -> None:
    """5: the log said denied, and the Pod was admitted and changed."""
    asked = pod(container("agent", **PRIVILEGED), container("train", {GPU: "1"}))
    denied = decide(asked, rules(tmp_path, "policy.privileged=deny"))
    assert denied.verdict is Verdict.REFUSED
    assert denied.operations == []
    assert denied.pod is asked


SIZES: dict[str, tuple[Limits, Reason, str]] = {
    "a unit": ({GPU: "1", MEMORY: "16Gi"}, Reason.TOO_LARGE, "write 16384 if 16Gi is meant"),
    "wraps at 64 bits": ({MEMORY: "18014398509481985"}, Reason.TOO_LARGE, "write at most"),
    "negative": ({MEMORY: "-1"}, Reason.NEGATIVE, "write a number from 0"),
    "above 64 bits": ({MEMORY: "9223372036854775808"}, Reason.TOO_LARGE, "write at most"),
    "a million cards": ({GPU: "1000000"}, Reason.TOO_LARGE, "write at most 1024"),
}


@pytest.mark.parametrize("factor", [1, 1024])
@pytest.mark.parametrize(("asked", "reason", "fix"), SIZES.values(), ids=SIZES.keys())
def test_r7_a_size_that_no_card_has_is_refused(
    asked: Limits, reason: Reason, fix: str, factor: int, tmp_path: Path
) -> None:
    """7 (HAMi#2284, #2382): before scaling, in whole numbers of any length, with what to write."""
    decision = decide(gpu_pod(asked), rules(tmp_path, memoryFactor=factor))
    (problem,) = decision.problems
    assert problem.reason is reason
    assert factor != 1 or clauses.fix(problem).startswith(fix)


@pytest.mark.parametrize("value", ["4Gi", "4GB", " 4G ", "1.5G", "08G", "50%", "-1", ""])
def test_r8_limits_are_not_set_by_variable(value: str, tmp_path: Path) -> None:
    """8 (HAMi-core#323): refused whatever they say, so nobody has to guess what they mean."""
    variable = {"name": "CUDA_DEVICE_MEMORY_LIMIT", "value": value}
    asked = pod(container(limits={GPU: "1", MEMORY: "2000"}, env=[variable]))
    decision = decide(asked, rules(tmp_path))
    assert faults(decision) == [(Reason.DEVICE_ENV, "spec.containers[0].env")]
    assert MEMORY in clauses.fix(decision.problems[0])


@pytest.mark.parametrize("limits", [{GPU: "1"}, {"cpu": "1"}], ids=["a card", "no card"])
def test_r10_a_resource_as_annotation_is_warned_about(limits: Limits, tmp_path: Path) -> None:
    """10 (HAMi#2862): a warning, as the annotation may be someone else's record.

    Keys that are merely near to ours (nvidia.com/gpu.memory) come with later validation.
    """
    asked = pod(container(limits=limits), metadata={"annotations": {MEMORY: "3000"}})
    (warning,) = decide(asked, rules(tmp_path)).warnings
    assert str(warning).startswith(f"metadata.annotations[{MEMORY}] has no effect")


def test_r10_a_policy_on_the_job_is_warned_about(tmp_path: Path) -> None:
    """10 (HAMi#882): only who sees the Job can say so, which is `berth explain`."""
    file = tmp_path / "job.yaml"
    file.write_text(
        "kind: Job\n"
        "metadata: {name: j, annotations: {hami.io/gpu-scheduler-policy: binpack}}\n"
        "spec: {template: {spec: {containers: [{name: a}]}}}\n"
    )
    result = CliRunner().invoke(explain.command, ["-f", str(file)])
    assert "has no effect on Job; move it to its Pod template\n" in result.output


def test_r11_a_count_is_of_cards_and_memory_is_of_each(tmp_path: Path) -> None:
    """11 (HAMi#194, #888): two cards are two whole ones, and the Pod shows it and what it said."""
    by = rules(tmp_path)
    decision = decide(gpu_pod({GPU: "2"}), by)
    assert shares(decision.pod, by) == [(2, None, None, 100)]
    assert main(decision)["resources"]["limits"][CORES] == "100"
    assert original(decision) == {"main": {"nvidia.com/gpu": "2"}}
    nine = decide(gpu_pod({GPU: "9", MEMORY: "3000"}), by)
    assert shares(nine.pod, by) == [(9, 3000, None, None)]


ESCAPES: dict[str, Pod] = {
    "a device of the host": {"volumes": [{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}]},
    "the runtime's folder": {
        "volumes": [{"name": "d", "hostPath": {"path": "/var/run/nvidia-container-devices"}}]
    },
}


@pytest.mark.parametrize("more", ESCAPES.values(), ids=ESCAPES.keys())
def test_r17_paths_to_cards_are_warned_about(more: Pod, tmp_path: Path) -> None:
    """17 (gpu-operator#421): admission can only say so; the node has to prevent it."""
    decision = decide(gpu_pod({GPU: "1"}, **more), rules(tmp_path))
    assert any("reaches cards past their shares" in str(warning) for warning in decision.warnings)


def test_r17_mounts_that_choose_cards_are_warned_about(tmp_path: Path) -> None:
    """17: NVIDIA's runtime reads the mount point, and what is mounted there is /dev/null."""
    mount = {"name": "null", "mountPath": "/var/run/nvidia-container-devices/all"}
    asked = pod(
        container(limits={GPU: "1"}, volumeMounts=[mount]),
        volumes=[{"name": "null", "hostPath": {"path": "/dev/null"}}],
    )
    (warning,) = decide(asked, rules(tmp_path)).warnings
    assert str(warning).startswith("spec.containers[0].volumeMounts")


def test_r17_variables_that_choose_cards_are_taken_out(tmp_path: Path) -> None:
    """17: literal, by reference and twice; what an envFrom brings cannot be seen at admission."""
    reference = {"configMapKeyRef": {"name": "c", "key": "k"}}
    chosen = [
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": reference},
    ]
    env_from = [{"configMapRef": {"name": "c"}}]
    asked = pod(container(limits={GPU: "1"}, env=chosen, envFrom=env_from))
    decision = decide(asked, rules(tmp_path))
    assert main(decision)["env"] == []
    assert main(decision)["envFrom"] == env_from
    (warning,) = decision.warnings
    assert "NVIDIA_VISIBLE_DEVICES" in str(warning)
