"""Into Volcano's words: each rule that a converter has to keep (A.9, by number), and trap A.6."""

import copy
import re
from pathlib import Path
from typing import Any

import jsonpatch
import pytest

from berth import names
from berth.admission import conversion, templates, verify, workloads
from berth.model.decision import Verdict
from berth.model.loss import Loss
from berth.model.reason import Reason
from berth.settings import Models
from tests.dialects.converting import (
    A100,
    CORES,
    GPU,
    H100,
    MEMORY,
    NUMBER,
    PERCENT,
    POOL,
    POOL_COUNT,
    PRIORITY,
    T4,
    VCORES,
    VMEMORY,
    VPERCENT,
    annotations,
    asking,
    decide,
    limits,
    patched,
    said,
)
from tests.dialects.converting import converting as cluster
from tests.pods import container, pod

VOLCANO = cluster("volcano")
SHARE = {GPU: "2", MEMORY: "3000", CORES: "30"}


def refusal(asked: Any, by: Any = VOLCANO) -> tuple[Reason, str]:
    """Return why a Pod is refused, for one reason."""
    decision = decide(asked, by)
    assert decision.verdict is Verdict.REFUSED
    (problem,) = decision.problems
    return problem.reason, str(problem)


def test_a6_percent_is_a_size_where_all_cards_are_alike() -> None:
    """No node has vgpu-memory-percentage from 1.13 on: a Pod with it waits for ever."""
    one_size = cluster("volcano", T4)
    for asked in ({GPU: "1", PERCENT: "40"}, {NUMBER: "1", VPERCENT: "40"}):
        assert limits(patched(asking(asked), one_size)) == {NUMBER: "1", VMEMORY: "6144"}


def test_a6_percent_of_cards_that_differ_is_refused_with_their_sizes() -> None:
    """Which would be meant, nobody can know before the card is chosen."""
    several = cluster("volcano", T4, A100, H100)
    for asked in ({GPU: "1", PERCENT: "40"}, {NUMBER: "1", VPERCENT: "40"}):
        reason, words = refusal(asking(asked), several)
        assert reason is Reason.UNKNOWN_SIZE
        assert "15360, 40960, 81559 MiB" in words
        assert names.GPU_MODEL in words


def test_a6_with_a_model_the_size_is_known() -> None:
    """By our annotation or the vendor's own; the model stays a wish, in Volcano's words."""
    several = cluster("volcano", T4, A100, H100)
    for key in (names.GPU_MODEL, "nvidia.com/use-gputype"):
        decision = patched(asking({GPU: "1", PERCENT: "50"}, {key: "H100"}), several)
        assert limits(decision) == {NUMBER: "1", VMEMORY: "40779"}
        assert annotations(decision)["nvidia.com/use-gputype"] == "H100"


def test_the_vendors_own_choice_of_models_wins() -> None:
    """Of two that differ ours has no effect, and its author is told."""
    both = {names.GPU_MODEL: "T4", "nvidia.com/use-gputype": "A100"}
    decision = patched(asking({GPU: "1"}, both), VOLCANO)
    assert annotations(decision)["nvidia.com/use-gputype"] == "A100"
    assert any(names.GPU_MODEL in one and "no effect" in one for one in said(decision))


def test_an_annotation_that_is_almost_ours_is_told() -> None:
    """As the whole card is a costly way to learn of a slip of the pen."""
    decision = patched(asking({GPU: "1"}, {"berth.dev/gpu-memroy": "16Gi"}), VOLCANO)
    assert any("did you mean berth.dev/gpu-memory" in one for one in said(decision))


def test_a6_before_1_13_percent_is_written() -> None:
    """Those versions leave it out of their account, and know it."""
    old = cluster("volcano", stacks={"volcano": {"minor": 12}})
    assert limits(patched(asking({GPU: "1", PERCENT: "40"}), old)) == {NUMBER: "1", VPERCENT: "40"}


def test_a9_1_limits_and_requests_at_once() -> None:
    """Both have the targets, equal, and neither has the sources."""
    decision = patched(asking(SHARE | {"cpu": "2"}), VOLCANO)
    wanted = {NUMBER: "2", VMEMORY: "3000", VCORES: "30", "cpu": "2"}
    assert limits(decision) == wanted
    pod: Any = decision.pod
    assert pod["spec"]["containers"][0]["resources"]["requests"] == wanted
    assert pod["spec"]["schedulerName"] == "volcano"


def test_a9_2_amounts_are_of_each_card() -> None:
    """They are copied, never multiplied by the number."""
    assert limits(patched(asking({GPU: "8", MEMORY: "1000", CORES: "10"}), VOLCANO)) == {
        NUMBER: "8",
        VMEMORY: "1000",
        VCORES: "10",
    }


@pytest.mark.parametrize("asked", [{MEMORY: "3000"}, {CORES: "30"}, {VMEMORY: "3000"}], ids=str)
def test_a9_3_the_number_is_always_there(asked: dict[str, str]) -> None:
    """Without it, a container sees every card of its node, or none."""
    assert limits(patched(asking(asked), VOLCANO))[NUMBER] == "1"


def test_a9_4_all_of_the_memory_is_said_by_leaving_it_out() -> None:
    """A hundred percent, and nothing at all: no memory stands there, and no percent."""
    for asked in ({GPU: "1"}, {GPU: "1", PERCENT: "100"}, {NUMBER: "1", VPERCENT: "100"}):
        assert limits(patched(asking(asked), VOLCANO)) == {NUMBER: "1"}
    with_cores = limits(patched(asking({GPU: "1", PERCENT: "100", CORES: "30"}), VOLCANO))
    assert with_cores == {NUMBER: "1", VCORES: "30"}


