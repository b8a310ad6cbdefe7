"""The vGPU manager's pool, whole cards, and KAI's annotations, each into the others' words."""

from typing import Any

import pytest

from berth import names
from berth.admission import patch, project
from berth.dialects import translate
from berth.model.card import Card
from berth.model.charge import Claim
from berth.model.decided import Decided
from berth.model.decision import Verdict
from berth.model.problem import Problem
from berth.model.reason import Reason
from berth.model.said import Said
from tests.dialects.converting import (
    A100,
    GPU,
    MEMORY,
    NUMBER,
    POOL,
    POOL_CORES,
    POOL_COUNT,
    T4,
    VMEMORY,
    annotations,
    asking,
    converting,
    decide,
    limits,
    patched,
    said,
)
from tests.pods import container, pod

READ: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a size is of one card": ({POOL: "16Gi"}, {NUMBER: "1", VMEMORY: "16384"}),
    "as the API server writes it": ({POOL: "512Mi"}, {NUMBER: "1", VMEMORY: "512"}),
    "bytes": ({POOL: "1073741824"}, {NUMBER: "1", VMEMORY: "1024"}),
    "of several cards": ({POOL: "1Gi", POOL_COUNT: "3"}, {NUMBER: "3", VMEMORY: "1024"}),
    "with cores": (
        {POOL: "1Gi", POOL_CORES: "25"},
        {NUMBER: "1", VMEMORY: "1024", "volcano.sh/vgpu-cores": "25"},
    ),
    "a whole card": ({POOL_COUNT: "1"}, {NUMBER: "1"}),
}


@pytest.mark.parametrize(("asked", "found"), READ.values(), ids=READ)
def test_the_pool_is_read(asked: dict[str, str], found: dict[str, str]) -> None:
    """One card unless a count says otherwise, and memory of each."""
    assert limits(patched(asking(asked), converting("volcano"))) == found


@pytest.mark.parametrize("amount", ["16384", "16G", "1", "1Ki", "2Ti", "-1Gi", "x", "0.5", "1e999"])
def test_a_size_that_no_card_has_is_refused(amount: str) -> None:
    """The resource is of bytes: a bare 16384 is a slip of the pen, not 16 GiB."""
    decision = decide(asking({POOL: amount}), converting("pool"))
    assert decision.verdict is Verdict.REFUSED
    assert f"limits[{POOL}]" in str(decision.problems[0])


def test_requests_must_be_the_limits() -> None:
    """As Kubernetes wants it of every device."""
    asked = asking({POOL: "16Gi"})
    asked["spec"]["containers"][0]["resources"]["requests"] = {POOL: "8Gi"}
    (problem,) = decide(asked, converting("pool")).problems
    assert problem.reason is Reason.REQUEST_NOT_LIMIT


def test_what_the_pool_can_give_is_kept_as_it_is() -> None:
    """Nothing is added that its nodes may not announce, such as a count of one."""
    asked = asking({POOL: "16Gi"})
    assert patched(asked, converting("pool")).pod["spec"] == asked["spec"]


BEYOND: dict[str, tuple[dict[str, str], dict[str, str], str, str]] = {
    "memory": ({POOL: "41Gi"}, {}, f"limits[{POOL}]: 41984 MiB", "15360, 40960 MiB"),
    "memory of a model": ({POOL: "20Gi"}, {names.GPU_MODEL: "T4"}, "20480 MiB", "15360 MiB"),
    "a model": ({POOL: "1Gi"}, {names.GPU_MODEL: "L40"}, f"[{names.GPU_MODEL}]", "Tesla-T4"),
    "cards": ({POOL: "1Gi", POOL_COUNT: "9"}, {}, f"limits[{POOL_COUNT}]: 9", "at most 8"),
}


