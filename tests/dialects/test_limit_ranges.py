"""What a LimitRange gives a container that asks in other words: LimitRanger gives it again."""

import json
from typing import Any

import pytest

from berth import layered, names
from berth.admission import configuration, mutate
from berth.admission.standing import Standing
from berth.dialects.ranges import Ranges
from berth.model.decision import Verdict
from berth.model.reason import Reason
from tests.dialects.converting import (
    CORES,
    GPU,
    MEMORY,
    NUMBER,
    PERCENT,
    POOL,
    VCORES,
    VMEMORY,
    Limits,
    annotations,
    asking,
    decide,
    limits,
    patched,
    said,
)
from tests.dialects.converting import converting as cluster
from tests.pods import container

VOLCANO = cluster("volcano")
SHIPPED, _ = configuration.rules(layered.settings(None), None)


def given(asked: Limits, *resources: str) -> dict[str, Any]:
    """Return a Pod of which a LimitRange has set these resources, as the API server shows it."""
    told = f"{', '.join(resources)} request for container main"
    told = f"LimitRanger plugin set: {told}; {told.replace('request', 'limit')}"
    return asking(asked, {names.LIMIT_RANGER: told})


def twice(asked: Limits, default: Limits) -> Limits:
    """Return the limits after both passes: before each, a LimitRange sets what is not there."""
    first = patched(given(default | asked, *(default.keys() - asked.keys())), VOLCANO)
    pod = given(default | limits(first), *default)
    return limits(mutate.decide(pod, "default", VOLCANO, standing=Standing(decision="")))


@pytest.mark.parametrize(
    ("asked", "default", "found"),
    [
        ({}, {GPU: "1"}, {GPU: "0", NUMBER: "1"}),
        ({GPU: "2"}, {GPU: "1"}, {GPU: "0", NUMBER: "2"}),
        ({GPU: "1"}, {MEMORY: "4096"}, {MEMORY: "0", NUMBER: "1", VMEMORY: "4096"}),
        ({GPU: "1", MEMORY: "9"}, {GPU: "0"}, {GPU: "0", NUMBER: "1", VMEMORY: "9"}),
        ({GPU: "1"}, {VMEMORY: "8000"}, {NUMBER: "1", VMEMORY: "8000"}),
        ({GPU: "1", MEMORY: "9"}, {VMEMORY: "8000"}, {NUMBER: "1", VMEMORY: "9"}),
        ({GPU: "1", MEMORY: "9"}, {VMEMORY: "0", NUMBER: "0"}, {NUMBER: "1", VMEMORY: "9"}),
        ({NUMBER: "1"}, {GPU: "1", CORES: "5"}, {GPU: "0", CORES: "0", NUMBER: "1"}),
        ({}, {GPU: "1", NUMBER: "2"}, {GPU: "0", NUMBER: "2"}),
    ],
    ids=str,
)
def test_what_is_given_again_is_nothing(asked: Limits, default: Limits, found: Limits) -> None:
    """Zero and not gone, as a `max` wants it named; in the words that are written, a default."""
    assert twice(asked, default) == found


@pytest.mark.parametrize("default", [{GPU: "1"}, {NUMBER: "1"}, {VMEMORY: "8000"}], ids=str)
def test_who_asks_by_annotation_is_not_refused_for_what_is_given(default: Limits) -> None:
    """KAI's words are his own; the others he has not written."""
    pod = given(default, *default)
    pod["metadata"]["annotations"] |= {names.KAI_MEMORY: "4096"}
    pod["spec"]["schedulerName"] = "kai-scheduler"
    assert limits(patched(pod, VOLCANO)) == {NUMBER: "1", VMEMORY: "4096"}
    pod["spec"]["containers"][0]["resources"]["limits"][NUMBER] = "2"
    pod["spec"]["containers"][0]["resources"]["requests"][NUMBER] = "2"
    mixed = NUMBER not in default
    assert (decide(pod, VOLCANO).verdict is Verdict.REFUSED) == mixed


def test_the_record_is_of_what_was_asked() -> None:
    """The second pass, which finds it given again, leaves the record as it is."""
    record = annotations(patched(asking({GPU: "2", MEMORY: "10"}), VOLCANO))
    pod = given({MEMORY: "7", NUMBER: "2", VMEMORY: "10"}, MEMORY)
    pod["metadata"]["annotations"] |= record
    assert record.items() <= annotations(patched(pod, VOLCANO)).items()