def test_a9_5_blocks_are_rounded_up_with_a_word() -> None:
    """With gpuMemoryFactor 1024, 3000 MiB are three blocks."""
    blocks = cluster("volcano", stacks={"volcano": {"blockMib": 1024}})
    decision = patched(asking({GPU: "1", MEMORY: "3000"}), blocks)
    assert limits(decision) == {NUMBER: "1", VMEMORY: "3"}
    assert any("(rounding)" in one and "3072" in one for one in said(decision))


def test_a9_6_cores() -> None:
    """0 and nothing are no limit and stay absent; 100 stays; what is beyond is refused."""
    for cores in ({}, {CORES: "0"}):
        asked = {GPU: "1", MEMORY: "3000"} | cores
        assert VCORES not in limits(patched(asking(asked), VOLCANO))
    alone = {GPU: "1", MEMORY: "3000", CORES: "100"}
    assert limits(patched(asking(alone), VOLCANO))[VCORES] == "100"
    for wrong in ("101", "-1"):
        assert decide(asking({GPU: "1", CORES: wrong}), VOLCANO).verdict is Verdict.REFUSED


def test_a9_7_more_cards_than_a_node_has_are_told_or_refused() -> None:
    """Where the cluster is known; else the number passes, as nobody can say."""
    warned = patched(asking({GPU: "16"}), cluster("volcano", A100, T4))
    assert any("the largest node here has 8" in one for one in said(warned))
    reason, words = refusal(asking({GPU: "16"}), cluster("volcano", A100, T4, never="refuse"))
    assert reason is Reason.NO_SUCH_CARD
    assert "the largest node here has 8" in words
    assert limits(patched(asking({GPU: "16"}), VOLCANO)) == {NUMBER: "16"}


def test_a9_8_init_containers_are_refused_unless_the_settings_say_otherwise() -> None:
    """Volcano gives them nothing, while the node's account would hold it."""
    asked = pod(container(), initContainers=[container("fetch", {GPU: "1", MEMORY: "100"})])
    reason, words = refusal(asked)
    assert reason is Reason.LOSS
    assert "spec.initContainers[0]" in words
    for handling, told in (("warn", 1), ("drop", 0)):
        by = cluster("volcano", losses={"init-container": handling})
        decision = patched(asked, by)
        assert limits(decision, 0, "initContainers") == {NUMBER: "1", VMEMORY: "100"}
        assert sum("(init-container)" in one for one in said(decision)) == told


def test_a9_9_annotations() -> None:
    """UUIDs and mode are renamed, models stay; what HAMi alone compares by is a loss."""
    asked = {
        "nvidia.com/use-gpuuuid": "GPU-1",
        "nvidia.com/nouse-gpuuuid": "GPU-2",
        "nvidia.com/vgpu-mode": "mig",
        "nvidia.com/use-gputype": "A100",
        "nvidia.com/nouse-gputype": "T4",
        "hami.io/node-scheduler-policy": "spread",
        "hami.io/gpu-scheduler-policy": "binpack",
    }
    decision = patched(asking({GPU: "1", MEMORY: "1000", PRIORITY: "1"}, asked), VOLCANO)
    found = annotations(decision)
    assert asked.items() <= found.items()
    assert found["volcano.sh/vgpu-use-gpuuuid"] == "GPU-1"
    assert found["volcano.sh/vgpu-nouse-gpuuuid"] == "GPU-2"
    assert found["volcano.sh/vgpu-mode"] == "mig"
    told = " ".join(said(decision))
    for lost in ("(policy)", "(priority)", "(devices)", "node-scheduler-policy"):
        assert lost in told
    newer = patched(
        asking({GPU: "1"}, asked), cluster("volcano", stacks={"volcano": {"minor": 16}})
    )
    assert "(devices)" not in " ".join(said(newer))


@pytest.mark.parametrize("scheduler", ["", "default-scheduler", "volcano"])
def test_a9_10_the_scheduler_is_set_where_nobody_else_is_meant(scheduler: str) -> None:
    """The default one is nobody's choice: the API server writes it."""
    pod: Any = patched(asking({GPU: "1"}, schedulerName=scheduler), VOLCANO).pod
    assert pod["spec"]["schedulerName"] == "volcano"


@pytest.mark.parametrize("scheduler", ["hami-scheduler", "my-scheduler"])
def test_a9_10_another_scheduler_is_a_conflict(scheduler: str) -> None:
    """The Pod is left alone, and its author is told; not so without a device."""
    decision = decide(asking({GPU: "1"}, schedulerName=scheduler), VOLCANO)
    assert decision.verdict is Verdict.IGNORED
    assert scheduler in said(decision)[0]
    assert decide(asking({"cpu": "1"}, schedulerName=scheduler), VOLCANO).warnings == ()
    taking = cluster("volcano", takeSchedulers=[scheduler])
    assert limits(patched(asking({GPU: "1"}, schedulerName=scheduler), taking)) == {NUMBER: "1"}


@pytest.mark.parametrize("name", ["nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"])
def test_a9_11_partitions_and_replicas_are_left_alone(name: str) -> None:
    """They have no equal, and stay with who announces them."""
    decision = decide(asking({name: "1"}), VOLCANO)
    assert decision.verdict is Verdict.UNCHANGED
    beside = patched(pod(container("a", {name: "1"}), container("b", {GPU: "1"})), VOLCANO)
    assert limits(beside, 0) == {name: "1"}
    assert limits(beside, 1) == {NUMBER: "1"}


