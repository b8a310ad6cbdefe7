"""What `/validate` says, without a server: M7, I7 to I10, and that it repeats every refusal."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from berth import names
from berth.admission import verify, wire
from berth.admission.rules import Rules
from berth.dialects import allocated
from berth.model.decision import Decision, Verdict
from berth.settings import Policy, Registration, Scheduler
from tests.pods import Pod, container, gpu_pod, pod
from tests.vectors import laws
from tests.webhook import review

ONE = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "1000"}
SOMEBODY = "someone@example.com"


def validating(
    rules: Rules = laws.SHIPPED, before: Rules | None = None, user: str = SOMEBODY
) -> laws.Decide:
    """Return what /validate does with a new Pod under `rules`."""
    return lambda raw, namespace: verify.created(raw, namespace, user, rules, before)


def updating(
    new: Pod, old: Pod, user: str = SOMEBODY, rules: Rules = laws.SHIPPED, **request: Any
) -> tuple[Decision, dict[str, Any]]:
    """Return what /validate decides and answers about an UPDATE."""
    update = {"operation": "UPDATE", "oldObject": old, "userInfo": {"username": user}}
    read = wire.decode(json.dumps(review(new, **update, **request)).encode())
    decision = verify.decide(read, rules)
    return decision, json.loads(wire.answer(read, decision, 1))["response"]


GARBAGE = ("abc", "-1", "1e999", "x" * 200_000, "\uff10", '{"a":1}')
STEERED = (
    "hami.io/scheduling-policy",
    "hami.io/node-scheduler-policy",
    "hami.io/gpu-scheduler-policy",
    "hami.io/device-scoring-weights",
    "nvidia.com/numa-bind",
    "nvidia.com/vgpu-mode",
)


@pytest.mark.parametrize("value", GARBAGE, ids=lambda value: value[:10])
@pytest.mark.parametrize("key", STEERED)
def test_m7_garbage_that_steers_is_refused(key: str, value: str) -> None:
    """The key is named, a long value is not repeated, and nobody gets the scheduler's default."""
    asked = gpu_pod(ONE)
    asked["metadata"]["annotations"] = {key: value}
    for decide in (laws.BY_DEFAULT, validating()):
        message = laws.refused(asked, 422, decide)
        assert message.startswith(f"metadata.annotations[{key}]: ")
        assert len(message) < 300
    without = pod(container(limits={"cpu": "1"}), metadata=asked["metadata"])
    laws.untouched(without)


@pytest.mark.parametrize("value", [{"a": 1}, 1, None, ["x"], True], ids=str)
@pytest.mark.parametrize("key", [*STEERED, "nvidia.com/use-gputype", "nvidia.com/use-gpuuuid"])
def test_m7_a_value_of_another_type_does_no_harm(key: str, value: Any) -> None:
    """The API server holds annotations to be text; should one come, it is refused or not read."""
    asked = gpu_pod(ONE)
    asked["metadata"]["annotations"] = {key: value}
    assert laws.ask(asked).response.keys() >= {"uid", "allowed"}


SAID: dict[str, tuple[dict[str, str], str]] = {
    "every card twice": (
        {"nvidia.com/use-gpuuuid": "GPU-1, GPU-2", "nvidia.com/nouse-gpuuuid": "GPU-2,GPU-1"},
        "nvidia.com/use-gpuuuid",
    ),
    "every model twice": (
        {"nvidia.com/use-gputype": "A100-SXM4,a30", "nvidia.com/nouse-gputype": "A30,a100"},
        "nvidia.com/nouse-gputype",
    ),
    "a word that nobody knows": (
        {"hami.io/gpu-scheduler-policy": "binpack,nearest"},
        "hami.io/gpu-scheduler-policy",
    ),
    "a device's word for nodes": (
        {"hami.io/node-scheduler-policy": "mutex"},
        "hami.io/node-scheduler-policy",
    ),
}


@pytest.mark.parametrize(("annotations", "key"), SAID.values(), ids=SAID.keys())
def test_choices_that_leave_no_device_are_refused(annotations: dict[str, str], key: str) -> None:
    """They contradict each other, or the scheduler would do something else without a word."""
    asked = gpu_pod(ONE)
    asked["metadata"]["annotations"] = annotations
    assert laws.refused(asked, 422).startswith(f"metadata.annotations[{key}]: ")


