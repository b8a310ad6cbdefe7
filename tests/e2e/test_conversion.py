"""Translated Pods on the real API server: accepted, field by field as said, none left behind."""

import json
import random
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
import yaml

from berth import layered, names
from berth.admission import configuration, mutate
from berth.admission.rules import Rules
from berth.model.decision import Verdict
from tests import pods
from tests.cluster.controlplane import ControlPlane
from tests.cluster.namespaces import own
from tests.corpus import corpus
from tests.e2e import conftest, dialect_pods, guarded, stored
from tests.e2e.api import Api
from tests.e2e.conftest import Register
from tests.webhook import Webhook

SEED = random.SystemRandom().getrandbits(32)
WRITTEN = ("hami", "volcano", "pool", "plain")
EVERY = ["hami", "volcano", "pool", "plain", "kai"]
AUDIT = {"berth.dev/mode": "audit"}
SERVED = {names.INJECT_LABEL: names.INJECT_LABEL_VALUE}
GPU, MEMORY, CORES = "nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpucores"
PERCENT, PRIORITY = "nvidia.com/gpumem-percentage", "nvidia.com/priority"
NUMBER, VMEMORY, VCORES = (f"volcano.sh/vgpu-{one}" for one in ("number", "memory", "cores"))

Pod = dict[str, Any]


@dataclass(frozen=True)
class Converting:
    """A webhook with a conversion for each written dialect, and a namespace of each."""

    running: Webhook
    file: Path
    rules: Rules
    spaces: dict[str, str]
    bare: str
    """A namespace that nothing reaches."""


def _settings() -> dict[str, Any]:
    conversions = [
        {"name": one, "reads": EVERY, "writes": one, "takeSchedulers": ["volcano"]}
        for one in WRITTEN
    ]
    whole = {"name": "whole", "writes": "volcano", "scheduler": "all"}
    return {
        "conversions": [*conversions, whole],
        "audit": {"namespaceLabel": "berth.dev/mode=audit"},
        "classes": {"limitRange": True},
    }


@pytest.fixture(scope="module")
def converting(
    control_plane: ControlPlane,
    api: Api,
    register: Register,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Converting]:
    """Give the webhook and its namespaces, each known by its label."""
    file = tmp_path_factory.mktemp("converting") / "settings.yaml"
    file.write_text(json.dumps(_settings()))
    rules, _ = configuration.rules(layered.settings(file), None)
    with ExitStack() as stack:
        spaces = {one: stack.enter_context(own(control_plane)) for one in WRITTEN}
        bare = stack.enter_context(own(control_plane))
        for one, space in spaces.items():
            conftest.label(api, space, {names.CONVERSION: one} | SERVED)
        conftest.label(api, bare, {"hami.io/webhook": "ignore"})
        running = stack.enter_context(register("--config", str(file)))
        asked = pods.gpu_pod({NUMBER: "1", VMEMORY: "1"}, schedulerName="default-scheduler")
        del asked["metadata"]["namespace"]
        for space in spaces.values():
            guarded.eventually(partial(_is_served, api, asked, space))
        yield Converting(running, file, rules, spaces, bare)


def _is_served(api: Api, pod: Pod, space: str) -> bool:
    return "annotations" in api.create(pod, space, dry_run=True)[1]["metadata"]