def test_a9_12_the_patch_is_sound() -> None:
    """Escaped, parents first, targets before sources go, and no container moves."""
    asked = asking(SHARE)
    del asked["spec"]["containers"][0]["resources"]["requests"]
    decision = patched(asked, VOLCANO)
    operations: Any = decision.operations
    assert jsonpatch.apply_patch(asked, operations) == decision.pod
    kinds = [one["op"] for one in operations]
    assert kinds.index("remove") > max(i for i, kind in enumerate(kinds) if kind == "add")
    paths = [one["path"] for one in operations if "volcano" in one["path"]]
    assert all("volcano.sh~1vgpu-" in path for path in paths)
    assert not [path for path in paths if re.fullmatch(r"/spec/containers/\d+", path)]


def test_a9_13_ephemeral_containers_are_not_looked_at() -> None:
    """They hold no resources."""
    asked = asking({GPU: "1"}, ephemeralContainers=[{"name": "debug", "image": "i"}])
    found: Any = patched(asked, VOLCANO).pod
    assert found["spec"]["ephemeralContainers"] == asked["spec"]["ephemeralContainers"]


def test_a9_14_a_second_pass_finds_nothing() -> None:
    """Also after others have changed the Pod, a sidecar put first say (`decide` asks twice)."""
    first: Any = patched(asking(SHARE), VOLCANO).pod
    first["spec"]["containers"].insert(0, container("proxy"))
    assert decide(first, VOLCANO).verdict is Verdict.UNCHANGED


def test_a9_15_templates_are_translated_as_pods_are() -> None:
    """The same decision for each task of a Volcano Job; of a Pod's PodGroup, a warning is due."""
    job: Any = {
        "kind": "Job",
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "spec": {"tasks": [{"name": "w", "template": {"spec": asking(SHARE)["spec"]}}]},
    }
    (template,) = templates.find(job)
    assert limits(patched(template.pod, VOLCANO))[NUMBER] == "2"
    grouped = patched(asking(SHARE, {names.VOLCANO_GROUPS[0]: "ring"}), VOLCANO)
    assert any("PodGroup" in one for one in said(grouped))


def test_a9_17_hami_leaves_what_is_written_alone() -> None:
    """Its webhook, and so ours without a conversion, keeps off Pods of Volcano's scheduler."""
    converted: Any = patched(asking(SHARE), VOLCANO).pod
    outside = cluster("hami", reads=[], takeSchedulers=[])
    assert decide(converted, outside).verdict is Verdict.IGNORED


# What is filled in.
SOURCES: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]] = {
    "the resource before the annotation": (
        {GPU: "1", MEMORY: "2000"},
        {names.GPU_MEMORY: "16Gi"},
        {NUMBER: "1", VMEMORY: "2000"},
    ),
    "the annotation before the model": (
        {GPU: "1"},
        {names.GPU_MEMORY: "16Gi", names.MODEL: "7b"},
        {NUMBER: "1", VMEMORY: "16384"},
    ),
    "a part of the card": (
        {GPU: "1"},
        {names.GPU_MEMORY: "40%"},
        {NUMBER: "1", VMEMORY: "16384"},
    ),
    "a part of the card, in Volcano's own words": (
        {NUMBER: "1"},
        {names.GPU_MEMORY: "40%"},
        {NUMBER: "1", VMEMORY: "16384"},
    ),
    "all of it, in Volcano's own words": ({NUMBER: "1"}, {names.GPU_MEMORY: "100%"}, {NUMBER: "1"}),
    "by container": (
        {GPU: "1"},
        {names.GPU_MEMORY: "main=8Gi"},
        {NUMBER: "1", VMEMORY: "8192"},
    ),
    "by container, in percent too": (
        {GPU: "1"},
        {names.GPU_MEMORY: "main=50%"},
        {NUMBER: "1", VMEMORY: "20480"},
    ),
    "the model before the default": (
        {GPU: "1"},
        {names.MODEL: "1.5b"},
        # 1.5e9 parameters of 2 bytes, a fifth more, and 1024 MiB.
        {NUMBER: "1", VMEMORY: "4458"},
    ),
    "the default of the namespace": ({GPU: "1"}, {}, {NUMBER: "1", VMEMORY: "4096"}),
    "a number of cores is no size": (
        {GPU: "1", CORES: "30"},
        {},
        {NUMBER: "1", VMEMORY: "4096", VCORES: "30"},
    ),
    "all of it, where that is said": ({GPU: "1", PERCENT: "100"}, {}, {NUMBER: "1"}),
}


@pytest.mark.parametrize(("asked", "said", "found"), SOURCES.values(), ids=SOURCES)
def test_where_memory_comes_from(
    asked: dict[str, str], said: dict[str, str], found: dict[str, str]
) -> None:
    """The first source that says something counts."""
    by = cluster("volcano", A100, memory="4Gi")
    assert limits(patched(asking(asked, said), by)) == found