@pytest.mark.parametrize(("second", "fits"), [("x2,x3", True), ("x3", False)])
def test_a_device_has_to_stand_in_each_list_of_its_kind(
    second: str,
    fits: bool,  # noqa: FBT001  a column of the table
) -> None:
    """Kunlunxin's two lists must both be answered to (HAMi's contract, 4.1)."""
    asked = gpu_pod({"kunlunxin.com/xpu": "1"})
    lists = {"hami.io/use-xpu-uuid": "x1,x2", "baidu.com/use-gpuuuid": second}
    asked["metadata"]["annotations"] = lists
    if fits:
        assert laws.ask(asked).decision.verdict is Verdict.PATCHED
    else:
        where = "metadata.annotations[baidu.com/use-gpuuuid]: "
        assert laws.refused(asked, 422).startswith(where)


FINE = (
    {"nvidia.com/use-gpuuuid": "GPU-1,GPU-2", "nvidia.com/nouse-gpuuuid": "GPU-2"},
    {"nvidia.com/use-gputype": "A100,A30", "nvidia.com/nouse-gputype": "A30"},
    {"nvidia.com/use-gputype": "A100", "nvidia.com/nouse-gputype": "A100-PCIE"},
    {"nvidia.com/use-gpuuuid": " ", "nvidia.com/nouse-gpuuuid": "GPU-2"},
    {"hami.io/gpu-scheduler-policy": " binpack , numa"},
    {"nvidia.com/numa-bind": "T", "hami.io/node-scheduler-policy": ""},
)


@pytest.mark.parametrize("annotations", FINE, ids=str)
def test_choices_that_leave_a_device_pass(annotations: dict[str, str]) -> None:
    """A list that leaves one, a part of a model's name, blanks."""
    asked = gpu_pod(ONE)
    asked["metadata"]["annotations"] = annotations
    laws.patched(asked)


@pytest.mark.parametrize(
    ("models", "memory", "passes"),
    [("A30", 40000, False), ("A30", 20000, True), ("H200", 100000, True), ("NVIDIA", 40000, True)],
)
def test_a_mig_profile_that_no_chosen_model_has_is_refused(
    models: str,
    memory: int,
    passes: bool,  # noqa: FBT001  a column of the table
) -> None:
    """The largest profile is that of the models chosen, where these are known by their names."""
    asked = gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/gpumem": str(memory)})
    asked["metadata"]["annotations"] = {
        "nvidia.com/vgpu-mode": "mig",
        "nvidia.com/use-gputype": models,
    }
    if passes:
        laws.patched(asked)
    else:
        assert "write at most 24576" in laws.refused(asked, 422)


WRONG = ("-1", "0.5", "1Mi")


@pytest.mark.parametrize("amount", WRONG)
def test_what_is_refused_at_first_is_refused_at_last(amount: str) -> None:
    """What another webhook puts in after us meets the same checks, in the same words."""
    asked = gpu_pod({"nvidia.com/gpu": amount})
    assert laws.refused(asked, 422, validating()) == laws.refused(asked, 422)


REWRITTEN = laws.ask(gpu_pod({"nvidia.com/gpu": "1"})).pod


def undo(path: tuple[str | int, ...], value: Any = None) -> Pod:
    """Return a rewritten Pod of which another webhook has changed a part, or taken it out."""
    undone: Any = deepcopy(REWRITTEN)
    place = undone
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return dict(undone)


def without_cores() -> Pod:
    """Return a rewritten Pod whose cores another webhook took out again."""
    undone: Any = deepcopy(REWRITTEN)
    for kind in ("limits", "requests"):
        del undone["spec"]["containers"][0]["resources"][kind]["nvidia.com/gpucores"]
    return dict(undone)


UNDONE: dict[str, tuple[Pod, str]] = {
    "the scheduler": (undo(("spec", "schedulerName"), "default-scheduler"), "spec.schedulerName"),
    "an amount": (without_cores(), "spec.containers[0].resources.limits[nvidia.com/gpucores]"),
}


@pytest.mark.parametrize(("undone", "where"), UNDONE.values(), ids=UNDONE.keys())
def test_i7_a_rewrite_that_was_undone_is_refused(undone: Pod, where: str) -> None:
    """What the Pod needs for its device is not there any more; that a try later may help is said.

    policy.undone makes it a warning, or nothing.
    """
    laws.untouched(REWRITTEN, validating())
    message = laws.refused(undone, 403, validating())
    assert message.startswith(f"{where}: is not as the GPU webhook writes it")
    assert "try again shortly" in message
    warned = laws.untouched(undone, validating(laws.rules(policy=Policy(undone="warn"))))
    assert warned.response["warnings"][0].startswith(where)
    passed = laws.untouched(undone, validating(laws.rules(policy=Policy(undone="allow"))))
    assert "warnings" not in passed.response