def test_the_api_server_stores_what_was_translated(
    api: Api, converting: Converting, request: pytest.FixtureRequest
) -> None:
    """With us = without us + the patch that we make of what the API server shows us."""
    count = request.config.getoption("--translated")
    sys.stdout.write(f"seed {SEED}, {count} Pods\n")
    dice = random.Random(SEED)
    started, patched = time.monotonic(), 0
    for number in range(count):
        pod = dialect_pods.random_pod(dice, number)
        writes = WRITTEN[number % len(WRITTEN)]
        space, by = converting.spaces[writes], converting.rules.zones[writes]
        status, without_us = api.create(pod, converting.bare, dry_run=True)
        assert status == 201, (SEED, pod, without_us)
        decision = mutate.decide(without_us, space, by)
        status, with_us = api.create(pod, space, dry_run=True)
        if decision.verdict is Verdict.REFUSED:
            assert status in (403, 422), (SEED, writes, pod, with_us)
            continue
        assert status == 201, (SEED, writes, json.dumps([pod, with_us["message"]]))
        expected = jsonpatch.apply_patch(without_us, decision.operations)
        assert _canonical(with_us) == _canonical(expected), (SEED, writes, pod)
        patched += decision.verdict is Verdict.PATCHED
    took = time.monotonic() - started
    sys.stdout.write(f"{patched} translated, {took / count * 1000:.1f} ms for each\n")
    assert patched > count // 6


def _canonical(pod: Pod) -> Pod:
    """Return a Pod without what differs between any two; 1000 is written 1k by the API server."""
    plain = stored.comparable(pod)
    for container in stored.containers(plain):
        for amounts in (container.get("resources") or {}).values():
            if isinstance(amounts, dict):
                for name, amount in amounts.items():
                    thousands = amount.endswith("000") and amount.isdigit()
                    amounts[name] = f"{amount[:-3]}k" if thousands else amount
    return plain


CORPUS = dict(corpus.pods())


def test_each_public_pod_is_translated_field_by_field(api: Api, converting: Converting) -> None:
    """Into Volcano's words, by a reader of the rules who knows nothing of our code."""
    seen = dict.fromkeys(("translated", "refused", "left"), 0)
    for key, pod in CORPUS.items():
        status, without_us = api.create(pod, converting.bare, dry_run=True)
        assert status == 201, (key, without_us)
        status, with_us = api.create(pod, converting.spaces["volcano"], dry_run=True)
        wanted = _by_hand(without_us)
        if wanted is None:
            assert status in (403, 422), (key, with_us)
            seen["refused"] += 1
            continue
        assert status == 201, (key, with_us)
        assert _translated(with_us) == _canonical(wanted), key
        seen["translated" if wanted["spec"] != without_us["spec"] else "left"] += 1
    assert seen["translated"] > 30
    assert seen["left"] > 10
    assert sum(seen.values()) == len(CORPUS)


def _by_hand(without_us: Pod) -> Pod | None:
    """Return what a public Pod must be stored as, None where it must be refused."""
    pod = deepcopy(without_us)
    annotations = pod["metadata"].get("annotations") or {}
    asking = [one for one in stored.containers(pod) if _asks(one)]
    shared = {"gpu-fraction", "gpu-memory"} & annotations.keys()
    ours = pod["spec"]["schedulerName"] in ("default-scheduler", "volcano", "kai-scheduler")
    if ours and shared:
        return _kai(pod, annotations)
    if not ours or not asking:
        return pod
    if any(one in asking for one in pod["spec"].get("initContainers", [])):
        return None
    if any(one["resources"]["limits"].get(PERCENT, "100") != "100" for one in asking):
        return None  # no card is known here
    for container in asking:
        _rename(container["resources"])
        _without_device_env(container)
    for old, new in (
        ("nvidia.com/use-gpuuuid", "volcano.sh/vgpu-use-gpuuuid"),
        ("nvidia.com/nouse-gpuuuid", "volcano.sh/vgpu-nouse-gpuuuid"),
        ("nvidia.com/vgpu-mode", "volcano.sh/vgpu-mode"),
    ):
        if old in annotations:
            annotations[new] = annotations[old]
    pod["spec"]["schedulerName"] = "volcano"
    return pod