@pytest.mark.parametrize(("asked", "said", "place", "known"), BEYOND.values(), ids=BEYOND)
def test_what_no_card_has_today_is_told_or_refused(
    asked: dict[str, str], said: dict[str, str], place: str, known: str
) -> None:
    """A node pool may scale from nothing: a warning, and a refusal by placement.never alone."""
    pod = asking(asked, said)
    warned = decide(pod, converting("pool", T4, A100))
    assert warned.verdict is not Verdict.REFUSED
    (warning,) = [one for one in warned.warnings if one.code.startswith("beyond.")]
    assert place in str(warning)
    assert len(str(warning)) <= 120
    (problem,) = decide(pod, converting("pool", T4, A100, never="refuse")).problems
    assert problem.reason is Reason.NO_SUCH_CARD
    assert place in str(problem)
    assert known in str(problem)


def test_what_some_card_has_is_neither() -> None:
    """And where no card is known, nobody can say."""
    for by in (converting("pool", T4, A100, never="refuse"), converting("pool", never="refuse")):
        assert patched(asking({POOL: "40Gi"}), by).warnings == ()
    nobody = converting("pool", never="refuse")
    assert decide(asking({POOL: "41Gi", POOL_COUNT: "99"}), nobody).warnings == ()


def test_cards_of_others_say_nothing_of_these() -> None:
    """Where a cluster has AMD's alone, NVIDIA's may yet come."""
    by = converting("pool", Card("amd", "MI300X", 196608, 8), never="refuse")
    asked = asking({POOL: "41Gi"}, {names.GPU_MODEL: "L40"})
    assert decide(asked, by).verdict is not Verdict.REFUSED


def test_into_the_pool() -> None:
    """Sizes as Kubernetes writes them."""
    by = converting("pool")
    assert limits(patched(asking({GPU: "1", MEMORY: "16384"}), by)) == {POOL: "16Gi"}
    assert limits(patched(asking({GPU: "2", MEMORY: "3000"}), by)) == {
        POOL_COUNT: "2",
        POOL: "3000Mi",
    }
    assert limits(patched(asking({GPU: "1"}), by)) == {POOL_COUNT: "1"}


@pytest.mark.parametrize("stack", ["volcano", "pool", "plain"])
def test_a_stack_with_a_scheduler_names_it(stack: str) -> None:
    """So that no other binds the Pod; where the settings name none, its own stays."""
    for named, expected in (("theirs", "theirs"), ("", "default-scheduler")):
        by = converting(stack, stacks={stack: {"scheduler": named}})
        decided: Any = decide(asking({GPU: "1"}), by).pod
        assert decided["spec"]["schedulerName"] == expected


@pytest.mark.parametrize("visible", [False, True])
def test_chosen_devices_are_variables(*, visible: bool) -> None:
    """Of each container its own; CUDA_VISIBLE_DEVICES where the manager reads it."""
    by = converting("pool", stacks={"pool": {"visibleDevices": visible}})
    asked = pod(container("a", {POOL: "1Gi"}), container("b", {POOL: "2Gi"}), container("c"))
    read = project.pod(asked)
    demand = translate.read(read, by.options, skip_privileged=True).demand
    placed = Decided(
        id="d",
        node="n",
        devices=tuple(
            Claim(container=name, uuid=one) for name, one in (("a", "GPU-1"), ("b", "GPU-2"))
        ),
    )
    changes = translate.write(demand, placed, read, by.options)
    edits = [one for one in changes if not isinstance(one, Said | Problem)]
    result: Any = patch.record(asked, edits)[1]
    keys = [names.CHOSEN_ENV, *([names.VISIBLE_DEVICES] if visible else [])]
    a, b, c = result["spec"]["containers"]
    assert a["env"] == [{"name": key, "value": "GPU-1"} for key in keys]
    assert b["env"] == [{"name": key, "value": "GPU-2"} for key in keys]
    assert "env" not in c


