"""Environment variables: what is set once, what is taken out, what is refused."""

import copy
from pathlib import Path
from typing import Any

import pytest

from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.hami.deciding import GPU, MEMORY, PRIORITY, decide, faults, main, rules
from tests.pods import container, pod

VISIBLE = "NVIDIA_VISIBLE_DEVICES"


def env(**entries: str) -> list[dict[str, Any]]:
    """Return env entries."""
    return [{"name": name, "value": value} for name, value in entries.items()]


def test_variables_of_the_user_stay_in_their_order(tmp_path: Path) -> None:
    """Ours is added at the end, since later entries may refer to earlier ones."""
    asked = pod(container(limits={GPU: "1", PRIORITY: "1"}, env=env(A="1", B="$(A)")))
    decision = decide(asked, rules(tmp_path))
    assert main(decision)["env"] == env(A="1", B="$(A)", CUDA_TASK_PRIORITY="1")


def test_a_variable_that_is_right_already_stays(tmp_path: Path) -> None:
    """HAMi adds a second entry of the name (differences, "variables")."""
    (right,) = env(CUDA_TASK_PRIORITY="1")
    for entry in (right, right | {"valueFrom": None}):
        there = [entry, *env(A="2")]
        asked = pod(container(limits={GPU: "1", PRIORITY: "1"}, env=there))
        decision = decide(asked, rules(tmp_path))
        assert main(decision)["env"] == there
        assert decision.warnings == ()


@pytest.mark.parametrize(
    "theirs",
    [
        {"name": "GPU_CORE_UTILIZATION_POLICY", "value": "disable"},
        {
            "name": "GPU_CORE_UTILIZATION_POLICY",
            "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
        },
    ],
    ids=["another value", "a reference"],
)
def test_the_administrators_value_replaces_the_users(
    theirs: dict[str, Any], tmp_path: Path
) -> None:
    """In place, once, and with a warning."""
    asked = pod(container(limits={GPU: "1"}, env=[theirs, *env(A="1"), theirs]))
    decision = decide(asked, rules(tmp_path, gpuCorePolicy="force"))
    assert main(decision)["env"] == env(GPU_CORE_UTILIZATION_POLICY="force", A="1")
    assert len(decision.warnings) == 1


