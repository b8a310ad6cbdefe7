"""Vectors C1 to C9 and C13: kinds of containers, and their variables."""

from pathlib import Path
from time import process_time
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berth.admission import mutate, wire
from berth.errors import BadReview
from berth.settings import Policy, Registration
from tests.pods import Pod, container, gpu_pod, pod
from tests.vectors import laws
from tests.webhook import review

GPU = {"nvidia.com/gpu": "1"}
PRIORITY = GPU | {"nvidia.com/priority": "1"}
TASK_PRIORITY = {"name": "CUDA_TASK_PRIORITY", "value": "1"}


def sidecar(count: int) -> Pod:
    """Return a native sidecar that asks for `count` devices."""
    return container("sidecar", {"nvidia.com/gpu": str(count)}, restartPolicy="Always")


def initial(count: int) -> Pod:
    """Return an ordinary init container that asks for `count` devices."""
    return container("init", {"nvidia.com/gpu": str(count)})


def effective(pod: Pod, name: str = "nvidia.com/gpu") -> int:
    """Return what the Pod asks for at its peak, by Kubernetes' formula for sidecars (KEP-753)."""

    def asked(one: Pod) -> int:
        return int(one["resources"].get("requests", {}).get(name, 0))

    beside, peak = 0, 0
    for one in pod["spec"].get("initContainers", []):
        if one.get("restartPolicy") == "Always":
            beside += asked(one)
        else:
            peak = max(peak, asked(one) + beside)
    return max(peak, beside + sum(asked(one) for one in pod["spec"]["containers"]))


def test_c1_an_init_container_is_completed_in_its_place() -> None:
    """A device asked for by an init container is completed there and nowhere else."""
    outcome = laws.patched(pod(container(), initContainers=[container("a"), initial(2)]))
    changed = [one["path"] for one in outcome.operations if "ontainers" in one["path"]]
    assert changed
    assert all(path.startswith("/spec/initContainers/1/resources/") for path in changed)
    assert effective(outcome.pod) == 2


def test_c2_a_sidecar_stays_a_sidecar() -> None:
    """A native sidecar keeps its restartPolicy, by which Kubernetes adds it to the others."""
    outcome = laws.patched(pod(container(limits=GPU), initContainers=[sidecar(1)]))
    assert outcome.pod["spec"]["initContainers"][0]["restartPolicy"] == "Always"
    assert effective(outcome.pod) == 2


@pytest.mark.parametrize(
    ("inits", "golden"),
    [
        ([sidecar(2), initial(1)], 3),
        ([sidecar(2), initial(4)], 6),
        ([initial(4), sidecar(2)], 4),
        ([initial(1), sidecar(2)], 3),
    ],
)
def test_c3_the_effective_request_is_kept(inits: list[Pod], golden: int) -> None:
    """Whatever the order of sidecars and init containers, the Pod asks for no device more."""
    asked = pod(container(limits=GPU), initContainers=inits)
    assert effective(asked) == golden
    assert effective(laws.patched(asked).pod) == golden


def test_c4_fields_that_we_do_not_know_stay() -> None:
    """Nothing is removed from a Pod for being unknown."""
    asked = pod(container(limits=GPU, fooBeta={"x": [None]}), fooBeta={"y": {}})
    outcome = laws.patched(asked)
    assert not [one for one in outcome.operations if one["op"] == "remove"]
    assert outcome.pod["spec"]["fooBeta"] == {"y": {}}
    assert outcome.pod["spec"]["containers"][0]["fooBeta"] == {"x": [None]}


def test_c5_ephemeral_containers_are_never_touched() -> None:
    """They cannot ask for resources, so nothing is read or written there."""
    debug = [container("debug", GPU | {"nvidia.com/gpucores": "-1"})]
    laws.untouched(pod(container(), ephemeralContainers=debug))
    outcome = laws.patched(gpu_pod(GPU, ephemeralContainers=debug))
    assert not [one for one in outcome.operations if "ephemeral" in one["path"]]


@pytest.mark.parametrize("wrong", [None, [], {}, "x", 7, True, [None], ["x"], [[]]])
@pytest.mark.parametrize("inits", [[], [initial(1)]])
def test_c6_containers_of_a_wrong_shape_do_no_harm(wrong: object, inits: list[Pod]) -> None:
    """A Pod without containers passes or is HTTP 400: Kubernetes' own validation speaks."""
    asked = pod(initContainers=inits)
    asked["spec"]["containers"] = wrong
    survives(asked)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
RICH = pod(
    container(limits=PRIORITY, env=[TASK_PRIORITY], securityContext={"privileged": False}),
    initContainers=[initial(1)],
    volumes=[{"name": "v", "hostPath": {"path": "/dev/nvidia0"}}],
    tolerations=[{"operator": "Exists"}],
    nodeSelector={"kubernetes.io/os": "linux"},
    resources={"limits": {"cpu": "1"}},
    metadata={"labels": {"a": "b"}, "annotations": {"c": "d"}},
)