def test_volcano_is_told_chosen_devices_from_1_16_on() -> None:
    """Older versions would not read the annotation."""
    for minor, told in ((15, False), (16, True)):
        by = converting("volcano", stacks={"volcano": {"minor": minor}})
        asked = asking({GPU: "1"})
        read = project.pod(asked)
        demand = translate.read(read, by.options, skip_privileged=True).demand
        placed = Decided(id="d", node="n", devices=(Claim(container="main", uuid="GPU-1"),))
        changes = translate.write(demand, placed, read, by.options)
        key = ("metadata", "annotations", "volcano.sh/vgpu-use-gpuuuid")
        assert any(getattr(one, "path", ()) == key for one in changes) == told


def test_whole_cards_lose_a_share_with_a_name() -> None:
    """And one that is whole already loses nothing."""
    by = converting("plain")
    assert patched(asking({GPU: "1"}), by).warnings == ()
    decision = patched(asking({GPU: "2", MEMORY: "1000"}), by)
    assert limits(decision) == {GPU: "2"}
    assert any("(memory)" in one for one in said(decision))
    refusing = converting("plain", loss="refuse")
    assert decide(asking({GPU: "2", MEMORY: "1000"}), refusing).verdict is Verdict.REFUSED


KAI: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a fraction": ({"gpu-fraction": "0.5"}, {NUMBER: "1", VMEMORY: "20480"}),
    "a fraction is never less than was asked": (
        {"gpu-fraction": "0.333"},
        {NUMBER: "1", VMEMORY: "13926"},
    ),
    "memory": ({"gpu-memory": "4096"}, {NUMBER: "1", VMEMORY: "4096"}),
    "devices": (
        {"gpu-memory": "4096", "gpu-fraction-num-devices": "2"},
        {NUMBER: "2", VMEMORY: "4096"},
    ),
}


@pytest.mark.parametrize(("said", "found"), KAI.values(), ids=KAI)
def test_kai_is_read(said: dict[str, str], found: dict[str, str]) -> None:
    """Its annotations go with its scheduler, and stay in the record."""
    decision = patched(asking({}, said, schedulerName="kai-scheduler"), converting("volcano", A100))
    assert limits(decision) == found
    kept = annotations(decision)
    assert not {*said} & kept.keys()
    assert all(key in kept[names.ORIGINAL_REQUEST] for key in said)
    told = [str(one) for one in decision.warnings if one.code == "renamed.annotation"]
    assert [one.split(" ")[0] for one in told] == [f"metadata.annotations.{key}" for key in said]
    assert all(len(one) <= 120 for one in told)
    result: Any = decision.pod
    assert result["spec"]["schedulerName"] == "volcano"


def test_kai_gives_the_first_app_container_unless_one_is_named() -> None:
    """An init container may be named too."""
    said = {"gpu-memory": "1000"}
    two = pod(container("a"), container("b"), metadata={"annotations": said})
    two["spec"]["schedulerName"] = "kai-scheduler"
    assert limits(patched(two, converting("volcano"))) == {NUMBER: "1", VMEMORY: "1000"}
    two["metadata"]["annotations"] = said | {"gpu-fraction-container-name": "b"}
    assert limits(patched(two, converting("volcano")), 1) == {NUMBER: "1", VMEMORY: "1000"}


def test_what_kai_says_of_no_share_is_told() -> None:
    """Nothing is given for it."""
    asked = asking({}, {"gpu-fraction-num-devices": "2"}, schedulerName="kai-scheduler")
    told = (
        "metadata.annotations.gpu-fraction-num-devices has no effect without gpu-fraction; add it"
    )
    assert said(decide(asked, converting("volcano"))) == [told]