DEVICE_ENTRIES: dict[str, list[dict[str, Any]]] = {
    "a value": env(**{VISIBLE: "all"}),
    "a reference": [{"name": VISIBLE, "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}],
    "twice": [*env(**{VISIBLE: "all"}), *env(**{VISIBLE: "0"})],
}


@pytest.mark.parametrize("entries", DEVICE_ENTRIES.values(), ids=DEVICE_ENTRIES.keys())
def test_the_choice_of_devices_is_taken_out(entries: list[dict[str, Any]], tmp_path: Path) -> None:
    """The container's own entry would win over the device plugin's (policy.deviceEnv)."""
    asked = pod(container(limits={GPU: "1"}, env=[*env(A="1"), *entries, *env(B="2")]))
    decision = decide(asked, rules(tmp_path))
    assert main(decision)["env"] == env(A="1", B="2")
    assert any(VISIBLE in str(warning) for warning in decision.warnings)


def test_the_choice_of_devices_may_be_refused_or_kept(tmp_path: Path) -> None:
    """policy.deviceEnv has deny and keep beside remove."""
    asked = pod(container(limits={GPU: "1"}, env=env(**{VISIBLE: "all"})))
    denied = decide(asked, rules(tmp_path, "policy.deviceEnv=deny"))
    assert faults(denied) == [(Reason.DEVICE_ENV, "spec.containers[0].env")]
    kept = decide(asked, rules(tmp_path, "policy.deviceEnv=keep"))
    assert main(kept)["env"] == env(**{VISIBLE: "all"})


LIMITERS = ["CUDA_DEVICE_MEMORY_LIMIT", "CUDA_DEVICE_MEMORY_LIMIT_0", "CUDA_DEVICE_SM_LIMIT"]


@pytest.mark.parametrize("name", [*LIMITERS, "CUDA_DISABLE_CONTROL"])
def test_the_limiters_variables_are_refused_taken_out_or_kept(name: str, tmp_path: Path) -> None:
    """A container must not set its own bounds (policy.limitEnv)."""
    asked = pod(container(limits={GPU: "1", MEMORY: "2000"}, env=env(**{name: "1"})))
    denied = decide(asked, rules(tmp_path))
    assert faults(denied) == [(Reason.DEVICE_ENV, "spec.containers[0].env")]
    assert denied.problems[0].reason.is_policy
    removed = decide(asked, rules(tmp_path, "policy.limitEnv=remove"))
    assert main(removed)["env"] == []
    kept = decide(asked, rules(tmp_path, "policy.limitEnv=keep"))
    assert main(kept)["env"] == env(**{name: "1"})


def test_containers_without_a_device_keep_their_variables(tmp_path: Path) -> None:
    """Monitoring agents set NVIDIA_VISIBLE_DEVICES with good reason."""
    watcher = container("watch", env=env(**{VISIBLE: "all"}, CUDA_DISABLE_CONTROL="true"))
    decision = decide(pod(container("train", {GPU: "1"}), watcher), rules(tmp_path))
    assert decision.verdict is Verdict.PATCHED
    assert decision.pod["spec"]["containers"][1] == watcher  # type: ignore[index,call-overload]


NOT_HIDDEN: dict[str, dict[str, Any]] = {
    "privileged": {"securityContext": {"privileged": True}},
    "with a DRA claim": {"resources": {"claims": [{"name": "gpu"}]}},
    "with a MIG slice": {
        "resources": {kind: {"nvidia.com/mig-1g.5gb": "1"} for kind in ("limits", "requests")}
    },
}


@pytest.mark.parametrize("more", NOT_HIDDEN.values(), ids=NOT_HIDDEN.keys())
def test_cards_are_not_hidden_from_those_who_have_them_otherwise(
    more: dict[str, Any], tmp_path: Path
) -> None:
    """Under overwriteEnv HAMi takes their cards from them (differences, "hiding")."""
    asked = pod({**container(), **more})
    decision = decide(asked, rules(tmp_path, overwriteEnv=True))
    assert decision.verdict is Verdict.UNCHANGED


def test_an_empty_list_of_claims_is_none(tmp_path: Path) -> None:
    """A template may leave one."""
    asked = pod({**container(), "resources": {"claims": []}})
    decision = decide(asked, rules(tmp_path, overwriteEnv=True))
    assert main(decision)["env"] == env(**{VISIBLE: "none"})


def test_a_value_of_all_is_hidden_with_a_warning(tmp_path: Path) -> None:
    """With overwriteEnv, a container without a card cannot choose cards."""
    asked = pod(container(env=env(**{VISIBLE: "all"})))
    decision = decide(asked, rules(tmp_path, overwriteEnv=True))
    assert main(decision)["env"] == env(**{VISIBLE: "none"})
    assert len(decision.warnings) == 1


@pytest.mark.parametrize("policy", ["remove", "deny", "keep"])
def test_what_hides_cards_goes_where_another_webhook_gives_one(policy: str, tmp_path: Path) -> None:
    """It is ours: nobody is refused for it, and no container is blind to its own card."""
    by = rules(tmp_path, f"policy.deviceEnv={policy}", overwriteEnv=True)
    asked = pod(container("main", {GPU: "1"}), container("late"))
    changed = copy.deepcopy(decide(asked, by).pod)
    late: Any = changed["spec"]["containers"][1]  # type: ignore[index,call-overload]
    assert late["env"] == env(**{VISIBLE: "none"})
    late["resources"] = container(limits={GPU: "1"})["resources"]
    again: Any = decide(changed, by).pod["spec"]
    assert again["containers"][1]["env"] == []
    chosen = decide(pod(container(limits={GPU: "1"}, env=env(**{VISIBLE: "all"}))), by)
    assert bool(faults(chosen)) is (policy == "deny")
    assert (main(chosen)["env"] == []) is (policy == "remove"), "what hides none is the policy's"
