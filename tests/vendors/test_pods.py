"""Pods of several accelerators, and what the rows do not show: variables, records, injections."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from berth import layered
from berth.admission import configuration, mutate
from berth.admission.rules import Rules
from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.clauses import fix
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


def test_an_annotation_without_a_name_is_no_list_of_devices(tmp_path: Path) -> None:
    """Many accelerators have no annotation that chooses a model."""
    asked = gpu_pod({"metax-tech.com/sgpu": "1"}) | {"metadata": {"annotations": {"": 7}}}
    assert decide(asked, rules(tmp_path)).verdict is Verdict.PATCHED


WHOLE: dict[str, tuple[dict[str, str], str]] = {
    "aws.amazon.com/neuroncore": ({}, "write a whole number up to 2048, for all devices of"),
    "mthreads.com/sgpu-core": ({"mthreads.com/vgpu": "1"}, "write a whole number up to 16,"),
    "mthreads.com/sgpu-memory": ({"mthreads.com/vgpu": "1"}, "write whole units of 512 MiB"),
    "cambricon.com/mlu.smlu.vmemory": (
        {"cambricon.com/vmlu": "1"},
        "write whole units of 256 MiB",
    ),
    "iluvatar.ai/MR-V100.vCore": (
        {"iluvatar.ai/MR-V100-vgpu": "2"},
        "write a whole number up to 200, for all devices of",
    ),
    "enflame.com/gcu-memory": ({}, "write whole GiB, or whole MiB from 256 on"),
    "enflame.com/drs-gcu": ({}, "write whole slices"),
    "metax-tech.com/vmemory": (
        {"metax-tech.com/sgpu": "1"},
        "write whole GiB, up to 999, or a size such as 512Mi",
    ),
    "hygon.com/dcumem": ({"hygon.com/dcunum": "1"}, "write whole MiB"),
    "amd.com/gpucores": ({"amd.com/gpu": "1"}, "write whole percent of one device, from 1 to 100"),
    "amd.com/gpu": ({}, "write 1, and ask for a part of the card with amd.com/gpumem or"),
    "vastaitech.com/va": ({}, "write whole devices, of which nobody gets a part"),
}


@pytest.mark.parametrize(("name", "row"), WHOLE.items(), ids=WHOLE.keys())
def test_a_part_of_a_unit_is_answered_in_the_unit(
    name: str, row: tuple[dict[str, str], str], tmp_path: Path
) -> None:
    """Who follows the advice asks for about what was meant: 1.5 is neither 1 % nor 1 MiB of all."""
    beside, advice = row
    (problem,) = decide(gpu_pod({**beside, name: "1.5"}), rules(tmp_path)).problems
    assert fix(problem).startswith(advice)


@pytest.mark.parametrize(
    ("name", "amount", "advice"),
    [
        ("nvidia.com/gpumem", "16Gi", "write 16384 if 16Gi is meant"),
        ("nvidia.com/gpumem", "16G", "write 15259 if 16G is meant"),
        ("nvidia.com/gpumem", "16000000001", "write at most 1048575"),
        ("nvidia.com/gpumem", "100Ti", "write at most 1048575"),
        ("cambricon.com/mlu.smlu.vmemory", "4G", "write 15 if 4G is meant"),
        ("cambricon.com/mlu.smlu.vmemory", "64Mi", "write 1 if 64Mi is meant"),
    ],
)
def test_bytes_are_answered_in_units(name: str, amount: str, advice: str, tmp_path: Path) -> None:
    """As many as hold them, where a suffix says that bytes are meant."""
    count = {"cambricon.com/vmlu": "1"} if name.startswith("cambricon") else {}
    (problem,) = decide(gpu_pod({**count, name: amount}), rules(tmp_path)).problems
    assert fix(problem) == advice


def test_nobody_is_told_to_ask_for_one_chip_of_a_pair(tmp_path: Path) -> None:
    """Who asks for one gets two: a part of it is only to be had by leaving the part out."""
    chip = "huawei.com/Ascend910C"
    for count in ("1", "2"):
        asked = gpu_pod({chip: count, f"{chip}-memory": "16384"})
        (problem,) = decide(asked, rules(tmp_path)).problems
        assert (problem.code, fix(problem)) == ("not-shared.pairs", "write 65536, or leave it out")


def test_a_recorded_size_can_be_asked_for_again(tmp_path: Path) -> None:
    """Bytes without a suffix are none to MetaX, so the record keeps one; GiB stay as they are."""
    for asked, kept in (("1.5Gi", "1536Mi"), ("1536Mi", "1536Mi"), ("16", "16")):
        limits = {"metax-tech.com/sgpu": "1", "metax-tech.com/vmemory": asked}
        decision = decide(gpu_pod(limits), rules(tmp_path))
        record = (original(decision) or {})["main"]
        assert record == limits | {"metax-tech.com/vmemory": kept}
        again = decide(gpu_pod(record), rules(tmp_path))
        assert again.demand
        assert decision.demand
        assert again.demand.totals() == decision.demand.totals()


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