def _rename(resources: Pod) -> None:
    """Write HAMi's names as Volcano's; all of a card is its number alone."""
    limits = resources["limits"]
    names_there = ((GPU, NUMBER), (MEMORY, VMEMORY), (CORES, VCORES))
    renamed = {new: limits[old] for old, new in names_there if old in limits}
    if renamed or PERCENT in limits:
        renamed.setdefault(NUMBER, "1")
    if MEMORY not in limits and limits.get(CORES) == "100":
        del renamed[VCORES]
    for amounts in (limits, resources["requests"]):
        for old in (GPU, MEMORY, CORES, PERCENT, PRIORITY):
            amounts.pop(old, None)
        amounts.update(renamed)


def _asks(container: Pod) -> bool:
    limits = container.get("resources", {}).get("limits", {})
    known = (GPU, MEMORY, PERCENT, CORES, NUMBER, VMEMORY, *stored.NEURON, stored.METAX[0])
    return any(limits.get(name, "0") != "0" for name in known)


def _kai(pod: Pod, annotations: Pod) -> Pod | None:
    """Return a Pod of KAI's annotations: percent of no known card is refused."""
    if "gpu-fraction" in annotations:
        return None
    name = annotations.get("gpu-fraction-container-name", pod["spec"]["containers"][0]["name"])
    (user,) = (one for one in stored.containers(pod) if one["name"] == name)
    if user not in pod["spec"]["containers"]:
        return None
    amounts = {NUMBER: "1", VMEMORY: annotations["gpu-memory"]}
    for kind in ("limits", "requests"):
        user["resources"].setdefault(kind, {}).update(amounts)
    _without_device_env(user)
    for key in [one for one in annotations if one.startswith("gpu-")]:
        del annotations[key]
    if not annotations:
        del pod["metadata"]["annotations"]
    pod["spec"]["schedulerName"] = "volcano"
    return pod


def _without_device_env(container: Pod) -> None:
    kept = [one for one in container.get("env", []) if one["name"] != "NVIDIA_VISIBLE_DEVICES"]
    if "env" in container:
        container["env"] = kept


MANIFESTS = yaml.safe_load((Path(__file__).parents[1] / "dialects/manifests.yaml").read_text())


def test_there_are_ten_manifests() -> None:
    """Five of HAMi's users, five of Volcano's."""
    assert [sum(one in each for each in MANIFESTS) for one in ("volcano", "hami")] == [5, 5]


@pytest.mark.parametrize("case", MANIFESTS, ids=[one["title"] for one in MANIFESTS])
def test_manifests_as_people_write_them(case: Any, api: Api, converting: Converting) -> None:
    """Created, and read again as they are stored."""
    writes = "volcano" if "volcano" in case else "hami"
    wanted, pod = case[writes], yaml.safe_load(case["manifest"])
    found = api.stored(pod, converting.spaces[writes])
    assert found["spec"]["schedulerName"] == wanted["scheduler"]
    for container in found["spec"]["containers"]:
        resources, limits = container["resources"], wanted["limits"][container["name"]]
        assert resources["limits"] == limits
        assert resources["requests"] == limits
    record = found["metadata"]["annotations"].pop(names.ORIGINAL_REQUEST)
    before = pod["metadata"].get("annotations", {})
    assert found["metadata"]["annotations"] == before | wanted["annotations"]
    asked = json.loads(record)["containers"]
    for container in pod["spec"]["containers"]:
        devices = {k: str(v) for k, v in container["resources"]["limits"].items() if "/" in k}
        assert asked.get(container["name"], {}) == devices


def test_a_foreign_scheduler_is_told(api: Api, converting: Converting) -> None:
    """The Pod is stored as it came, and kubectl shows why."""
    pod = pods.gpu_pod({GPU: "1"}, schedulerName="my-scheduler")
    pod["metadata"] = {"name": "foreign"}
    _, without_us = api.create(pod, converting.bare, dry_run=True)
    status, with_us = api.create(pod, converting.spaces["volcano"], dry_run=True)
    assert status == 201
    assert any("my-scheduler is not ours" in one for one in api.warnings)
    assert stored.comparable(with_us) == stored.comparable(without_us)