def test_i7_what_is_merely_better_is_nobodys_to_keep() -> None:
    """A variable or the record that another webhook takes out is no reason to refuse."""
    laws.untouched(undo(("metadata", "annotations", names.ORIGINAL_REQUEST)), validating())
    without: Any = laws.ask(gpu_pod({**ONE, "nvidia.com/priority": "1"})).pod
    (main,) = without["spec"]["containers"]
    (variable,) = main.pop("env")
    assert variable["name"] == "CUDA_TASK_PRIORITY"
    assert laws.ask(without).decision.verdict is Verdict.PATCHED, "it would be put in again"
    laws.untouched(without, validating())


def test_i9_a_pod_that_was_never_rewritten_is_refused() -> None:
    """The mutating half failed open, or was not asked: 403, and a try later may help.

    Under failurePolicy Ignore, where the administrator lets such Pods pass, it is a warning.
    """
    assert "try again shortly" in laws.refused(gpu_pod(ONE), 403, validating())
    ignoring = laws.rules(registration=Registration(failure_policy="Ignore"))
    assert laws.untouched(gpu_pod(ONE), validating(ignoring)).response["warnings"]
    laws.untouched(pod(container(limits={"cpu": "1"})), validating())
    laws.untouched(gpu_pod(ONE, schedulerName="volcano"), validating())
    laws.untouched(gpu_pod({"nvidia.com/gpu": "0"}), validating())


def test_i10_what_was_written_under_other_settings_passes(tmp_path: Path) -> None:
    """Another replica had them, or this one a moment ago; what was changed since is refused."""
    devices = tmp_path / "device-config.yaml"
    devices.write_text("nvidia: {defaultMemory: 2000}")  # a share, so without all cores
    other = laws.rules(devices)
    written: Any = laws.ask(gpu_pod({"nvidia.com/gpu": "1"}), laws.deciding(other)).pod
    passed = laws.untouched(written, validating())
    assert passed.decision.notes == (verify.BY_OTHERS,)
    assert "warnings" not in passed.response, "its author can do nothing about it"
    for kind in ("limits", "requests"):
        written["spec"]["containers"][0]["resources"][kind]["nvidia.com/gpu"] = "2"
    laws.refused(written, 403, validating())


def test_i10_what_the_settings_of_a_moment_ago_left_alone_passes() -> None:
    """It has no record, as it was nobody's business: another process cannot know."""
    left = laws.rules(scheduler=Scheduler(force=False))
    asked = gpu_pod(ONE)
    laws.untouched(asked, laws.deciding(left))
    laws.untouched(asked, validating(before=left))
    laws.refused(asked, 403, validating())


RECORDS = sorted(laws.SHIPPED.allocations)


def test_each_record_of_the_contract_is_known() -> None:
    """Of each accelerator (HAMi's contract, 4.2), all that the ledger of cards counts besides.

    Volcano's, say; and none that admission itself writes.
    """
    for key in (
        *("hami.io/vgpu-node", "hami.io/vgpu-time", "hami.io/bind-phase", "hami.io/bind-time"),
        *("hami.io/vgpu-devices-to-allocate", "hami.io/vgpu-devices-allocated"),
        *("hami.io/vgpu-mig-allocations", "hami.io/Ascend910A-devices-to-allocate"),
        *("hami.io/MR-V100-devices-allocated", "hami.io/kunlun-allocated"),
        *("hami.io/Biren-devices-allocated", "hami.io/aws-neuron-devices-allocated"),
        *("enflame.com/gcu-assigned", "BAIDU_COM_DEVICE_IDX", "mthreads.com/gpu-index"),
    ):
        assert key in RECORDS
    assert allocated.keys(laws.SHIPPED.vendors).keys() <= laws.SHIPPED.allocations, "as counted"
    written = {names.ORIGINAL_REQUEST, "mthreads.com/request-gpu-num"}
    assert not laws.SHIPPED.allocations & (written | laws.SHIPPED.steering - {*RECORDS})


