"""Pods of several accelerators, and what the rows do not show: variables, records, injections."""

from pathlib import Path
from typing import Any

import yaml

from berth import layered
from berth.admission import configuration, mutate
from berth.admission.rules import Rules
from berth.model.decision import Reason, Verdict
from tests.hami.deciding import decide, faults, main, original, spec
from tests.pods import container, gpu_pod, pod

NEURON = {"aws.amazon.com/neuron": "1"}
CHIP = "huawei.com/Ascend910A"


def rules(folder: Path, *flags: str, **sections: Any) -> Rules:
    """Return the rules of settings `flags` and a device-config.yaml with these sections."""
    file = folder / "device-config.yaml"
    file.write_text(yaml.safe_dump(sections))
    found, warnings = configuration.rules(layered.settings(None, flags), file)
    assert not warnings
    return found


def test_each_container_has_its_own_kind_of_device(tmp_path: Path) -> None:
    """Two kinds in one Pod are fine, two in one container are not."""
    by = rules(tmp_path)
    apart = pod(container("a", NEURON), container("b", {CHIP: "1"}))
    decision = decide(apart, by)
    assert decision.verdict is Verdict.PATCHED
    limits = [one["resources"]["limits"] for one in spec(decision)["containers"]]
    assert limits == [NEURON, {CHIP: "1", f"{CHIP}-memory": "32768"}]
    together = decide(gpu_pod(NEURON | {CHIP: "1"}), by)
    place = "spec.containers[0].resources.limits[aws.amazon.com/neuron]"
    assert faults(together) == [(Reason.SEVERAL_VENDORS, place)]


def test_none_of_a_device_beside_another_is_no_second_kind(tmp_path: Path) -> None:
    """Charts write 0 for what is not wanted."""
    decision = decide(gpu_pod({CHIP: "1", "amd.com/gpu": "0"}), rules(tmp_path))
    assert decision.verdict is Verdict.PATCHED


def test_the_first_container_with_a_class_names_the_pods(tmp_path: Path) -> None:
    """A Pod has one RuntimeClass; HAMi leaves it to chance which (weakness 14)."""
    chip = {
        "commonWord": "A",
        "resourceName": CHIP,
        "runtimeClassName": "ascend",
        "memoryAllocatable": 8,
        "memoryCapacity": 8,
    }
    by = rules(tmp_path, nvidia={"runtimeClassName": "nvidia"}, vnpus={"configs": [chip]})
    asked = pod(
        container("x", NEURON), container("a", {CHIP: "1"}), container("b", {"nvidia.com/gpu": "1"})
    )
    assert spec(decide(asked, by))["runtimeClassName"] == "ascend"


def test_the_number_of_cards_is_that_of_the_last_container(tmp_path: Path) -> None:
    """One annotation cannot say two numbers (differences, "several numbers of cards")."""
    two, three = ({"mthreads.com/vgpu": number} for number in "23")
    stale = {"annotations": {"mthreads.com/request-gpu-num": "7"}}
    decision = decide(
        pod(container("a", two), container("b", three), metadata=stale), rules(tmp_path)
    )
    metadata: Any = decision.pod["metadata"]
    assert metadata["annotations"]["mthreads.com/request-gpu-num"] == "3"
    assert any("is replaced by 3" in str(warning) for warning in decision.warnings)


def test_a_containers_own_name_is_told_once(tmp_path: Path) -> None:
    """A value of the user stays, as in HAMi."""
    theirs = [{"name": "SOL_CONTINER_NAME", "value": "theirs"}]
    asked = pod(container(limits={"iluvatar.ai/BI-V150-vgpu": "1"}, env=theirs))
    assert main(decide(asked, rules(tmp_path)))["env"] == theirs


def test_the_choice_of_chips_is_the_device_plugins(tmp_path: Path) -> None:
    """What holds for NVIDIA_VISIBLE_DEVICES holds for Ascend's (policy.deviceEnv)."""
    env = [{"name": "ASCEND_VISIBLE_DEVICES", "value": "0"}]
    asked = pod(container(limits={CHIP: "1"}, env=env))
    decision = decide(asked, rules(tmp_path))
    assert main(decision)["env"] == []
    denied = decide(asked, rules(tmp_path, "policy.deviceEnv=deny"))
    assert faults(denied) == [(Reason.DEVICE_ENV, "spec.containers[0].env")]


def test_two_kinds_in_one_container_have_all_their_mistakes_told(tmp_path: Path) -> None:
    """Variables of both kinds, and annotations of both; what both withhold is told once."""
    names = ("NVIDIA_VISIBLE_DEVICES", "CUDA_DEVICE_SM_LIMIT", "ASCEND_VISIBLE_DEVICES")
    env = [{"name": name, "value": "0"} for name in names]
    chips = {CHIP: "1", "huawei.com/Ascend310P": "1", "nvidia.com/gpu": "1"}
    asked = pod(container(limits=chips, env=env))
    asked["metadata"]["annotations"] = {"nvidia.com/numa-bind": "maybe"}
    told = decide(asked, rules(tmp_path, "policy.deviceEnv=deny")).problems
    env_path = ("spec", "containers", 0, "env")
    assert sorted(str(one.facts["name"]) for one in told if one.path == env_path) == sorted(names)
    assert [one.code for one in told if one.path != env_path] == [
        "several-vendors",
        "several-vendors",
        "annotation.switch",
    ]


def test_what_was_asked_for_is_kept_for_every_accelerator(tmp_path: Path) -> None:
    """The record is the request before rounding, and a second pass believes it."""
    decision = decide(gpu_pod({CHIP: "1", f"{CHIP}-memory": "5000"}), rules(tmp_path))
    kept = original(decision) or {}
    assert kept == {"main": {CHIP: "1", f"{CHIP}-memory": "5000"}}
    assert main(decision)["resources"]["limits"][f"{CHIP}-memory"] == "8738"


def test_a_privileged_container_is_told_of_each_kind(tmp_path: Path) -> None:
    """It is left out of sharing whatever it names."""
    asked = pod(container("p", NEURON | {CHIP: "1"}, securityContext={"privileged": True}))
    decision = decide(asked, rules(tmp_path))
    assert (decision.verdict, len(decision.warnings)) == (Verdict.UNCHANGED, 2)


def test_an_injection_is_for_a_family_or_for_one(tmp_path: Path) -> None:
    """Settings speak of `ascend`, or of one chip."""
    entry = {"name": "X", "value": "1"}
    file = tmp_path / "settings.yaml"
    wanted = [
        {"name": name, "vendor": vendor, "env": [entry]}
        for name, vendor in (("all", "ascend"), ("one", "Ascend910A"), ("other", "Ascend310P"))
    ]
    file.write_text(yaml.safe_dump({"injections": wanted}))
    by, _ = configuration.rules(layered.settings(file), None)
    asked = gpu_pod({CHIP: "1"})
    reached = [
        name
        for name, injection in by.injections.items()
        if mutate.decide_injection(asked, "default", by, injection).operations
    ]
    assert reached == ["all", "one"]


def test_a_misplaced_name_is_told_for_every_accelerator(tmp_path: Path) -> None:
    """A resource as an annotation asks for nothing."""
    asked = pod(container(), metadata={"annotations": {f"{CHIP}-memory": "5000"}})
    (warning,) = decide(asked, rules(tmp_path)).warnings
    assert str(warning).startswith(f"metadata.annotations[{CHIP}-memory] has no effect")