@pytest.mark.parametrize("writes", ["hami", "volcano", "pool", "plain"])
@pytest.mark.parametrize("default", [0, 512])
def test_all_of_the_memory_is_the_whole_card(writes: str, default: int, tmp_path: Path) -> None:
    """By an annotation, by the namespace, by resources: one meaning, and nothing of it is lost."""
    file = tmp_path / "device-config.yaml"
    file.write_text(f"nvidia: {{defaultMemory: {default}}}")
    by = cluster(writes, A100, device_config=file)
    wanted = limits(decide(asking({GPU: "1", PERCENT: "100"}), by))
    wanted.pop(PERCENT, None)
    of_all = cluster(writes, A100, device_config=file, memory="100%")
    for decision in (
        decide(asking({GPU: "1"}, {names.GPU_MEMORY: "100%"}), by),
        decide(asking({GPU: "1"}), of_all),
        decide(asking({}, {"gpu-fraction": "0.999"}, schedulerName="kai-scheduler"), by),
    ):
        found = limits(decision)
        found.pop(PERCENT, None)
        assert found == wanted
        assert not any("lost" in one for one in said(decision))


def test_what_hami_means_by_default_is_said_in_other_words(tmp_path: Path) -> None:
    """No other stack knows defaultMemory and defaultCores of device-config.yaml."""
    file = tmp_path / "device-config.yaml"
    file.write_text("nvidia: {defaultMemory: 512, defaultCores: 10}")
    by = cluster("volcano", device_config=file)
    assert limits(patched(asking({GPU: "1"}), by)) == {NUMBER: "1", VMEMORY: "512", VCORES: "10"}
    asked: dict[str, str] = {GPU: "1", MEMORY: "3000"}
    assert limits(patched(asking(asked), by)) == {NUMBER: "1", VMEMORY: "3000", VCORES: "10"}
    free = limits(patched(asking(asked | {CORES: "0"}), by))
    assert free == {NUMBER: "1", VMEMORY: "3000"}
    assert limits(patched(asking({NUMBER: "1"}), by)) == {NUMBER: "1"}
    larger = cluster("volcano", device_config=file, memory="1Gi")
    assert limits(patched(asking({GPU: "1"}), larger))[VMEMORY] == "1024"


@pytest.mark.parametrize(
    "text",
    [
        "16",
        "16G",
        "0%",
        "101%",
        "abc",
        "-1",
        "1e999",
        "",
        "\uff11Gi",
        "a=",
        "=1Gi",
        "1Gi,2Gi",
        "x" * 200000,
        "other=16Gi",
    ],
)
def test_a_size_that_is_none_is_refused(text: str) -> None:
    """Never taken for the whole card; the message names the annotation."""
    reason, words = refusal(asking({GPU: "1"}, {names.GPU_MEMORY: text}))
    assert reason is Reason.ANNOTATION
    assert names.GPU_MEMORY in words
    assert len(words) < 300


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (names.MODEL, "large"),
        (names.MODEL, "0b"),
        (names.MODEL_USE, "play"),
        (names.MODEL_PRECISION, "int3"),
    ],
)
def test_a_model_that_is_none_is_refused(key: str, text: str) -> None:
    """By the annotation that is wrong."""
    reason, words = refusal(asking({GPU: "1"}, {names.MODEL: "7b", key: text}))
    assert (reason, key in words) == (Reason.ANNOTATION, True)


def test_models_take_what_is_known_of_them() -> None:
    """The formula against published figures: weights of 7b in 16 bit are 13 GiB, training 112."""
    presets = conversion.presets(Models(), "models")
    gib = {use: presets.mib("7b", use, "bf16", 1) / 1024 for use in presets.factors}
    assert 14 < gib["inference"] < 18
    assert 20 < gib["fine-tune"] < 28
    assert 112 < gib["train"] < 140, "training a 7b model is not 16 GiB"
    assert presets.mib("7b", "inference", "int4", 1) < presets.mib("7b", "inference", "fp8", 1)
    assert presets.mib("70b", "inference", "bf16", 4) < 81559 // 2 + 1024
    listed = conversion.presets(Models(table={"7b/inference/bf16": "20Gi"}), "models")
    assert listed.mib("7b", "inference", "bf16", 1) == 20480


def test_percent_that_was_resolved_outlives_its_cards() -> None:
    """The cards change: what was written stands, and the record keeps what was asked for."""
    before, now = cluster("volcano", T4), cluster("volcano", A100, memory="4Gi")
    several = cluster("volcano", A100, H100, memory="4Gi")
    for asked in ({GPU: "1", PERCENT: "40"}, {NUMBER: "1", VPERCENT: "40"}, {VPERCENT: "40"}):
        written = patched(asking(asked), before)
        for later in (now, several, cluster("volcano", memory="4Gi"), before):
            assert decide(written.pod, later).verdict is Verdict.UNCHANGED
    fraction = asking({}, {"gpu-fraction": "0.5"}, schedulerName="kai-scheduler")
    assert decide(patched(fraction, before).pod, now).verdict is Verdict.UNCHANGED


def test_a_default_that_another_webhook_drops_is_no_part_of_the_request() -> None:
    """The last look finds the Pod as it was written, by this replica."""
    by = cluster("volcano", defaults={"cpuRequest": "4", "memoryRequest": "16Gi"})
    stored: Any = copy.deepcopy(patched(asking({GPU: "1"}), by).pod)
    for name in ("cpu", "memory"):
        del stored["spec"]["containers"][0]["resources"]["requests"][name]
    last = verify.created(stored, "default", "", by)
    assert (last.verdict, last.notes) == (Verdict.UNCHANGED, ())