@pytest.mark.parametrize("key", RECORDS)
def test_a_record_is_refused_on_a_new_pod(key: str) -> None:
    """By both halves, whoever asks for what; kept where the settings say so."""
    asked = gpu_pod(ONE)
    asked["metadata"]["annotations"] = {key: "x"}
    for decide in (laws.BY_DEFAULT, validating()):
        message = laws.refused(asked, 403, decide)
        assert message.startswith(f"metadata.annotations[{key}]: records what")
    kept = laws.rules(policy=Policy(allocations="keep"))
    assert laws.ask(asked, laws.deciding(kept)).decision.verdict is Verdict.PATCHED


@pytest.mark.parametrize(
    ("user", "creates", "changes"),
    [
        ("mine", True, True),
        ("mine2", False, False),
        ("system:serviceaccount:hami:scheduler", False, True),
        ("", False, False),
    ],
)
def test_who_may_record_is_a_setting(
    user: str,
    creates: bool,  # noqa: FBT001  a column of the table
    changes: bool,  # noqa: FBT001  another
) -> None:
    """A name in full may do both; a name that ends in * speaks of Pods that exist."""
    allocators = ("mine", "system:serviceaccount:hami:*")
    by = laws.rules(policy=Policy(allocators=allocators))
    plain = pod(container(limits={"cpu": "1"}))
    for key, new_may in (("hami.io/vgpu-node", creates), (names.DECISION, True)):
        recorded = deepcopy(plain)
        recorded["metadata"]["annotations"] = {key: "n1"}
        created = verify.created(recorded, "default", user, by)
        assert (created.verdict is Verdict.UNCHANGED) == new_may
        for new, old in ((recorded, plain), (plain, recorded)):
            assert (updating(new, old, user, by)[0].verdict is Verdict.UNCHANGED) == changes


POLICY, MODELS, NOT_MODELS = (
    *("hami.io/gpu-scheduler-policy", "nvidia.com/use-gputype", "nvidia.com/nouse-gputype"),
)
WRITTEN = laws.ask(gpu_pod(ONE)).pod


def steered(annotations: dict[str, str], **spec: str) -> Pod:
    """Return a Pod with a share, as it is stored, with these annotations besides."""
    metadata = {**WRITTEN["metadata"]}
    metadata["annotations"] = {**metadata["annotations"], **annotations}
    return {**WRITTEN, "metadata": metadata, "spec": {**WRITTEN["spec"], **spec}}


@pytest.mark.parametrize(
    ("added", "wrong"),
    [
        ({POLICY: "packed"}, POLICY),
        ({MODELS: "A100", NOT_MODELS: "A100"}, NOT_MODELS),
        ({POLICY: "binpack", MODELS: "A100"}, None),
        ({"example.com/mine": "packed"}, None),
    ],
)
def test_o3_what_can_never_work_is_refused_of_a_pod_that_waits(
    added: dict[str, str], wrong: str | None
) -> None:
    """On UPDATE as on CREATE, as HAMi's scheduler reads the annotations at each try."""
    decision, answered = updating(steered(added), steered({}))
    assert [problem.path[-1] for problem in decision.problems] == ([wrong] if wrong else [])
    assert answered["allowed"] is (wrong is None)
    bound = {"nodeName": "n1"}
    for new, old in (
        (steered(added, **bound), steered({}, **bound)),
        (steered({**added, "example.com/other": "1"}), steered(added)),
        (steered({}), steered(added)),
        (steered(added, schedulerName="volcano"), steered({}, schedulerName="volcano")),
    ):
        assert updating(new, old)[0].verdict is Verdict.UNCHANGED
    asked = review(steered(added), operation="UPDATE", oldObject=steered({}))
    read = wire.decode(json.dumps(asked).encode())
    assert verify.decide_records(read, laws.SHIPPED).verdict is Verdict.UNCHANGED


BINDING: Pod = {"kind": "Binding", "metadata": {}, "target": {"kind": "Node", "name": "n1"}}


@pytest.mark.parametrize(
    ("user", "key", "allowed"),
    [
        ("mine", "hami.io/vgpu-node", True),
        ("system:serviceaccount:hami:scheduler", "hami.io/vgpu-node", True),
        ("stranger", "hami.io/vgpu-node", False),
        ("stranger", "example.com/mine", True),
        ("stranger", names.DECISION, True),  # as schedulers that copy all annotations do
    ],
)
def test_o7_a_binding_brings_no_record_along(
    user: str,
    key: str,
    allowed: bool,  # noqa: FBT001  a column of the table
) -> None:
    """The API server writes a Binding's annotations into the Pod."""
    by = laws.rules(policy=Policy(allocators=("mine", "system:serviceaccount:hami:*")))
    binding = {**BINDING, "metadata": {"annotations": {key: "n1"}}}
    about = {"kind": {"version": "v1", "kind": "Binding"}, "userInfo": {"username": user}}
    asked = wire.decode(json.dumps(review(binding, subResource="binding", **about)).encode())
    for decide in (verify.decide, verify.decide_records):
        assert (decide(asked, by).verdict is Verdict.UNCHANGED) == allowed