@settings(max_examples=300, deadline=None, print_blob=True)
@given(data=st.data())
def test_c6_any_field_may_have_any_shape(data: st.DataObject) -> None:
    """Whatever JSON stands where a field of a Pod should, the answer is no fault of ours."""
    asked: Any = laws.sown(RICH)
    place, key = asked, data.draw(st.sampled_from(list(asked)))
    while isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
        place = place[key]
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
    place[key] = data.draw(JSON)
    survives(asked)


def survives(asked: Pod) -> None:
    """Assert HTTP 400, or an answer which a second run finds nothing to add to."""
    try:
        outcome = laws.ask(asked)
    except BadReview:  # HTTP 400
        return
    if outcome.response["allowed"]:
        assert not laws.ask(outcome.pod).operations


def test_c7_the_largest_pods_are_answered_in_time() -> None:
    """250 containers with 1,000 variables each cost a bounded number of operations."""
    env = [{"name": f"E{index}", "value": ""} for index in range(1000)]
    asked = pod(*(container(f"c{index}", PRIORITY, env=env) for index in range(250)))
    body = orjson.dumps(review(asked))
    started = process_time()
    read = wire.decode(body)
    assert read.object is not None
    decision = mutate.decide(read.object, read.namespace, laws.SHIPPED)
    answer = wire.answer(read, decision, 1)
    assert process_time() - started < Registration().timeout_seconds
    laws.holds(asked, orjson.loads(answer)["response"], decision)
    assert len(decision.operations) <= 3 * 250 + 2


def env_after(env: list[Pod] | None, **options: Any) -> laws.Outcome:
    """Return what becomes of a container that has `env` and asks for a task priority."""
    more: dict[str, Any] = {} if env is None else {"env": env}
    return laws.patched(pod(container(limits=PRIORITY, **more)), **options)


def env_of(outcome: laws.Outcome) -> list[Pod]:
    """Return the variables of the first container."""
    found: list[Pod] = outcome.pod["spec"]["containers"][0]["env"]
    return found


def test_c8_a_lacking_env_is_made_once(tmp_path: Path) -> None:
    """The first variable makes the list, and the second is appended to it."""
    file = tmp_path / "device-config.yaml"
    file.write_text("nvidia:\n  gpuCorePolicy: force\n")
    outcome = env_after(None, decide=laws.deciding(laws.rules(file)))
    policy = {"name": "GPU_CORE_UTILIZATION_POLICY", "value": "force"}
    assert env_of(outcome) == [TASK_PRIORITY, policy]
    paths = [one["path"] for one in outcome.operations if "/env" in one["path"]]
    assert paths in (
        ["/spec/containers/0/env"],
        ["/spec/containers/0/env", "/spec/containers/0/env/-"],
    )


OTHER = {"name": "OTHER", "value": "x"}


@pytest.mark.parametrize(
    ("env", "after", "warned"),
    [
        pytest.param([OTHER], [OTHER, TASK_PRIORITY], False, id="lacks"),
        pytest.param([TASK_PRIORITY, OTHER], [TASK_PRIORITY, OTHER], False, id="same"),
        pytest.param(
            [OTHER, TASK_PRIORITY | {"value": "5"}], [OTHER, TASK_PRIORITY], True, id="another"
        ),
        pytest.param(
            [TASK_PRIORITY, OTHER, TASK_PRIORITY | {"value": "7"}],
            [TASK_PRIORITY, OTHER],
            True,
            id="twice",
        ),
        pytest.param(
            [{"name": "CUDA_TASK_PRIORITY", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}, OTHER],
            [TASK_PRIORITY, OTHER],
            True,
            id="C9-valueFrom",
        ),
    ],
)
def test_c8_c9_a_variable_stands_once(env: list[Pod], after: list[Pod], *, warned: bool) -> None:
    """The resource says the priority: what the user set otherwise, in any form, gives way aloud."""
    outcome = env_after(env)
    assert env_of(outcome) == after
    assert ("warnings" in outcome.response) is warned


@pytest.mark.parametrize(
    ("policy", "code"),
    [("skip", None), ("allow", None), ("deny", 403)],
    ids=["skip", "allow", "deny"],
)
def test_c13_privileged_containers_follow_the_policy(policy: Any, code: int | None) -> None:
    """Shipped, such a container is skipped with a warning, as it sees every card anyway."""
    decide = laws.deciding(laws.rules(policy=Policy(privileged=policy)))
    asked = pod(container(limits=GPU, securityContext={"privileged": True}))
    if code:
        message = laws.refused(asked, code, decide)
        assert "spec.containers[0].securityContext.privileged: container main" in message
    elif policy == "skip":
        (warning,) = laws.untouched(asked, decide).response["warnings"]
        assert warning.startswith("spec.containers[0]: privileged")
        assert laws.untouched(asked).response["warnings"] == [warning]
    else:
        assert laws.patched(asked, decide).operations == laws.patched(gpu_pod(GPU)).operations