@pytest.mark.usefixtures("converting")
def test_where_all_pods_are_volcanos_those_of_others_hear_so(
    control_plane: ControlPlane, api: Api
) -> None:
    """Also Pods without a device, which are sent to us in such a namespace alone."""
    pod = pods.pod(pods.container("main"))
    pod["metadata"] = {"name": "cpu"}
    with own(control_plane) as space:
        conftest.label(api, space, {names.CONVERSION: "whole"} | SERVED)
        tried = partial(api.create, pod, space, dry_run=True)
        guarded.eventually(lambda: tried()[1]["spec"]["schedulerName"] == "volcano")
        pod["spec"]["schedulerName"] = "my-scheduler"
        assert tried()[1]["spec"]["schedulerName"] == "my-scheduler"
        assert any("my-scheduler is not ours" in one for one in api.warnings)


def test_a_pod_that_opts_out_is_not_sent(api: Api, converting: Converting) -> None:
    """The API server itself honours the label."""
    pod = pods.gpu_pod({GPU: "1"})
    pod["metadata"] = {"name": "out", "labels": {names.INJECT: names.INJECT_VALUE}}
    status, found = api.create(pod, converting.spaces["volcano"], dry_run=True)
    assert status == 201
    assert found["spec"]["containers"][0]["resources"]["limits"] == {GPU: "1"}
    assert api.warnings == []


@contextmanager
def _ranged(
    control_plane: ControlPlane, api: Api, name: str, *limits: Mapping[str, Any]
) -> Iterator[str]:
    """Give a namespace whose Pods are written for Volcano, with one LimitRange."""
    with own(control_plane) as space:
        conftest.label(api, space, {names.CONVERSION: "volcano"} | SERVED)
        ranged = {"metadata": {"name": name}, "spec": {"limits": [*limits]}}
        status, made = api.ask("POST", f"/api/v1/namespaces/{space}/limitranges", ranged)
        assert status == 201, made
        yield space


@pytest.mark.usefixtures("converting")
def test_a_limit_range_gives_again_what_is_translated(
    control_plane: ControlPlane, api: Api
) -> None:
    """LimitRanger runs a second time after us, and refuses who does not name what has a `max`.

    The whole Pod, too, still names what one of type Pod wants named; its author hears what the
    `max` does now.
    """
    most = {"type": "Container", "max": {GPU: "2", MEMORY: "8000"}, "default": {GPU: "1"}}
    whole = {"type": "Pod", "max": {GPU: "4", CORES: "100"}}
    asked = {GPU: "2", MEMORY: "4096", CORES: "30"}
    pod = pods.gpu_pod(asked, schedulerName="default-scheduler")
    pod["spec"]["containers"].append({"name": "asks-for-nothing", "image": "i"})
    pod["metadata"] = {"name": "limited"}
    with _ranged(control_plane, api, "most", most, whole) as space:
        tried = partial(api.create, pod, space, dry_run=True)
        seen = {names.LIMIT_RANGER, names.ORIGINAL_REQUEST}
        told = "the max of nvidia.com/gpucores in LimitRange most limits nothing now"
        guarded.eventually(lambda: tried()[0] == 201 and told in "".join(api.warnings))
        assert seen <= tried()[1]["metadata"]["annotations"].keys()
        found = api.stored(pod, space)
        first, second = (one["resources"]["limits"] for one in found["spec"]["containers"])
        nothing = {GPU: "0", MEMORY: "0"}
        assert first == nothing | {CORES: "0", NUMBER: "2", VMEMORY: "4096", VCORES: "30"}
        assert second == nothing | {NUMBER: "1", VMEMORY: "8k"}
        record = json.loads(found["metadata"]["annotations"][names.ORIGINAL_REQUEST])
        assert record["containers"]["main"] == asked