@pytest.mark.parametrize(
    "said",
    [
        {"gpu-fraction": "1.5"},
        {"gpu-fraction": "0"},
        {"gpu-fraction": "half"},
        {"gpu-memory": "4Gi"},
        {"gpu-fraction": "0.5", "gpu-memory": "1000"},
        {"gpu-memory": "1000", "gpu-fraction-num-devices": "none"},
        {"gpu-memory": "1000", "gpu-fraction-container-name": "other"},
    ],
    ids=str,
)
def test_what_kai_would_not_take_is_refused(said: dict[str, str]) -> None:
    """By the annotation that is wrong."""
    asked = asking({}, said, schedulerName="kai-scheduler")
    decision = decide(asked, converting("volcano", A100))
    assert decision.verdict is Verdict.REFUSED
    assert "metadata.annotations.gpu-" in str(decision.problems[0])


@pytest.mark.parametrize("asked", [{POOL: "20Gi"}, {}], ids=["pool", "kai"])
@pytest.mark.parametrize("writes", ["hami", "volcano"])
def test_annotations_that_count_once_it_is_written_count_before(
    writes: str, asked: dict[str, str]
) -> None:
    """Else the first pass would let through what the second refuses (`decide` asks twice)."""
    said = {} if asked else {"gpu-memory": "20480"}
    by = converting(writes, A100, T4, never="refuse")
    for wrong in ({"nvidia.com/use-gputype": "T4"}, {names.WEIGHTS: "much"}):
        decision = decide(asking(asked, said | wrong), by)
        assert decision.verdict is Verdict.REFUSED
    patched(asking(asked, said | {"nvidia.com/use-gputype": "A100"}), by)


@pytest.mark.parametrize("other", [{POOL: "1Gi"}, {VMEMORY: "100"}], ids=str)
def test_a_dialect_that_is_not_read_does_not_go_unread_beside_one_that_is(
    other: dict[str, str],
) -> None:
    """Alone, it is nobody's business here; a 0 of it says nothing."""
    by = converting("hami", reads=["hami"])
    decision = decide(asking({GPU: "1", **other}), by)
    assert decision.verdict is Verdict.REFUSED
    (name,) = other
    assert f"[{name}]: the container asks in the dialects hami and" in str(decision.problems[0])
    assert decide(asking(other), by).verdict is Verdict.UNCHANGED
    assert decide(asking({GPU: "1", name: "0"}), by).verdict is Verdict.PATCHED


MIXED = [
    ({GPU: "1", NUMBER: "1"}, {}, ("hami", "volcano")),
    ({POOL: "1Gi", VMEMORY: "1000"}, {}, ("pool", "volcano")),
    ({GPU: "1", POOL: "1Gi"}, {}, ("hami", "pool")),
    ({GPU: "1"}, {"gpu-fraction": "0.5"}, ("hami", "kai")),
    ({"nvidia.com/priority": "1", VMEMORY: "100"}, {}, ("volcano", "hami")),
]


@pytest.mark.parametrize(("asked", "said", "dialects"), MIXED, ids=str)
def test_a_container_speaks_one_dialect(
    asked: dict[str, str], said: dict[str, str], dialects: tuple[str, str]
) -> None:
    """Two stacks would each give it a part; the message names both dialects."""
    decision = decide(asking(asked, said), converting("volcano", A100))
    assert [one.reason for one in decision.problems] == [Reason.SEVERAL_DIALECTS]
    assert all(f" {dialect} " in str(decision.problems[0]) for dialect in dialects)


def test_a_zero_of_another_dialect_is_no_request() -> None:
    """Helm charts write 0 for "off"."""
    found = limits(patched(asking({GPU: "1", NUMBER: "0"}), converting("hami")))
    assert found[GPU] == "1"


def test_containers_of_one_pod_may_speak_different_ones() -> None:
    """Each is translated for itself."""
    two = pod(container("a", {GPU: "1", MEMORY: "100"}), container("b", {POOL: "1Gi"}))
    decision = patched(two, converting("volcano"))
    assert limits(decision, 0) == {NUMBER: "1", VMEMORY: "100"}
    assert limits(decision, 1) == {NUMBER: "1", VMEMORY: "1024"}