@pytest.mark.parametrize("more", [{}, {"oversubscription": {"memory": 2, "cores": 2}}], ids=str)
@pytest.mark.parametrize("default", [{VMEMORY: "8000"}, {VMEMORY: "8000", VCORES: "30"}], ids=str)
@pytest.mark.parametrize("asked", [{GPU: "1"}, {GPU: "2", CORES: "50"}], ids=str)
def test_a_size_in_the_new_words_is_not_what_the_author_wrote(
    asked: Limits, default: Limits, more: dict[str, Any]
) -> None:
    """It counts as it is given, and the record keeps his own words in every pass."""
    by = cluster("volcano", **more)
    first = patched(given(default | asked, *default), by)
    pod = given(default | limits(first), *(default.keys() - limits(first).keys()))
    pod["metadata"]["annotations"] |= annotations(first) | pod["metadata"]["annotations"]
    second = decide(pod, by)
    assert limits(second)[VMEMORY] == "8000"
    assert json.loads(annotations(second)[names.ORIGINAL_REQUEST])["containers"] == {"main": asked}


@pytest.mark.parametrize(
    ("asked", "default", "found"),
    [
        ({GPU: "1", PERCENT: "100"}, {VMEMORY: "8000"}, {NUMBER: "1", VMEMORY: "0"}),
        ({GPU: "1", CORES: "100"}, {VCORES: "30"}, {NUMBER: "1", VCORES: "100"}),
        ({GPU: "1", PERCENT: "100"}, {VCORES: "30"}, {NUMBER: "1", VCORES: "30"}),
        (
            {GPU: "1", MEMORY: "9", CORES: "100"},
            {VMEMORY: "8000", VCORES: "30"},
            {NUMBER: "1", VMEMORY: "9", VCORES: "100"},
        ),
    ],
    ids=str,
)
def test_what_the_author_says_of_a_size_is_not_filled_in(
    asked: Limits, default: Limits, found: Limits
) -> None:
    """Also where it goes without saying in the new words: all memory, and all cores."""
    assert twice(asked, default) == found


def test_a_name_that_has_a_max_stays_with_nothing() -> None:
    """So a LimitRange of type Pod, which wants it named, lets the Pod pass; its author is told."""
    long = "a-name-that-is-" + "long" * 50
    ranges = Ranges({GPU: "most", PERCENT: long}, {PERCENT: long})
    known = Standing(decision="", ranges=ranges)
    pod = asking({GPU: "1", MEMORY: "9"})
    pod["spec"]["initContainers"] = [container("early", {PERCENT: "100", GPU: "1"})]
    by = cluster("volcano", losses={"init-container": "warn"})
    decision = mutate.decide(pod, "default", by, standing=known)
    assert limits(decision) == {GPU: "0", NUMBER: "1", VMEMORY: "9"}
    assert limits(decision, kind="initContainers") == {GPU: "0", PERCENT: "0", NUMBER: "1"}
    told = [str(one) for one in decision.warnings if one.code in ("ceiling", "floor")]
    assert any("wants nvidia.com/gpumem-percentage, and refuses this Pod" in one for one in told)
    assert "spec.containers[0]: the max of nvidia.com/gpu in LimitRange most limits " in told[-1]
    assert all(len(one) <= 120 for one in told)
    assert len(told) == 4
    assert mutate.decide(decision.pod, "default", by, standing=known).operations == []
    assert mutate.decide(decision.pod, "default", by).operations == []


@pytest.mark.parametrize(
    ("writes", "asked", "size", "whole"),
    [
        ("volcano", {GPU: "1"}, {VMEMORY: "8000"}, {NUMBER: "1"}),
        ("pool", {NUMBER: "1"}, {POOL: "4Gi"}, {"hami.io/vgpu-count": "1"}),
        ("hami", {NUMBER: "1"}, {MEMORY: "8000"}, {GPU: "1", CORES: "100"}),
    ],
)
def test_a_max_for_a_new_name_still_gives_a_size(
    writes: str, asked: Limits, size: Limits, whole: Limits
) -> None:
    """Taken out, it is given again; with a 0 it would be all of the card, and above the `max`."""
    known = Standing(decision="", ranges=Ranges(dict.fromkeys(size, "most")))
    decision = mutate.decide(given(size | asked, *size), "default", cluster(writes), standing=known)
    assert limits(decision) == whole
    assert "ceiling" not in [one.code for one in decision.warnings]
    then = given(whole | size, *size)
    again = mutate.decide(then, "default", cluster(writes), standing=known)
    assert limits(again) == whole | size