DEFAULTS = {"cpuRequest": "4", "cpuLimit": "8", "memoryRequest": "16Gi", "memoryLimit": "32Gi"}
FILLED: dict[str, tuple[dict[str, str], dict[str, str], tuple[str | None, str]]] = {
    # requests, limits, what cpu is then (request, limit)
    "nothing is named": ({}, {}, ("4", "8")),
    "a request above the default limit": ({"cpu": "12"}, {}, ("12", "12")),
    "a request below it": ({"cpu": "500m"}, {}, ("500m", "8")),
    "a limit below the default request, which is a request too": ({}, {"cpu": "2"}, (None, "2")),
    "a limit above it": ({}, {"cpu": "32"}, (None, "32")),
    "a limit of nothing": ({}, {"cpu": "0"}, (None, "0")),
    "a request of nothing": ({"cpu": "0"}, {}, ("0", "8")),
    "both": ({"cpu": "1"}, {"cpu": "2"}, ("1", "2")),
}


@pytest.mark.parametrize(("requests", "most", "found"), FILLED.values(), ids=FILLED)
def test_cpu_and_memory_beside_a_device(
    requests: dict[str, str], most: dict[str, str], found: tuple[str | None, str]
) -> None:
    """Only what lacks, and never below a request of the user's or above a limit."""
    by = cluster("volcano", defaults=DEFAULTS)
    asked = pod(container(), container("other"))
    asked["spec"]["containers"][0]["resources"] = {
        "limits": {GPU: "1"} | most,
        "requests": {GPU: "1"} | requests,
    }
    result: Any = patched(asked, by).pod
    resources = result["spec"]["containers"][0]["resources"]
    assert (resources["requests"].get("cpu"), resources["limits"]["cpu"]) == found
    assert resources["limits"]["memory"] == "32Gi"
    assert result["spec"]["containers"][1]["resources"] == {}


def test_what_the_pod_names_as_a_whole_is_its_own_to_divide() -> None:
    """Vector R17: nothing that we add goes beyond a limit of the Pod."""
    by = cluster("volcano", defaults=DEFAULTS)
    asked = asking({GPU: "1"}, resources={"limits": {"cpu": "2", "memory": "1Gi"}})
    assert limits(patched(asked, by)) == {NUMBER: "1"}


def test_queues() -> None:
    """The namespace's where the Pod names none; a PodGroup has its own."""
    by = cluster("volcano", queue="shared")
    assert annotations(patched(asking({GPU: "1"}), by))[names.VOLCANO_QUEUE] == "shared"
    mine = patched(asking({GPU: "1"}, {names.VOLCANO_QUEUE: "mine"}), by)
    assert annotations(mine)[names.VOLCANO_QUEUE] == "mine"
    group = {names.VOLCANO_GROUPS[0]: "ring"}
    grouped = annotations(patched(asking({GPU: "1"}, group), by))
    assert names.VOLCANO_QUEUE not in grouped
    assert group.items() <= grouped.items()
    every = cluster("volcano", queue="shared", scheduler="all")
    assert annotations(patched(asking({"cpu": "1"}), every))[names.VOLCANO_QUEUE] == "shared"
    waiting = patched(asking({"cpu": "1"}, group), every)
    assert names.VOLCANO_QUEUE not in annotations(waiting)
    assert names.VOLCANO_QUEUE not in annotations(
        patched(asking({"cpu": "1"}), cluster("hami", queue="shared", scheduler="all"))
    )


@pytest.mark.parametrize(
    ("writes", "scheduler"),
    [("volcano", "volcano"), ("hami", "hami-scheduler"), ("pool", "theirs"), ("plain", "theirs")],
)
def test_all_pods_get_the_scheduler_where_that_is_wanted(writes: str, scheduler: str) -> None:
    """`scheduler: all` is for namespaces in which the stack's scheduler places everything."""
    stacks = {one: {"scheduler": "theirs"} for one in ("pool", "plain")}
    result: Any = decide(asking({"cpu": "1"}), cluster(writes, stacks=stacks, scheduler="all")).pod
    assert result["spec"]["schedulerName"] == scheduler
    assert decide(asking({"cpu": "1"}), cluster(writes, stacks=stacks)).verdict is (
        Verdict.UNCHANGED
    )


@pytest.mark.parametrize(
    ("version", "kind", "told"),
    [
        ("apps/v1", "Deployment", True),
        ("batch/v1", "Job", True),
        ("batch.volcano.sh/v1alpha1", "Job", False),
        ("kubeflow.org/v1", "PyTorchJob", False),
    ],
)
def test_a_queue_on_the_workload_is_nobodys(version: str, kind: str, *, told: bool) -> None:
    """Volcano takes it from the Pod (volcano#2813); other operators may read their own kinds."""
    workload: Any = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "a", "annotations": {names.VOLCANO_QUEUE: "gold"}},
        "spec": {"template": asking({GPU: "1"})},
    }
    for by, heard in ((VOLCANO, told), (cluster("hami"), False)):
        warnings = said(workloads.decide(workload, "default", by))
        mine = [one for one in warnings if f"[{names.VOLCANO_QUEUE}] has no effect on" in one]
        assert bool(mine) == heard
        assert all("move it to its Pod template" in one for one in mine)


