"""Pods of several containers: init containers, native sidecars, privileged ones, neighbours."""

from pathlib import Path
from typing import Any

import pytest

from berth.model.decision import Decision, Verdict
from berth.model.reason import Reason
from tests.hami.deciding import CORES, GPU, MEMORY, decide, faults, rules, shares, spec
from tests.pods import Pod, container, pod

PRIVILEGED = {"securityContext": {"privileged": True}}


def limits(decision: Decision, kind: str = "containers") -> list[dict[str, Any]]:
    """Return the limits of each container of a kind."""
    return [one["resources"].get("limits", {}) for one in spec(decision)[kind]]


def test_a_device_for_an_init_container_makes_the_pod_ours(tmp_path: Path) -> None:
    """Init containers are completed like app containers."""
    asked = pod(container("app"), initContainers=[container("warm", {MEMORY: "4096"})])
    decision = decide(asked, rules(tmp_path))
    assert spec(decision)["schedulerName"] == "hami-scheduler"
    assert limits(decision, "initContainers") == [{MEMORY: "4096", GPU: "1"}]
    assert limits(decision) == [{}]


def test_a_native_sidecar_stays_one(tmp_path: Path) -> None:
    """The sidecar is completed, and its restartPolicy and unknown fields are kept."""
    sidecar = container("proxy", {GPU: "1"}, restartPolicy="Always", futureField={"a": 1})
    decision = decide(pod(container("app"), initContainers=[sidecar]), rules(tmp_path))
    (kept,) = spec(decision)["initContainers"]
    assert kept["restartPolicy"] == "Always"
    assert kept["futureField"] == {"a": 1}
    assert kept["resources"]["limits"] == {GPU: "1", CORES: "100"}


def test_only_the_container_that_asks_is_changed(tmp_path: Path) -> None:
    """Containers are told apart by what they ask for, never by their place."""
    asked = pod(container("proxy"), container("train", {GPU: "1"}), container("logs", {"cpu": "1"}))
    decision = decide(asked, rules(tmp_path))
    after = spec(decision)["containers"]
    assert after[0] == asked["spec"]["containers"][0]
    assert after[1]["resources"]["limits"] == {GPU: "1", CORES: "100"}
    assert after[2] == asked["spec"]["containers"][2]


def test_every_container_has_its_own_share(tmp_path: Path) -> None:
    """What one container names says nothing about another; init containers come first."""
    by = rules(tmp_path)
    asked = pod(
        container("a", {GPU: "1"}),
        container("b", {GPU: "2", MEMORY: "2000"}),
        initContainers=[container("i", {CORES: "20"})],
    )
    assert shares(decide(asked, by).pod, by) == [
        (1, None, None, 20),
        (1, None, None, 100),
        (2, 2000, None, None),
    ]


def test_a_privileged_container_is_left_out_of_sharing_with_a_warning(tmp_path: Path) -> None:
    """It sees every card of its node, so a share of it would be a fiction (policy.privileged)."""
    asked = pod(container("agent", {GPU: "1", MEMORY: "2000"}, **PRIVILEGED))
    decision = decide(asked, rules(tmp_path))
    assert decision.verdict is Verdict.UNCHANGED
    (warning,) = decision.warnings
    assert str(warning).startswith("spec.containers[0]: privileged")
    assert decision.first_reasons == (
        "privileged containers alone ask for a device, and theirs are not managed",
    )


def test_a_privileged_container_that_asks_for_0_hears_nothing(tmp_path: Path) -> None:
    """It asks for nothing, as people are told to write where a LimitRange gives cards."""
    asked = pod(container("agent", {GPU: "0", MEMORY: "0"}, **PRIVILEGED))
    decision = decide(asked, rules(tmp_path))
    assert decision.verdict is Verdict.UNCHANGED
    assert decision.warnings == ()
    assert decision.first_reasons == ("already as it should be",)


def neighbours() -> Pod:
    """Return a Pod of a privileged container without a device, and a plain one with."""
    return pod(container("agent", **PRIVILEGED), container("train", {GPU: "1"}))


def test_a_privileged_neighbour_does_not_matter_unless_refused(tmp_path: Path) -> None:
    """HAMi 2.10 denies this Pod; here that is policy.privileged=deny."""
    skipped = decide(neighbours(), rules(tmp_path))
    assert limits(skipped) == [{}, {GPU: "1", CORES: "100"}]


@pytest.mark.parametrize("place", ["containers", "initContainers"])
def test_a_privileged_container_refuses_a_pod_with_a_device(place: str, tmp_path: Path) -> None:
    """policy.privileged=deny is HAMi 2.10's rule (1.2, step 6), with the field named."""
    asked = pod(container("train", {GPU: "1"}))
    asked["spec"].setdefault(place, []).append(container("agent", **PRIVILEGED))
    index = len(asked["spec"][place]) - 1
    decision = decide(asked, rules(tmp_path, "policy.privileged=deny"))
    where = f"spec.{place}[{index}].securityContext.privileged"
    assert faults(decision) == [(Reason.PRIVILEGED, where)]
    assert decision.problems[0].reason.is_policy


def test_a_privileged_pod_without_a_device_is_never_refused(tmp_path: Path) -> None:
    """policy.privileged speaks of Pods with a device only."""
    decision = decide(
        pod(container("agent", **PRIVILEGED)), rules(tmp_path, "policy.privileged=deny")
    )
    assert decision.verdict is Verdict.UNCHANGED


def test_privileged_containers_may_count_as_any_other(tmp_path: Path) -> None:
    """policy.privileged=allow completes them as well."""
    asked = pod(container("agent", {GPU: "1"}, **PRIVILEGED))
    decision = decide(asked, rules(tmp_path, "policy.privileged=allow"))
    assert limits(decision) == [{GPU: "1", CORES: "100"}]


def test_ephemeral_containers_are_never_visited(tmp_path: Path) -> None:
    """They can have no resources, and do not exist at CREATE (HAMi 1.2)."""
    asked = pod(container(), ephemeralContainers=[container("debug", {GPU: "1"})])
    assert decide(asked, rules(tmp_path)).verdict is Verdict.UNCHANGED
