"""The annotation with what was asked for, before anything was filled in."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from berth import names
from tests.hami.deciding import CORES, GPU, MEMORY, decide, original, rules
from tests.pods import Pod, container, gpu_pod, pod


def record(**containers: dict[str, Any]) -> str:
    """Return the annotation's text."""
    text = {"v": 1, "containers": containers}
    return json.dumps(text, separators=(",", ":"), sort_keys=True)


def annotated(text: str, *containers: Pod, **spec: Any) -> Pod:
    """Return a Pod that carries a record."""
    return pod(*containers, metadata={"annotations": {names.ORIGINAL_REQUEST: text}}, **spec)


def test_what_was_asked_for_is_kept(tmp_path: Path) -> None:
    """Per container with a device, before anything was added."""
    asked = pod(container("a", {GPU: "1"}), container("b"), container("c", {MEMORY: "3000"}))
    decision = decide(asked, rules(tmp_path))
    assert original(decision) == {"a": {GPU: "1"}, "c": {MEMORY: "3000"}}


def test_a_complete_pod_gets_a_record_and_nothing_else(tmp_path: Path) -> None:
    """What one replica leaves as it is, another would change that has other settings."""
    limits = {GPU: "1", MEMORY: "2000"}
    decision = decide(gpu_pod(limits, schedulerName="hami-scheduler"), rules(tmp_path))
    assert original(decision) == {"main": limits}
    assert len(decision.operations) == 1


def test_a_second_pass_keeps_the_first_ones_record(tmp_path: Path) -> None:
    """Another webhook adds a container between our two passes (reinvocationPolicy IfNeeded)."""
    by = rules(tmp_path)
    between: Any = deepcopy(decide(pod(container("a", {GPU: "1"})), by).pod)
    between["spec"]["containers"].insert(0, container("new", {MEMORY: "500"}))
    after = original(decide(between, by))
    assert after == {"a": {GPU: "1"}, "new": {MEMORY: "500"}}


def test_a_forged_record_is_written_anew(tmp_path: Path) -> None:
    """A record from which the limits do not follow is not believed."""
    forged = annotated(record(main={MEMORY: "1"}), container(limits={GPU: "8"}))
    assert original(decide(forged, rules(tmp_path))) == {"main": {GPU: "8"}}


def test_a_forged_record_is_written_anew_where_nothing_else_changes(tmp_path: Path) -> None:
    """A complete Pod may not carry a false record either."""
    limits = {GPU: "8", CORES: "100"}
    forged = annotated(
        record(main={MEMORY: "1"}), container(limits=limits), schedulerName="hami-scheduler"
    )
    assert original(decide(forged, rules(tmp_path))) == {"main": limits}


def test_a_record_that_says_more_is_written_anew(tmp_path: Path) -> None:
    """What the limits follow from is believed as we write it: by name and as plain numbers."""
    limits = {MEMORY: "4000", GPU: "1"}
    for more in ({"example.com/paid": "yes"}, {MEMORY: "4k"}):
        forged = annotated(record(main={MEMORY: "4000"} | more), container(limits=limits))
        assert original(decide(forged, rules(tmp_path))) == {"main": limits}


def test_a_record_that_cannot_be_read_is_written_anew(tmp_path: Path) -> None:
    """Garbage, other versions and other shapes count as no record."""
    for text in ("", "{", "[]", '{"v":2}', '{"v":1}', '{"v":1,"containers":{"main":7}}'):
        asked = annotated(text, container(limits={GPU: "1"}))
        assert original(decide(asked, rules(tmp_path))) == {"main": {GPU: "1"}}


def test_full_annotations_get_no_record(tmp_path: Path) -> None:
    """Kubernetes refuses annotations of more than 256 KiB, so the record gives way.

    A short one that was brought along does too: it is none of ours.
    """
    full = {"a": "x" * (256 * 1024 - 90)}
    for annotations in (full, full | {names.ORIGINAL_REQUEST: record()}):
        asked = pod(container(limits={GPU: "1"}), metadata={"annotations": annotations})
        decision = decide(asked, rules(tmp_path))
        assert original(decision) is None
        assert len(decision.warnings) == 1
