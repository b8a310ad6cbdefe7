"""The NVIDIA table of HAMi's contract (2.3), row by row, with Berth's value where we differ."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.hami.deciding import (
    CORES,
    GPU,
    MEMORY,
    PERCENT,
    PRIORITY,
    Limits,
    Share,
    decide,
    faults,
    main,
    rules,
    shares,
    spec,
)
from tests.pods import container, gpu_pod, pod

LIMITS = "spec.containers[0].resources.limits"
REQUESTS = "spec.containers[0].resources.requests"


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a container asks for, and what it has afterwards."""

    asked: Limits
    added: Limits = field(default_factory=dict)
    """To limits and requests alike (HAMi writes limits alone: differences, "pairs")."""
    share: Share | None
    """None: no device, so HAMi's scheduler is not called in."""
    env: dict[str, str] = field(default_factory=dict)
    runtime_class: str | None = None
    config: dict[str, Any] = field(default_factory=dict)


ROWS = {
    "a card alone is the whole card": Row(
        asked={GPU: "1"}, added={CORES: "100"}, share=(1, None, None, 100)
    ),
    "memory makes it a share": Row(asked={GPU: "2", MEMORY: "4096"}, share=(2, 4096, None, None)),
    "memory alone is a share of one card": Row(
        asked={MEMORY: "3000"}, added={GPU: "1"}, share=(1, 3000, None, None)
    ),
    "cores alone are a share of one card": Row(
        asked={CORES: "30"}, added={GPU: "1"}, share=(1, None, None, 30)
    ),
    "all of a card's memory is the whole card": Row(
        asked={PERCENT: "100"}, added={GPU: "1", CORES: "100"}, share=(1, None, 100, 100)
    ),
    "half of a card's memory is a share": Row(
        asked={GPU: "1", PERCENT: "50"}, share=(1, None, 50, None)
    ),
    # HAMi adds no cores: differences, "zero is no request".
    "no percent of memory is no wish, so the whole card": Row(
        asked={GPU: "1", PERCENT: "0"}, added={CORES: "100"}, share=(1, None, None, 100)
    ),
    "no percent of memory leaves the MiB": Row(
        asked={GPU: "1", MEMORY: "2000", PERCENT: "0"}, share=(1, 2000, None, None)
    ),
    "named cores stay": Row(asked={GPU: "1", CORES: "70"}, share=(1, None, None, 70)),
    "all cores named with a share of memory stay": Row(
        asked={GPU: "1", MEMORY: "8000", CORES: "100"}, share=(1, 8000, None, 100)
    ),
    "a priority reaches the container": Row(
        asked={GPU: "1", PRIORITY: "5"},
        added={CORES: "100"},
        env={"CUDA_TASK_PRIORITY": "5"},
        share=(1, None, None, 100),
    ),
    "priority 0 is a priority": Row(
        asked={GPU: "1", PRIORITY: "0"},
        added={CORES: "100"},
        env={"CUDA_TASK_PRIORITY": "0"},
        share=(1, None, None, 100),
    ),
    # HAMi claims the Pod and gives it all cores of no card: differences, "zero is no request".
    "no card is no wish": Row(asked={GPU: "0"}, share=None),
    # HAMi gives one card to each of these: differences, "zero is no request".
    "no memory alone is no wish": Row(asked={MEMORY: "0"}, share=None),
    "no cores alone are no wish": Row(asked={CORES: "0"}, share=None),
    # HAMi books the whole card without its cores: differences, "zero is no request".
    "a card with no memory named is the whole card": Row(
        asked={GPU: "1", MEMORY: "0"}, added={CORES: "100"}, share=(1, None, None, 100)
    ),
    "memory without a default of cards is no wish": Row(
        asked={MEMORY: "100"}, share=None, config={"defaultGPUNum": 0}
    ),
    # HAMi sets the variable on a container without a card: differences, "priority".
    "a priority alone is no wish": Row(asked={PRIORITY: "5"}, share=None),
    "a container without a card sees none": Row(
        asked={"cpu": "1"},
        env={"NVIDIA_VISIBLE_DEVICES": "none"},
        share=None,
        config={"overwriteEnv": True},
    ),
    # HAMi sets the policy there too: differences, "core policy".
    "the core policy leaves containers without a card alone": Row(
        asked={"cpu": "1"}, share=None, config={"gpuCorePolicy": "force"}
    ),
    "the runtime class is the Pod's": Row(
        asked={GPU: "1"},
        added={CORES: "100"},
        runtime_class="nvidia",
        share=(1, None, None, 100),
        config={"runtimeClassName": "nvidia"},
    ),
    # HAMi adds all cores before it looks at the default: differences, "defaults".
    "a default of memory makes a share": Row(
        asked={GPU: "1"}, share=(1, None, None, None), config={"defaultMemory": 512}
    ),
    "memory is counted in the configured unit": Row(
        asked={GPU: "1", MEMORY: "1024"}, share=(1, 2048, None, None), config={"memoryFactor": 2}
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS.keys())
def test_a_container_gets_what_the_contract_says(row: Row, tmp_path: Path) -> None:
    """Limits, requests, variables, RuntimeClass and scheduler are those of the row, no more."""
    by = rules(tmp_path, **row.config)
    decision = decide(gpu_pod(row.asked), by)
    assert main(decision)["resources"] == dict.fromkeys(
        ("limits", "requests"), row.asked | row.added
    )
    assert {entry["name"]: entry["value"] for entry in main(decision).get("env", [])} == row.env
    assert spec(decision).get("runtimeClassName") == row.runtime_class
    scheduler = "default-scheduler" if row.share is None else "hami-scheduler"
    assert spec(decision)["schedulerName"] == scheduler
    assert shares(decision.pod, by) == [row.share]


REFUSED: dict[str, tuple[Limits, Reason, str]] = {
    # HAMi lets memory and percentage pass and takes the memory: differences, "memory twice".
    "memory is named once": (
        {GPU: "1", MEMORY: "2000", PERCENT: "100"},
        Reason.MEMORY_TWICE,
        MEMORY,
    ),
    # HAMi answers 500 and names no field: differences, "mistakes".
    "percent end at 100": ({GPU: "1", PERCENT: "101"}, Reason.TOO_LARGE, PERCENT),
    "percent end at 100 by far": ({GPU: "1", PERCENT: "150"}, Reason.TOO_LARGE, PERCENT),
    # HAMi reads no request at all here and binds the Pod: differences, "unreadable numbers".
    "bytes are no MiB": ({GPU: "1", MEMORY: "16Gi"}, Reason.TOO_LARGE, MEMORY),
    "a GiB of bytes is no MiB": ({GPU: "1", MEMORY: "1Gi"}, Reason.TOO_LARGE, MEMORY),
    "half a card is asked for by its share": ({GPU: "500m"}, Reason.NOT_WHOLE, GPU),
    # HAMi cuts these to 32 bits: differences, "bounds".
    "cards do not wrap to one": ({GPU: "4294967297"}, Reason.TOO_LARGE, GPU),
    "cores do not wrap to none": ({GPU: "1", CORES: "4294967296"}, Reason.TOO_LARGE, CORES),
    "cores end at 100": ({GPU: "1", CORES: "101"}, Reason.TOO_LARGE, CORES),
    "less than nothing": ({GPU: "1", MEMORY: "-1"}, Reason.NEGATIVE, MEMORY),
    "a share of no card": ({GPU: "0", MEMORY: "2000"}, Reason.SHARE_OF_NOTHING, GPU),
}


@pytest.mark.parametrize(("asked", "reason", "name"), REFUSED.values(), ids=REFUSED.keys())
def test_what_no_card_can_give_is_refused_at_its_field(
    asked: Limits, reason: Reason, name: str, tmp_path: Path
) -> None:
    """A wrong number is refused where it stands; it never counts as no request."""
    decision = decide(gpu_pod(asked), rules(tmp_path))
    assert decision.verdict is Verdict.REFUSED
    assert decision.operations == []
    assert faults(decision) == [(reason, f"{LIMITS}[{name}]")]


@pytest.mark.parametrize(
    ("asked", "names"),
    [({GPU: "1", PERCENT: "100"}, [GPU, PERCENT]), ({GPU: "1", CORES: "55"}, [GPU, CORES])],
    ids=["whole card", "share"],
)
def test_requests_without_limits_are_refused(
    asked: Limits, names: list[str], tmp_path: Path
) -> None:
    """HAMi claims one of the two, and Kubernetes takes neither (differences, "pairs")."""
    only = container()
    only["resources"] = {"requests": asked}
    decision = decide(pod(only), rules(tmp_path))
    expected = [(Reason.REQUEST_WITHOUT_LIMIT, f"{REQUESTS}[{name}]") for name in names]
    assert faults(decision) == expected


def test_a_request_that_differs_from_its_limit_is_refused(tmp_path: Path) -> None:
    """HAMi passes it on and Kubernetes refuses it with less to go by (differences, "pairs")."""
    unequal = container(limits={GPU: "1", MEMORY: "4000"})
    unequal["resources"]["requests"][MEMORY] = "2000"
    decision = decide(pod(unequal), rules(tmp_path))
    assert faults(decision) == [(Reason.REQUEST_NOT_LIMIT, f"{REQUESTS}[{MEMORY}]")]


def test_equal_quantities_of_other_spelling_are_equal(tmp_path: Path) -> None:
    """The limit 2k and the request 2000 are one number."""
    spelt = container(limits={GPU: "1", MEMORY: "2k"})
    spelt["resources"]["requests"][MEMORY] = "2000"
    by = rules(tmp_path)
    assert shares(decide(pod(spelt), by).pod, by) == [(1, 2000, None, None)]


def test_all_mistakes_are_said_at_once(tmp_path: Path) -> None:
    """HAMi stops at the first; here one answer names every field (differences, "mistakes")."""
    decision = decide(
        pod(
            container("a", {GPU: "1.5", CORES: "101"}),
            container("b", {GPU: "1", MEMORY: "1Gi"}),
        ),
        rules(tmp_path),
    )
    assert faults(decision) == [
        (Reason.NOT_WHOLE, f"spec.containers[0].resources.limits[{GPU}]"),
        (Reason.TOO_LARGE, f"spec.containers[0].resources.limits[{CORES}]"),
        (Reason.TOO_LARGE, f"spec.containers[1].resources.limits[{MEMORY}]"),
    ]