def test_of_all_pods_another_schedulers_are_left_alone_with_a_warning() -> None:
    """Also those without a device; one that is taken from its scheduler hears what it loses."""
    every = cluster("volcano", scheduler="all", takeSchedulers=["kai-scheduler"])
    decision = decide(asking({"cpu": "1"}, schedulerName="theirs"), every)
    assert decision.verdict is Verdict.IGNORED
    assert said(decision) == [
        "spec.schedulerName: scheduler theirs is not ours; what the Pod asks for is left as it is"
    ]
    assert said(decide(asking({"cpu": "1"}, schedulerName="theirs"), cluster("volcano"))) == []
    taken = asking({"cpu": "1"}, schedulerName="kai-scheduler")
    taken["metadata"]["labels"] = {names.KAI_QUEUE: "team"}
    assert any("lost (group)" in one for one in said(patched(taken, every)))


def test_oversubscription_is_capped_and_recorded() -> None:
    """Asked memory and cores are divided once; a card that is a container's alone stays so."""
    twice = {"memory": 4, "cores": 1.5, "most": 2}
    by = cluster("volcano", oversubscription=twice)
    decision = patched(asking({GPU: "1", MEMORY: "3001", CORES: "30"}), by)
    assert limits(decision) == {NUMBER: "1", VMEMORY: "1501", VCORES: "20"}
    assert annotations(decision)[names.OVERSUBSCRIPTION] == "memory=2,cores=1.5"
    whole = patched(asking({GPU: "1"}), by)
    assert limits(whole) == {NUMBER: "1"}
    native = patched(asking({NUMBER: "1", VMEMORY: "3000"}), by)
    assert limits(native) == {NUMBER: "1", VMEMORY: "1500"}
    assert annotations(native)[names.OVERSUBSCRIPTION] == "memory=2"
    other = patched(asking({"amd.com/gpu": "1"}), by)
    for undivided in (whole, other, patched(asking(SHARE), VOLCANO)):
        assert names.OVERSUBSCRIPTION not in annotations(undivided)


def test_a_forged_factor_divides_nothing_away() -> None:
    """Who writes the annotation himself is divided all the same, and once."""
    by = cluster("volcano", oversubscription={"memory": 2})
    forged = {names.OVERSUBSCRIPTION: "memory=2"}
    decision = patched(asking({GPU: "1", MEMORY: "3000"}, forged), by)
    assert limits(decision)[VMEMORY] == "1500"


def test_what_comes_after_the_first_pass_is_divided_too() -> None:
    """A container that another webhook puts in has not been asked yet; the others have."""
    by = cluster("volcano", oversubscription={"memory": 2})
    first: Any = patched(asking({GPU: "1", MEMORY: "3000"}), by).pod
    first["spec"]["containers"].append(container("late", {GPU: "1", MEMORY: "1000"}))
    decision = patched(first, by)
    assert limits(decision, 0)[VMEMORY] == "1500"
    assert limits(decision, 1)[VMEMORY] == "500"


def test_a_resource_that_goes_is_told_and_kept_in_the_annotation() -> None:
    """A user's own tooling may look for nvidia.com/gpu."""
    decision = patched(asking(SHARE), VOLCANO)
    assert any(GPU in one and NUMBER in one for one in said(decision))
    assert '"nvidia.com/gpu":"2"' in annotations(decision)[names.ORIGINAL_REQUEST]


@pytest.mark.parametrize(
    ("asked", "writes", "found"),
    [
        ({MEMORY: "3000"}, "volcano", (MEMORY, VMEMORY)),
        ({CORES: "30"}, "volcano", (CORES, VCORES)),
        ({PERCENT: "100"}, "volcano", (PERCENT, NUMBER)),
        ({POOL: "16Gi"}, "hami", (POOL, MEMORY)),
        ({POOL: "16Gi", POOL_COUNT: "2"}, "hami", (POOL_COUNT, GPU)),
        ({GPU: "1", MEMORY: "1024"}, "pool", (GPU, POOL)),
    ],
    ids=str,
)
def test_whichever_name_goes_is_told(
    asked: dict[str, str], writes: str, found: tuple[str, str]
) -> None:
    """Where no number was named, what was; and what says the same now, not what might have."""
    old, new = found
    decision = patched(asking(asked), cluster(writes))
    assert new in limits(decision)
    assert any(f"{old} is written as {new};" in one for one in said(decision))


@pytest.mark.parametrize(
    ("asked", "writes", "gone"),
    [
        ({GPU: "1", PERCENT: "100"}, "plain", PERCENT),
        ({GPU: "1", CORES: "100"}, "plain", CORES),
        ({NUMBER: "1", VPERCENT: "100"}, "volcano", VPERCENT),
        ({NUMBER: "1", VPERCENT: "50"}, "volcano", VPERCENT),
    ],
    ids=str,
)
def test_a_name_that_goes_without_saying_is_told_too(
    asked: dict[str, str], writes: str, gone: str
) -> None:
    """Tools may look for it; what is lost is told as a loss instead, and once."""
    decision = patched(asking(asked), cluster(writes, A100))
    assert gone not in limits(decision)
    assert f"spec.containers[0]: {gone} is taken out; berth.dev/original-request has it" in said(
        decision
    )
    lost = patched(asking({GPU: "1", MEMORY: "1000"}), cluster("plain", loss="drop"))
    assert said(lost) == []


def test_a_forged_record_buys_nothing() -> None:
    """Who claims that the container was translated before gets what he would have got."""
    by = cluster("volcano", memory="4Gi")
    percent = (
        '{"v":1,"containers":{"main":{"nvidia.com/gpu":"1","nvidia.com/gpumem-percentage":"9"}}}'
    )
    for forged in ('{"v":1,"containers":{"main":{"nvidia.com/gpu":"8"}}}', percent, "{}", "x"):
        asked = asking({NUMBER: "1"}, {names.ORIGINAL_REQUEST: forged})
        assert limits(patched(asked, by)) == {NUMBER: "1", VMEMORY: "4096"}


