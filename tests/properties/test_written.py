"""What one replica wrote, another with other settings lets pass; and nothing that was changed."""

import copy
import json
import tempfile
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from berth import names
from berth.admission import configuration, mutate, project, verify, written
from berth.admission.rules import Rules
from berth.model.decision import Decision, Verdict
from berth.model.raw import JsonObject
from berth.settings import Settings
from tests.pods import Pod, container, gpu_pod, pod
from tests.properties import strategies

CHANGES = (
    "{}",
    "scheduler: {name: ''}",
    "scheduler: {name: other-scheduler}",
    "conversions: [{name: a, namespaces: ['*'], writes: hami, memory: 8Gi}]",
    "conversions: [{name: a, namespaces: ['*'], writes: hami, oversubscription: {memory: 2}}]",
    "conversions: [{name: a, namespaces: ['*'], writes: hami, oversubscription: {memory: 4}}]",
    "conversions: [{name: a, namespaces: [default], writes: volcano, scheduler: all}]",
    "conversions: [{name: a, namespaces: [default], reads: [hami, pool], writes: plain}]",
    "conversions: [{name: a, namespaces: ['*'], reads: [hami, volcano], writes: pool}]",
)
DEVICES: tuple[Pod, ...] = (
    {},
    {"defaultMemory": 2000, "defaultCores": 30, "memoryFactor": 2},
    {"defaultGPUNum": 2, "gpuCorePolicy": "force", "runtimeClassName": "nvidia"},
)
KINDS = range(len(CHANGES) * len(DEVICES))
USER = "someone@example.com"
PROFILE = settings(
    max_examples=100,
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@cache
def ruled(kind: int) -> Rules:
    """Return the rules of one of the settings with one of the devices."""
    text, devices = [*product(CHANGES, DEVICES)][kind]
    wanted = msgspec.convert(yaml.safe_load(text), Settings)
    with tempfile.NamedTemporaryFile("w") as file:
        yaml.safe_dump({"nvidia": devices}, file)
        return configuration.rules(wanted, Path(file.name))[0]


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    """Return a Pod whose containers have names of their own, as the API server has it."""
    found = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        one = container(name)
        one["resources"] = draw(strategies.resources(strategies.GOOD))
        found.append(one)
    cut = draw(st.integers(0, len(found) - 1))
    scheduler = draw(st.sampled_from(["default-scheduler", "hami-scheduler"]))
    return pod(*found[cut:], initContainers=found[:cut], schedulerName=scheduler)


def _shown(raw: JsonObject) -> Pod:
    """Return a Pod as the API server shows it: 8000 as 8k."""
    found: Pod = json.loads(json.dumps(raw).replace('000"', 'k"'))
    return found


def _undone(decision: Decision) -> bool:
    return any(problem.code == "undone" for problem in decision.problems)


def _asks(decision: Decision) -> bool:
    return decision.demand is not None and decision.demand.any


def _decided(raw: Pod, by: Rules) -> Decision:
    return mutate.decide(raw, "default", by, USER)


@PROFILE
@given(raw=pods(), one=st.sampled_from(KINDS), other=st.sampled_from(KINDS))
def test_what_two_replicas_accept_passes_whichever_writes_and_whichever_checks(
    raw: Pod, one: int, other: int
) -> None:
    """A Pod that is right by the settings of both fails by neither, while they differ."""
    first, second = (_decided(raw, ruled(kind)) for kind in (one, other))
    assume(not first.problems and not second.problems)
    assume(_asks(first) or not _asks(second))  # what was left alone has no record
    stored = _shown(first.pod)
    checked = verify.created(stored, "default", USER, ruled(other))
    assert not checked.problems, (CHANGES[one // 3], CHANGES[other // 3])
    assert not checked.warnings


@PROFILE
@given(raw=pods(), by=st.sampled_from(KINDS), data=st.data())
def test_a_record_of_what_does_not_stand_any_more_changes_nothing(
    raw: Pod, by: int, data: st.DataObject
) -> None:
    """Where another webhook has changed an amount, it is as if there were no checksum."""
    stored: Any = _decided(raw, ruled(by)).pod
    changed = copy.deepcopy(stored)
    one = data.draw(st.sampled_from(changed["spec"]["containers"]))
    amounts = one.setdefault("resources", {}).setdefault("limits", {})
    amounts[data.draw(st.sampled_from(["nvidia.com/gpu", "nvidia.com/gpumem", "a/b"]))] = "7"
    one["resources"]["requests"] = {**amounts}
    bare = copy.deepcopy(changed)
    assume(changed["spec"] != stored["spec"] and "annotations" in stored["metadata"])
    record = json.loads(stored["metadata"]["annotations"][names.ORIGINAL_REQUEST])
    del record["written"]
    bare["metadata"]["annotations"][names.ORIGINAL_REQUEST] = json.dumps(record)
    of = data.draw(st.sampled_from(KINDS))
    with_it, without = (verify.created(x, "default", USER, ruled(of)) for x in (changed, bare))
    assert _undone(with_it) == _undone(without)


@PROFILE
@given(raw=pods(), by=st.sampled_from(KINDS), forged=st.sampled_from(["right", "00000000", 7]))
def test_nobody_keeps_a_record_of_his_own_where_we_are_asked(
    raw: Pod, by: int, forged: Any
) -> None:
    """Not even one with the right checksum of what he asks for: ours stands in its place."""
    honest = _decided(raw, ruled(by))
    assume(_asks(honest) and not honest.problems)
    record: Pod = {"v": 1, "containers": {}, "written": forged}
    if forged == "right":
        record["written"] = written.checksum(project.pod(raw))
    brought = copy.deepcopy(raw)
    brought["metadata"]["annotations"] = {names.ORIGINAL_REQUEST: json.dumps(record)}
    again = _decided(brought, ruled(by))
    assert again.pod == honest.pod
    assert written.stands(project.pod(again.pod))


def _sealed(raw: Pod) -> Pod:
    """Return a Pod with a record of itself, which is not ours."""
    found = copy.deepcopy(raw)
    record = {"v": 1, "containers": {}, "written": written.checksum(project.pod(raw))}
    found["metadata"]["annotations"] = {names.ORIGINAL_REQUEST: json.dumps(record)}
    return found


def test_who_forges_a_record_gains_what_a_label_gives_him() -> None:
    """Only if nobody asks /mutate: then the Pod passes as it is, as with the label that opts out.

    Its mistakes, and forged allocations, are refused all the same.
    """
    by = ruled(0)
    asked = gpu_pod({"nvidia.com/gpu": "1"})
    assert _undone(verify.created(asked, "default", USER, by))
    assert verify.created(_sealed(asked), "default", USER, by).notes == (verify.BY_OTHERS,)
    labelled = gpu_pod({"nvidia.com/gpu": "1"})
    labelled["metadata"]["labels"] = {names.INJECT: names.INJECT_VALUE}
    assert verify.created(labelled, "default", USER, by).verdict is Verdict.UNCHANGED
    wrong = gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/gpucores": "101"})
    assert verify.created(_sealed(wrong), "default", USER, by).verdict is Verdict.REFUSED
    forged = _sealed(asked)
    forged["metadata"]["annotations"]["hami.io/vgpu-node"] = "n1"
    assert verify.created(forged, "default", USER, by).verdict is Verdict.REFUSED


def test_the_checksum_is_of_devices_and_scheduler_alone() -> None:
    """What other webhooks may add is not in it; what a device is, in whichever order, is."""

    def of(*containers: Pod, **spec: Any) -> str:
        return written.checksum(project.pod(pod(*containers, **spec)))

    main = container("main", {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8000"})
    same = of(main)
    assert len(same) == 8
    assert same == "2b967789", "or replicas of two versions differ"
    turned = container("main", {"nvidia.com/gpumem": "8k", "nvidia.com/gpu": 1, "cpu": "2"})
    assert of(container("proxy", {"cpu": "1"}), turned) == same
    assert of(turned, schedulerName="") == same
    assert of(container("main", {**main["resources"]["limits"], "x.io/none": "0"})) == same
    assert of(container("other", main["resources"]["limits"])) != same
    assert of(main, container("side", {"rdma/hca": "1"})) != same
    assert of(main, schedulerName="other") != same