@pytest.mark.parametrize("ranges", [None, Ranges({"hami.io/vgpu-count": "most"})], ids=str)
@pytest.mark.parametrize("asked", [{GPU: "1", MEMORY: "4096"}, {VMEMORY: "4096"}], ids=str)
def test_one_card_is_written_where_a_limit_range_gives_several(
    asked: Limits, ranges: Ranges | None
) -> None:
    """The pool means one where none is named: 0 would be refused, and 8 are nobody's wish."""
    count, by = {"hami.io/vgpu-count": "8"}, cluster("pool")
    known = Standing(decision="", ranges=ranges)
    decision = mutate.decide(given(count | asked, *count), "default", by, standing=known)
    assert limits(decision) == {POOL: "4Gi", "hami.io/vgpu-count": "1"}
    assert mutate.decide(decision.pod, "default", by, standing=known).operations == []


def test_who_asks_in_two_dialects_himself_is_refused() -> None:
    """Also beside a LimitRange, which gives something else."""
    decision = decide(given({GPU: "1", NUMBER: "1", "cpu": "1"}, "cpu"), VOLCANO)
    assert decision.verdict is Verdict.REFUSED
    assert [one.reason for one in decision.problems] == [Reason.SEVERAL_DIALECTS]


def test_a_request_that_a_min_gives_again_is_nothing() -> None:
    """Of a `min` LimitRanger makes a request without a limit, which its author never wrote."""
    first = patched(asking({GPU: "1"}), VOLCANO)
    pod = asking(limits(first), annotations(first))
    pod["spec"]["containers"][0]["resources"]["requests"][GPU] = "1"
    told = "LimitRanger plugin set: nvidia.com/gpu request for container main"
    pod["metadata"]["annotations"][names.LIMIT_RANGER] = told
    again = patched(pod, VOLCANO)
    assert limits(again) == {NUMBER: "1", GPU: "0"}
    assert annotations(first).items() <= annotations(again).items()


def test_what_is_given_in_words_that_are_not_read_refuses_nobody() -> None:
    """It is nothing of the author's, and says so from then on."""
    by = cluster("volcano", reads=["hami"])
    found = limits(patched(given({GPU: "1", POOL: "1Gi"}, POOL), by))
    assert found == {NUMBER: "1", POOL: "0"}


def test_a_device_that_nobody_asked_for_is_told() -> None:
    """In whichever words it is given."""
    for resource in (GPU, NUMBER):
        decision = decide(given({resource: "1"}, resource), VOLCANO)
        assert any(f"a LimitRange gives it {resource}" in one for one in said(decision))


def test_who_asks_for_a_part_himself_is_not_told() -> None:
    """He wants a device, whoever says how many."""
    assert said(decide(given({MEMORY: "9", GPU: "1"}, GPU), SHIPPED)) == []


CHIP = "huawei.com/Ascend910A"


@pytest.mark.parametrize(
    ("asked", "default", "blamed"),
    [
        ({CHIP: "1"}, {GPU: "1"}, [GPU]),
        ({GPU: "1", PERCENT: "50"}, {MEMORY: "4000"}, [MEMORY]),
        ({MEMORY: "4000"}, {PERCENT: "50", GPU: "1"}, [PERCENT]),
        ({CHIP: "1"}, {GPU: "1", CORES: "5"}, [GPU, CORES]),
        ({GPU: "0"}, {MEMORY: "4000"}, [MEMORY]),
        ({GPU: "1"}, {CORES: "101"}, [CORES]),
        ({GPU: "1", MEMORY: "16Gi"}, {CORES: "10"}, []),
        ({GPU: "1", MEMORY: "9", PERCENT: "9"}, {CORES: "0"}, []),
    ],
)
def test_who_is_refused_for_what_is_given_hears_who_gives_it(
    asked: Limits, default: Limits, blamed: list[str]
) -> None:
    """He wrote one of the two alone, and what he leaves out is given again: only a 0 helps."""
    decision = decide(given(default | asked, *default), SHIPPED)
    assert decision.verdict is Verdict.REFUSED
    assert [warning.facts["name"] for warning in decision.warnings] == blamed
    cured = given(default | asked | dict.fromkeys(blamed, "0"), *default.keys() - {*blamed})
    assert not blamed or decide(cured, SHIPPED).verdict is not Verdict.REFUSED


@pytest.mark.parametrize("resource", ["mthreads.com/vgpu", "aws.amazon.com/neuron"])
def test_nobody_is_told_to_write_a_0_that_is_refused(resource: str) -> None:
    """Of some accelerators 0 is no request but wrong, as in HAMi, so only the LimitRange helps."""
    assert decide(asking({resource: "0"}), SHIPPED).verdict is Verdict.REFUSED
    (warning,) = said(decide(given({resource: "1"}, resource), SHIPPED))
    told = f"a LimitRange gives it {resource}, and 0 is refused; have the LimitRange changed"
    assert warning.endswith(told)