@pytest.mark.parametrize("writes", ["volcano", "plain"])
@pytest.mark.parametrize("first", [{POOL: "1Gi"}, {NUMBER: "1"}, {"cambricon.com/vmlu": "1"}])
def test_a_choice_of_cards_is_kept_whichever_container_stands_first(
    writes: str, first: dict[str, str]
) -> None:
    """Annotations are the Pod's: they are read in the dialect of each container, and told once."""
    by = cluster(writes, stacks={"volcano": {"minor": 16}})
    chosen = {"nvidia.com/use-gpuuuid": "GPU-1", "nvidia.com/use-gputype": "A100"}
    two = pod(container("a", first), container("b", {GPU: "1"}), metadata={"annotations": chosen})
    decision = decide(two, by)
    if writes == "volcano":
        assert annotations(decision)["volcano.sh/vgpu-use-gpuuuid"] == "GPU-1"
    else:
        told = [one for one in said(decision) if "(devices)" in one or "(models)" in one]
        assert len(told) == 2


@pytest.mark.parametrize("writes", ["volcano", "pool", "plain"])
def test_a_share_beside_a_whole_card_is_not_lost_where_hami_is_not_read(writes: str) -> None:
    """nvidia.com/gpumem beside nvidia.com/gpu is another dialect's, and no whole card is meant."""
    by = cluster(writes, reads=["plain"])
    reason, words = refusal(asking({GPU: "1", MEMORY: "3000"}), by)
    assert reason is Reason.SEVERAL_DIALECTS
    assert " plain and hami " in words
    assert MEMORY in words
    assert decide(asking({GPU: "1"}), by).verdict is not Verdict.REFUSED
    assert decide(asking({GPU: "1", MEMORY: "0"}), by).verdict is not Verdict.REFUSED


def test_memory_of_a_container_without_a_device_is_told() -> None:
    """The one that has the device gets the whole card, which its author may not mean."""
    two = pod(
        container("a", {GPU: "1"}),
        container("b"),
        metadata={"annotations": {names.GPU_MEMORY: "b=16Gi"}},
    )
    decision = patched(two, VOLCANO)
    assert limits(decision) == {NUMBER: "1"}
    assert any(names.GPU_MEMORY in one and "container b " in one for one in said(decision))


def test_no_models_at_all_are_no_choice() -> None:
    """An annotation that lists none is a slip, and never any card."""
    reason, words = refusal(asking({GPU: "1"}, {names.GPU_MODEL: " , "}))
    assert (reason, names.GPU_MODEL in words) == (Reason.ANNOTATION, True)


CLASHES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "models": (
        "volcano",
        {GPU: "1"},
        {names.GPU_MODEL: "A100", "nvidia.com/nouse-gputype": "A100"},
    ),
    "devices": (
        "hami",
        {NUMBER: "1"},
        {"volcano.sh/vgpu-use-gpuuuid": "GPU-1", "nvidia.com/nouse-gpuuuid": "GPU-1"},
    ),
    "partitions": ("hami", {NUMBER: "1", VMEMORY: "200000"}, {"volcano.sh/vgpu-mode": "mig"}),
}


@pytest.mark.parametrize(("writes", "asked", "chosen"), CLASHES.values(), ids=CLASHES)
def test_what_would_be_refused_once_it_is_written_is_refused(
    writes: str, asked: dict[str, str], chosen: dict[str, str]
) -> None:
    """By the first pass, where it is asked for in other words, and not by `/validate` alone."""
    decision = decide(asking(asked, chosen), cluster(writes))
    assert decision.verdict is Verdict.REFUSED


MIG = {"nvidia.com/vgpu-mode": "mig"}
LOST: dict[Loss, tuple[str, Any]] = {
    Loss.MEMORY: ("plain", asking({GPU: "1", MEMORY: "1000"})),
    Loss.CORES: ("plain", asking({GPU: "1", CORES: "30"})),
    Loss.ROUNDING: ("volcano", asking({GPU: "1", MEMORY: "1000"})),
    Loss.PRIORITY: ("volcano", asking({GPU: "1", PRIORITY: "1"})),
    Loss.MODELS: ("pool", asking({GPU: "1"}, {names.GPU_MODEL: "A100"})),
    Loss.DEVICES: ("plain", asking({GPU: "1"}, {"nvidia.com/use-gpuuuid": "GPU-1"})),
    Loss.NUMA: ("volcano", asking({GPU: "1"}, {"nvidia.com/numa-bind": "true"})),
    Loss.MODE: ("pool", asking({GPU: "1"}, MIG)),
    Loss.POLICY: ("volcano", asking({GPU: "1"}, {names.NODE_POLICY: "spread"})),
    Loss.GROUP: (
        "hami",
        asking(
            {NUMBER: "1"},
            {"scheduling.k8s.io/group-name": "eight"},
            schedulerName="volcano",
        ),
    ),
    Loss.INIT_CONTAINER: (
        "volcano",
        pod(container(), initContainers=[container("fetch", {GPU: "1"})]),
    ),
    Loss.ACCELERATOR: ("pool", asking({"cambricon.com/vmlu": "1"})),
}


