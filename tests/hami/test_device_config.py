"""The nvidia keys of device-config.yaml that admission reads (HAMi's contract, section 3)."""

from pathlib import Path
from typing import Any

import pytest

from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.clauses import fix
from tests.hami.deciding import (
    CORES,
    GPU,
    MEMORY,
    PERCENT,
    Limits,
    Share,
    decide,
    faults,
    main,
    rules,
    shares,
    spec,
)
from tests.pods import gpu_pod

RENAMED = {
    "resourceCountName": "example.com/card",
    "resourceMemoryName": "example.com/mib",
    "resourceMemoryPercentageName": "example.com/mib-percent",
    "resourceCoreName": "example.com/cores",
    "resourcePriorityName": "example.com/urgency",
}


def test_renamed_resources_are_ours(tmp_path: Path) -> None:
    """All five names are those of the file."""
    by = rules(tmp_path, **RENAMED)
    decision = decide(gpu_pod({"example.com/card": "1", "example.com/urgency": "1"}), by)
    assert main(decision)["resources"]["limits"]["example.com/cores"] == "100"
    assert main(decision)["env"] == [{"name": "CUDA_TASK_PRIORITY", "value": "1"}]
    assert shares(gpu_pod({"example.com/mib": "7", "example.com/cores": "3"}), by) == [
        (1, 7, None, 3)
    ]
    assert shares(gpu_pod({"example.com/mib-percent": "9"}), by) == [(1, None, 9, None)]


def test_the_usual_names_are_nobodys_once_renamed(tmp_path: Path) -> None:
    """A cluster with the plain device plugin beside HAMi keeps nvidia.com/gpu for it."""
    decision = decide(gpu_pod({GPU: "1"}), rules(tmp_path, **RENAMED))
    assert decision.verdict is Verdict.UNCHANGED


KEYS: dict[str, tuple[dict[str, Any], Limits, Limits, Share | None]] = {
    "defaultGPUNum 2": ({"defaultGPUNum": 2}, {MEMORY: "9"}, {GPU: "2"}, (2, 9, None, None)),
    "defaultGPUNum 0": ({"defaultGPUNum": 0}, {CORES: "9"}, {}, None),
    "defaultGPUNum 0 and a card": (
        {"defaultGPUNum": 0},
        {GPU: "1", CORES: "9"},
        {},
        (1, None, None, 9),
    ),
    "defaultMemory": ({"defaultMemory": 512}, {GPU: "1"}, {}, (1, None, None, None)),
    "defaultMemory and all of it": (
        {"defaultMemory": 512},
        {PERCENT: "100"},
        {GPU: "1", CORES: "100"},
        (1, None, 100, 100),
    ),
    "defaultCores": ({"defaultCores": 30}, {GPU: "1"}, {}, (1, None, None, None)),
    "defaultCores and other cores": (
        {"defaultCores": 30},
        {GPU: "1", CORES: "50"},
        {},
        (1, None, None, 50),
    ),
    "memoryFactor": (
        {"memoryFactor": 1024},
        {GPU: "1", MEMORY: "16"},
        {},
        (1, 16384, None, None),
    ),
    "memoryFactor 0 is 1": ({"memoryFactor": 0}, {GPU: "1", MEMORY: "16"}, {}, (1, 16, None, None)),
    "no name for cores": ({"resourceCoreName": ""}, {GPU: "1"}, {}, (1, None, None, None)),
    "no name for memory": (
        {"resourceMemoryName": ""},
        {GPU: "1"},
        {CORES: "100"},
        (1, None, None, 100),
    ),
}


@pytest.mark.parametrize(("config", "asked", "added", "share"), KEYS.values(), ids=KEYS.keys())
def test_defaults_and_units(
    config: dict[str, Any], asked: Limits, added: Limits, share: Share | None, tmp_path: Path
) -> None:
    """Each key changes what a container is given, and what the scheduler reads."""
    by = rules(tmp_path, **config)
    decision = decide(gpu_pod(asked), by)
    assert main(decision)["resources"]["limits"] == asked | added
    assert main(decision)["resources"]["requests"] == asked | added
    assert shares(decision.pod, by) == [share]


def test_a_memory_factor_narrows_what_fits_on_a_card(tmp_path: Path) -> None:
    """The bound is MiB after scaling, checked without wrapping."""
    decision = decide(gpu_pod({GPU: "1", MEMORY: "1024"}), rules(tmp_path, memoryFactor=1024))
    assert [reason for reason, _ in faults(decision)] == [Reason.TOO_LARGE]


def test_advice_on_a_unit_is_given_only_where_it_is_right(tmp_path: Path) -> None:
    """16Gi is 16384 MiB, but not 16384 units of 2 MiB."""
    asked = gpu_pod({GPU: "1", MEMORY: "16Gi"})
    (plain,) = decide(asked, rules(tmp_path)).problems
    assert fix(plain) == "write 16384 if 16Gi is meant"
    (scaled,) = decide(asked, rules(tmp_path, memoryFactor=2)).problems
    assert fix(scaled) == "write at most 524287"


@pytest.mark.parametrize("policy", ["force", "disable"])
def test_a_core_policy_is_told_to_containers_with_a_device(policy: str, tmp_path: Path) -> None:
    """And to them alone."""
    by = rules(tmp_path, gpuCorePolicy=policy)
    variable = {"name": "GPU_CORE_UTILIZATION_POLICY", "value": policy}
    assert main(decide(gpu_pod({GPU: "1"}), by))["env"] == [variable]
    assert decide(gpu_pod({"cpu": "1"}), by).verdict is Verdict.UNCHANGED


@pytest.mark.parametrize("policy", ["default", ""])
def test_the_default_core_policy_is_not_said(policy: str, tmp_path: Path) -> None:
    """HAMi's limiter has it without a variable."""
    assert "env" not in main(decide(gpu_pod({GPU: "1"}), rules(tmp_path, gpuCorePolicy=policy)))


def test_the_users_runtime_class_is_kept(tmp_path: Path) -> None:
    """A RuntimeClass that is named is never replaced."""
    asked = gpu_pod({GPU: "1"}, runtimeClassName="kata")
    decision = decide(asked, rules(tmp_path, runtimeClassName="nvidia"))
    assert spec(decision)["runtimeClassName"] == "kata"


@pytest.mark.parametrize("asked", [{GPU: "0"}, {"cpu": "1"}], ids=["zero", "none"])
def test_a_pod_without_a_device_gets_no_runtime_class(asked: Limits, tmp_path: Path) -> None:
    """Nodes without cards may not have the class."""
    decision = decide(gpu_pod(asked), rules(tmp_path, runtimeClassName="nvidia"))
    assert decision.verdict is Verdict.UNCHANGED