@pytest.mark.usefixtures("converting")
def test_a_size_that_a_limit_range_gives_in_the_new_words_is_not_recorded(
    control_plane: ControlPlane, api: Api
) -> None:
    """The API server asks us twice: the second time the size stands beside our own words."""
    sized = {"type": "Container", "default": {VMEMORY: "3000"}}
    pod = pods.gpu_pod({GPU: "1"}, schedulerName="default-scheduler")
    pod["metadata"] = {"name": "sized"}
    with _ranged(control_plane, api, "sizes", sized) as space:
        seen = {names.LIMIT_RANGER, names.ORIGINAL_REQUEST}
        tried = partial(api.create, pod, space, dry_run=True)
        guarded.eventually(lambda: seen <= tried()[1]["metadata"].get("annotations", {}).keys())
        found = api.stored(pod, space)
        (container,) = found["spec"]["containers"]
        assert container["resources"]["limits"] == {NUMBER: "1", VMEMORY: "3k"}
        record = json.loads(found["metadata"]["annotations"][names.ORIGINAL_REQUEST])
        assert record["containers"] == {"main": {GPU: "1"}}


@pytest.mark.usefixtures("converting")
def test_a_min_for_an_old_name_is_told_beside_the_api_servers_refusal(
    control_plane: ControlPlane, api: Api
) -> None:
    """It cannot be met once the name is another; its author is blamed for nothing."""
    least = {"type": "Container", "min": {GPU: "1"}}
    pod = pods.gpu_pod({GPU: "1"}, schedulerName="default-scheduler")
    pod["metadata"] = {"name": "least"}
    with _ranged(control_plane, api, "some", least) as space:
        tried = partial(api.create, pod, space, dry_run=True)
        told = "spec.containers[0]: LimitRange some wants nvidia.com/gpu, and refuses this Pod"
        guarded.eventually(lambda: tried()[0] == 403 and told in "".join(api.warnings))
        said = tried()[1]["message"]
        assert "minimum nvidia.com/gpu usage per Container is 1, but request is 0" in said


TRIED = [yaml.safe_load(one["manifest"]) for one in MANIFESTS if "volcano" in one]


def test_from_audit_to_enforce(
    control_plane: ControlPlane, api: Api, converting: Converting
) -> None:
    """On trial, each Pod is stored as it came and its author told; then it is translated."""
    with own(control_plane) as space:
        conftest.label(api, space, {names.CONVERSION: "volcano"} | AUDIT)
        first = partial(api.create, TRIED[0], space, dry_run=True)
        guarded.eventually(lambda: first()[0] == 201 and bool(api.warnings))
        before = {pod["metadata"]["name"]: _without_us(api, pod, converting) for pod in TRIED}
        for pod in TRIED:
            status, found = api.create(pod, space, dry_run=True)
            assert status == 201, found
            assert stored.comparable(found) == stored.comparable(before[found["metadata"]["name"]])
            told = "audit: this Pod would be changed, and is stored as it came"
            assert told in api.warnings[0]
        conftest.label(api, space, {"berth.dev/mode": "enforce"})
        # For a moment the API server may see a namespace as before at one of our webhooks only.
        guarded.eventually(lambda: NUMBER in json.dumps(first()[1].get("spec", {})))
        for pod in TRIED:
            status, found = api.create(pod, space, dry_run=True)
            assert status == 201, found
            wanted = _by_hand(before[found["metadata"]["name"]])
            assert wanted is not None
            assert _translated(found) == _canonical(wanted)


def _without_us(api: Api, pod: Pod, converting: Converting) -> Pod:
    status, found = api.create(pod, converting.bare, dry_run=True)
    assert status == 201, found
    return found


def _translated(found: Pod) -> Pod:
    """Return a Pod as it was stored, without the record of what was asked for."""
    plain = _canonical(found)
    annotations = plain["metadata"].get("annotations", {})
    annotations.pop(names.ORIGINAL_REQUEST, None)
    if not annotations:
        plain["metadata"].pop("annotations", None)
    return plain
