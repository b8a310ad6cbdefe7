"""All of a user's mistakes in one answer."""

from pathlib import Path
from typing import Any

from berth import layered
from berth.admission import configuration, mutate
from berth.model.decision import Decision, Verdict
from berth.model.reason import Reason
from tests import pods
from tests.clauses import what
from tests.hami.deciding import rules

RULES, _ = configuration.rules(layered.settings(None), None)


def _decide(pod: dict[str, Any]) -> Decision:
    return mutate.decide(pod, "default", RULES)


def test_numbers_pairs_variables_and_node_are_judged_together() -> None:
    """A wrong number does not hide the contradictions and the rules broken beside it."""
    limits = {"nvidia.com/gpumem": "16Gi", "nvidia.com/gpumem-percentage": "50"}
    env = [{"name": "CUDA_DISABLE_CONTROL", "value": "true"}]
    decision = _decide(pods.pod(pods.container(limits=limits, env=env), nodeName="n1"))
    assert decision.verdict is Verdict.REFUSED
    assert [problem.reason for problem in decision.problems] == [
        Reason.TOO_LARGE,
        Reason.MEMORY_TWICE,
        Reason.NODE_NAME,
        Reason.DEVICE_ENV,
    ]


def test_a_wrong_number_hides_no_wrong_annotation() -> None:
    """What only the vendor's rule reads is judged beside it, and said once for all containers."""
    wrong = {"nvidia.com/gpumem": "16Gi"}
    decision = _decide(
        pods.pod(
            pods.container("a", limits=wrong),
            pods.container("b", limits={"nvidia.com/gpu": "1"}),
            metadata={"annotations": {"nvidia.com/vgpu-mode": "x"}},
        )
    )
    assert [problem.code for problem in decision.problems] == [
        "too-large.mib-meant",
        "annotation.mode",
    ]
    limits = {"metax-tech.com/sgpu": "1", "metax-tech.com/vcore": "200"}
    annotations = {"annotations": {"metax-tech.com/sgpu-app-class": "x"}}
    decision = _decide(pods.gpu_pod(limits, metadata=annotations))
    assert [problem.code for problem in decision.problems] == [
        "too-large.cores",
        "annotation.metax",
    ]


def test_a_request_beside_hides_no_wrong_number() -> None:
    """Who takes out a request that differs need not come back for the limit; nor who adds one."""
    asked = pods.gpu_pod({"nvidia.com/gpu": "0.5"})
    asked["spec"]["containers"][0]["resources"]["requests"] = {"nvidia.com/gpu": "1"}
    codes = [problem.code for problem in _decide(asked).problems]
    assert codes == ["request-not-limit", "not-whole.count"]
    del asked["spec"]["containers"][0]["resources"]["limits"]
    asked["spec"]["containers"][0]["resources"]["requests"] = {"nvidia.com/gpu": "0.5"}
    codes = [problem.code for problem in _decide(asked).problems]
    assert codes == ["request-without-limit.wrong", "not-whole.count"]


def test_a_wrong_count_accuses_no_cores() -> None:
    """32 sixteenths are right for two cards, and of how many nobody knows."""
    asked = {"mthreads.com/vgpu": "2.5", "mthreads.com/sgpu-core": "32"}
    assert [problem.code for problem in _decide(pods.gpu_pod(asked)).problems] == [
        "not-whole.count"
    ]


def test_values_are_shown_as_they_are_written() -> None:
    """Booleans, and what stands within others, are named as in YAML, not as in Python."""
    for raw, shown in ((True, "true"), ([None], "[null]")):
        (problem,) = _decide(pods.gpu_pod({"nvidia.com/gpu": raw})).problems
        assert what(problem).startswith(f"'{shown}'")
        metadata = {"annotations": {"nvidia.com/use-gputype": raw}}
        (problem,) = _decide(pods.gpu_pod({"nvidia.com/gpu": "1"}, metadata=metadata)).problems
        assert what(problem).startswith(shown)


def test_an_annotation_without_a_value_is_empty() -> None:
    """As the API server stores it, so that `berth explain` does not refuse what runs."""
    for key in ("use-gputype", "numa-bind", "vgpu-mode"):
        metadata = {"annotations": {f"nvidia.com/{key}": None}}
        decision = _decide(pods.gpu_pod({"nvidia.com/gpu": "1"}, metadata=metadata))
        assert decision.verdict is Verdict.PATCHED


def test_zero_devices_with_a_priority_is_no_riddle() -> None:
    """The count stands there: nobody is told to add it."""
    decision = _decide(pods.gpu_pod({"nvidia.com/gpu": "0", "nvidia.com/priority": "3"}))
    assert (decision.verdict, decision.warnings) == (Verdict.UNCHANGED, ())


def test_a_windows_pod_without_devices_is_not_warned(tmp_path: Path) -> None:
    """Only who asks for a device hears that it is not managed, where other Pods come to us too."""
    hiding = rules(tmp_path, overwriteEnv=True)
    plain = pods.pod(pods.container(limits={"cpu": "1"}), os={"name": "windows"})
    asking = pods.gpu_pod({"nvidia.com/gpu": "1"}, os={"name": "windows"})
    assert mutate.decide(plain, "default", hiding).warnings == ()
    assert len(mutate.decide(asking, "default", hiding).warnings) == 1


def test_a_pod_with_more_containers_than_any_that_runs_is_refused_by_their_number() -> None:
    """Reading 50,000 of them would hold all other callers up for seconds."""
    asking = [pods.container(f"c{n}", limits={"nvidia.com/gpu": "1"}) for n in range(501)]
    (problem,) = _decide(pods.pod(*asking)).problems
    assert problem.code == "too-many.containers"
    assert "501 containers" in what(problem)
    assert _decide(pods.pod(*asking[:500])).verdict is Verdict.PATCHED
    plain = [pods.container(f"c{n}") for n in range(501)]
    assert _decide(pods.pod(*plain)).verdict is Verdict.UNCHANGED


def test_a_patch_longer_than_the_api_server_takes_from_anybody_is_not_made() -> None:
    """Nobody sets a variable ten thousand times who means well, and each costs an operation."""
    twins = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}] * 10_001
    (problem,) = _decide(
        pods.pod(pods.container(limits={"nvidia.com/gpu": "1"}, env=twins))
    ).problems
    assert problem.code == "too-many.edits"