def test_a_new_pod_does_not_keep_the_decision_about_another() -> None:
    """It may bring one along, as a copy of a live Pod does; nothing is charged by it."""
    copied = gpu_pod(ONE)
    copied["metadata"]["annotations"] = {names.DECISION: '{"id":"1","node":"n1"}'}
    annotations = laws.ask(copied).pod["metadata"]["annotations"]
    assert names.DECISION not in annotations
    plain = pod(container(limits={"cpu": "1"}), metadata=copied["metadata"])
    laws.untouched(plain, laws.BY_DEFAULT)


def test_a_mirror_pod_is_shown_by_its_node() -> None:
    """A static Pod runs already; only a node may show it (K1, K2)."""
    mirror = pod(
        container(limits=ONE),
        metadata={"annotations": {"kubernetes.io/config.mirror": "x", "hami.io/vgpu-node": "n1"}},
        nodeName="n1",
    )
    assert laws.ask(mirror, validating(user="system:node:n1")).response["allowed"] is True
    laws.refused(mirror, 403, validating())


def test_i8_no_answer_of_the_validating_path_is_a_patch() -> None:
    """Whatever comes: a Pod that we would patch, an update, another kind, a deletion."""
    debug = [{"name": "d", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}]
    requests: list[tuple[Pod | None, dict[str, Any]]] = [
        (gpu_pod(ONE), {}),
        (gpu_pod({"nvidia.com/gpu": "-1"}), {}),
        (gpu_pod(ONE), {"operation": "UPDATE", "oldObject": REWRITTEN}),
        (
            gpu_pod(ONE, ephemeralContainers=debug),
            {"operation": "UPDATE", "oldObject": REWRITTEN, "subResource": "ephemeralcontainers"},
        ),
        (None, {"operation": "DELETE", "oldObject": REWRITTEN}),
        (
            {"spec": {"template": gpu_pod({"nvidia.com/gpu": "-1"})}},
            {"kind": {"group": "apps", "version": "v1", "kind": "Deployment"}},
        ),
    ]
    for asked, request in requests:
        read = wire.decode(json.dumps(review(asked, **request)).encode())
        decision = verify.decide(read, laws.rules(policy=Policy(undone="warn")))
        response = json.loads(wire.answer(read, decision, 1))["response"]
        assert not response.keys() & {"patch", "patchType"}


DEBUGGED: dict[str, tuple[Pod, bool]] = {
    "every card": ({"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}, False),
    "no card": ({"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"}]}, True),
    "by reference": ({"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"a": 1}}]}, False),
    "the limiter": ({"env": [{"name": "CUDA_DISABLE_CONTROL", "value": "true"}]}, False),
    "something else": ({"env": [{"name": "A", "value": "b"}]}, True),
    "nothing": ({}, True),
}


@pytest.mark.parametrize(("debug", "passes"), DEBUGGED.values(), ids=DEBUGGED.keys())
def test_o5_a_debug_container_takes_no_device_by_a_variable(
    debug: Pod,
    passes: bool,  # noqa: FBT001  a column of the table
) -> None:
    """Beside a share only, once only, and only where variables are not everyone's own."""
    there = {"name": "there", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}
    old = {**REWRITTEN, "spec": {**REWRITTEN["spec"], "ephemeralContainers": [there]}}
    added = [there, {"name": "debug", "image": "i", **debug}]
    new = {**old, "spec": {**old["spec"], "ephemeralContainers": added}}
    sub: dict[str, Any] = {"subResource": "ephemeralcontainers"}
    decision, response = updating(new, old, **sub)
    assert response["allowed"] == passes
    assert all(one.path[:3] == ("spec", "ephemeralContainers", 1) for one in decision.problems)
    kept = laws.rules(policy=Policy(device_env="keep", limit_env="keep"))
    assert updating(new, old, rules=kept, **sub)[1]["allowed"]
    plain = pod(container(limits={"cpu": "1"}), ephemeralContainers=added)
    assert updating(plain, pod(container()), **sub)[1]["allowed"]