@pytest.mark.parametrize("loss", Loss)
def test_each_loss_is_warned_of_refused_or_dropped(loss: Loss) -> None:
    """By what the conversion says of its kind, whatever it says of the others."""
    writes, asked = LOST[loss]
    for handling, others in (("warn", "refuse"), ("refuse", "drop"), ("drop", "refuse")):
        by = cluster(
            writes,
            stacks={"volcano": {"blockMib": 256}},
            loss=others,
            losses={loss.value: handling},
            takeSchedulers=["volcano"],
        )
        decision = decide(asked, by)
        refused = [problem.facts["kind"] for problem in decision.problems]
        assert refused == ([loss.value] if handling == "refuse" else [])
        warned = [one.facts["kind"] for one in decision.warnings if one.code == "lost"]
        assert warned == ([loss.value] if handling == "warn" else [])


def test_a_queue_of_kais_is_lost_with_its_scheduler() -> None:
    """And Volcano's, where another scheduler gets the Pod; a Pod that stays loses nothing."""
    half = asking({}, {"gpu-memory": "1000"}, schedulerName="kai-scheduler")
    half["metadata"]["labels"] = {names.KAI_QUEUE: "team"}
    (lost,) = (one for one in patched(half, VOLCANO).warnings if one.code == "lost")
    assert str(lost) == (
        f"metadata.labels[{names.KAI_QUEUE}]: lost (group): kai-scheduler reads it, and volcano "
        "does not"
    )
    half["metadata"]["labels"] = {names.KAI_NODE_POOL: "large"}
    half["metadata"]["annotations"][names.KAI_MPS] = "true"
    both = [str(one) for one in patched(half, VOLCANO).warnings if one.code == "lost"]
    assert [one.partition(":")[0] for one in both] == [
        f"metadata.labels[{names.KAI_NODE_POOL}]",
        "metadata.annotations.mps",
    ]
    spared = asking({GPU: "1"}, {"volcano.sh/preemptable": "false"}, schedulerName="volcano")
    to_hami = cluster("hami", takeSchedulers=["volcano"])
    (told,) = (str(one) for one in patched(spared, to_hami).warnings if one.code == "lost")
    assert "preemptable]: lost (group): volcano reads it, and hami-scheduler does not" in told
    grouped = asking({GPU: "1"}, {names.VOLCANO_QUEUE: "q"}, schedulerName="volcano")
    assert not any("(group)" in one for one in said(patched(grouped, VOLCANO)))
    stays = cluster("pool", takeSchedulers=["volcano"])
    assert not any("(group)" in one for one in said(patched(grouped, stays)))


@pytest.mark.parametrize("key", [names.MODEL_USE, names.MODEL_PRECISION])
def test_what_is_said_of_no_model_is_told(key: str) -> None:
    """Without its size nothing follows from its use, and the whole card is given."""
    said_of_it = {names.MODEL_USE: "train", names.MODEL_PRECISION: "fp8"}[key]
    decision = patched(asking({GPU: "1"}, {key: said_of_it}), VOLCANO)
    assert any(key in one and f"without {names.MODEL}" in one for one in said(decision))


@pytest.mark.parametrize("key", [names.GPU_MEMORY, names.GPU_MODEL, names.MODEL])
def test_a_size_of_no_device_is_told(key: str) -> None:
    """A size alone asks for nothing, and the Pod would run without a card."""
    sized = asking({"cpu": "1"}, {key: "7b" if key == names.MODEL else "16Gi"})
    decision = decide(sized, VOLCANO)
    assert decision.verdict is Verdict.UNCHANGED
    assert any(
        f"[{key}] has no effect without nvidia.com/gpu; add it" in one for one in said(decision)
    )
    assert said(decide(asking({"cpu": "1"}), VOLCANO)) == []


def test_other_accelerators_stay_in_their_words() -> None:
    """Volcano reads HAMi's words of them; the loss has a name."""
    decision = patched(asking({"cambricon.com/vmlu": "1"}), VOLCANO)
    assert limits(decision)["cambricon.com/vmlu"] == "1"
    assert any("(accelerator)" in one for one in said(decision))
    assert refusal(asking({"cambricon.com/vmlu": "1"}), cluster("volcano", loss="refuse"))[0] is (
        Reason.LOSS
    )


@pytest.mark.parametrize("key", [names.GPU_MEMORY, names.GPU_MODEL, names.MODEL])
def test_what_no_other_accelerator_follows_is_told(key: str) -> None:
    """A size or a model beside amd.com/gpu, of which the whole device is given."""
    annotated = {key: {names.GPU_MEMORY: "16Gi"}.get(key, "7b")}
    for writes in ("volcano", "hami"):
        decision = decide(asking({"amd.com/gpu": "1"}, annotated), cluster(writes))
        assert any(f"[{key}] has no effect on amd" in one for one in said(decision))
        both = asking({"amd.com/gpu": "1"}, annotated)
        both["spec"]["containers"].append(container("other", {GPU: "1"}))
        assert not any("no effect on" in one for one in said(decide(both, cluster(writes))))


def test_names_are_the_settings() -> None:
    """As Volcano's own ConfigMap may have them."""
    stacks = {"volcano": {"count": "x.io/number", "memory": "x.io/memory", "scheduler": "vc"}}
    decision = patched(asking({GPU: "1", MEMORY: "10"}), cluster("volcano", stacks=stacks))
    assert limits(decision) == {"x.io/number": "1", "x.io/memory": "10"}
    result: Any = decision.pod
    assert result["spec"]["schedulerName"] == "vc"
