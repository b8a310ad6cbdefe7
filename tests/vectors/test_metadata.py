"""Vectors M1 to M10: who the Pod is, and what of its metadata we may touch."""

import json
from typing import Any

import pytest

from berth import names
from berth.model import rfc6902
from berth.settings import Injection
from tests.pods import Pod, container, gpu_pod, pod
from tests.vectors import laws

GPU = {"nvidia.com/gpu": "1"}
LIMIT = 256 * 1024  # bytes of keys and values that kube-apiserver takes as annotations of a Pod
POINTER = "/metadata/annotations/berth.dev~1original-request"


def annotated(**annotations: Any) -> Pod:
    """Return a GPU Pod with these annotations."""
    return pod(container(limits=GPU), metadata={"annotations": annotations})


def bare(metadata: Pod) -> Pod:
    """Return a GPU Pod that has nothing but `metadata` as its metadata."""
    return gpu_pod(GPU) | {"metadata": metadata}


def touched(outcome: laws.Outcome) -> list[dict[str, Any]]:
    """Return the operations on metadata."""
    return [one for one in outcome.operations if one["path"].startswith("/metadata")]


def test_m1_a_pod_without_name_and_uid_is_patched_as_any_other() -> None:
    """Nothing is keyed on a name or uid, which a generateName Pod does not have yet."""
    named = laws.patched(gpu_pod(GPU))
    unnamed = laws.patched(bare({"generateName": "train-"}), name="")
    assert unnamed.operations == named.operations


def test_m2_the_namespace_is_that_of_the_request() -> None:
    """Older API servers leave metadata.namespace empty; request.namespace decides, and stays."""
    outcome = laws.patched(bare({"name": "train"}), namespace="team-a")
    assert "namespace" not in outcome.pod["metadata"]
    laws.untouched(bare({"name": "train"}), namespace="kube-system")


@pytest.mark.parametrize("metadata", [{"name": "a"}, {"name": "a", "annotations": None}])
def test_m3_lacking_annotations_are_made_once(metadata: Pod) -> None:
    """The parent of our annotation comes with it, in one operation."""
    (made,) = touched(laws.patched(bare(metadata)))
    assert made["path"] == "/metadata/annotations"
    assert made["value"].keys() == {names.ORIGINAL_REQUEST}


def test_m4_annotations_of_others_stay() -> None:
    """Beside other annotations, ours is added by its own key."""
    outcome = laws.patched(annotated(**{"team.example/owner": "a", "x": ""}))
    (added,) = touched(outcome)
    assert (added["op"], added["path"]) == ("add", POINTER)
    kept = outcome.pod["metadata"]["annotations"]
    assert {key: kept[key] for key in ("team.example/owner", "x")} == {
        "team.example/owner": "a",
        "x": "",
    }


def test_m5_keys_are_escaped_in_pointers() -> None:
    """`~` becomes `~0` before `/` becomes `~1`, so that each key is one step of the pointer."""
    assert rfc6902.pointer(("a/b", "~1", "c~/d")) == "/a~1b/~01/c~0~1d"
    injection = Injection(name="notes", annotations={"a.example/b~c": "1"})
    decide = laws.injecting(laws.rules(injections=(injection,)), "notes")
    outcome = laws.patched(annotated(x="y"), decide)
    assert [one["path"] for one in outcome.operations] == ["/metadata/annotations/a.example~1b~0c"]
    assert outcome.pod["metadata"]["annotations"] == {"x": "y", "a.example/b~c": "1"}


@pytest.mark.parametrize(
    "marker",
    [
        "",
        "garbage",
        "[]",
        "null",
        '{"v":99,"containers":{}}',
        '{"v":1,"containers":[]}',
        '{"v":1,"containers":{"main":{"nvidia.com/gpu":"1"}}}',
        '{"v":1,"containers":{"main":{"nvidia.com/gpu":"8"}}}',
        '{"v":1,"containers":{"main":{"nvidia.com/gpu":"-1","cpu":"9"}}}',
        '{"v":1,"containers":{"main":{"nvidia.com/gpu":{"a":[]}}}}',
        '{"v":1,"containers":{"main":{"nvidia.com/gpu":"1"}},"written":"0badcafe"}',
    ],
)
def test_m6_our_marker_set_by_the_user_changes_nothing(marker: str) -> None:
    """The content of the Pod is looked at: it is completed, and a forged record is written anew."""
    honest = laws.patched(gpu_pod(GPU))
    forged = laws.patched(annotated(**{names.ORIGINAL_REQUEST: marker}))
    assert forged.pod["spec"] == honest.pod["spec"]
    record = forged.pod["metadata"]["annotations"][names.ORIGINAL_REQUEST]
    assert record == honest.pod["metadata"]["annotations"][names.ORIGINAL_REQUEST]
    assert json.loads(record)["containers"] == {"main": GPU}


@pytest.mark.parametrize("filler", ["x", "é", "卡"])
def test_m8_the_annotations_never_outgrow_their_limit(filler: str) -> None:
    """The record is left out, with a warning, where it would take annotations over 256 KiB."""
    record = laws.patched(gpu_pod(GPU)).pod["metadata"]["annotations"]
    room = LIMIT - size(record) - len("fill")
    text = filler * (room // size({"": filler}))
    text += "." * (room - size({"": text}))
    fits = laws.patched(annotated(fill=text)).pod["metadata"]["annotations"]
    assert size(fits) == LIMIT
    outcome = laws.patched(annotated(fill=text + "."))
    assert outcome.pod["metadata"]["annotations"] == {"fill": text + "."}
    assert "metadata.annotations" in outcome.response["warnings"][0]


def size(annotations: Pod) -> int:
    """Return the bytes that kube-apiserver counts."""
    return sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())


def test_m9_a_pod_that_is_being_deleted_keeps_its_finalizers() -> None:
    """Of the metadata, only our annotation changes."""
    metadata = {
        "name": "train",
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 30,
        "finalizers": ["example.com/guard"],
        "ownerReferences": [{"kind": "Job", "name": "train", "uid": "u", "controller": True}],
        "labels": {"a": "b"},
    }
    after = laws.patched(bare(metadata)).pod["metadata"]
    assert {key: after[key] for key in metadata} == metadata


@pytest.mark.parametrize(
    "user",
    [
        {"username": "system:serviceaccount:kube-system:job-controller"},
        {"username": "system:serviceaccount:kube-system:daemon-set-controller"},
        {"username": "kubernetes-admin", "groups": ["system:masters"]},
        {},
        None,
    ],
)
def test_m10_the_answer_does_not_depend_on_who_asks(user: Pod | None) -> None:
    """Controllers create most Pods, so a rule about users would deny or spare the wrong ones."""
    expected = laws.patched(gpu_pod(GPU), userInfo={"username": "alice"})
    assert laws.patched(gpu_pod(GPU), userInfo=user).operations == expected.operations
