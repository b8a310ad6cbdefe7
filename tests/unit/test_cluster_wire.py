"""Lists, events and refusals as the API server writes them."""

import pytest

from berth.cluster import wire
from berth.cluster.projections import Pod, ResourceQuota
from berth.errors import ReadFailed

POD = b"""{
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "train", "namespace": "a", "uid": "u", "resourceVersion": "12",
    "deletionTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": "x"}, "managedFields": [{}],
    "annotations": {"berth.dev/original-request": "{}", "other": "long"}},
  "spec": {"nodeName": "n1", "volumes": [],
    "initContainers": [{"name": "side", "restartPolicy": "Always", "resources": {}}],
    "containers": [{"name": "main", "image": "i", "env": [],
      "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}}]},
  "status": {"phase": "Running", "podIPs": []}
}"""
QUOTA = b"""{"metadata": {"name": "q", "namespace": "a"}, "spec": {"hard": {"pods": "4"},
  "scopes": ["NotTerminating"]}, "status": {"hard": {"pods": "4"}, "used": {"pods": "1"}}}"""


def line(type_: str, object_: bytes) -> bytes:
    """Return a line of a watch."""
    return b'{"type":"' + type_.encode() + b'","object":' + object_ + b"}"


def test_a_pod_is_read_as_the_fields_that_we_keep() -> None:
    """And nothing of the rest."""
    event = wire.Decoder(Pod).event(line("MODIFIED", POD))
    pod = event.object
    assert pod is not None
    assert (event.version, event.deleted) == ("12", False)
    assert pod.key == ("a", "train")
    assert pod.metadata.deletion_timestamp == "2026-01-01T00:00:00Z"
    assert pod.metadata.labels == {"app": "x"}
    assert pod.metadata.annotations == {"berth.dev/original-request": "{}"}
    assert pod.spec.node_name == "n1"
    assert pod.spec.containers[0].resources.limits == {"nvidia.com/gpu": "1"}
    assert pod.spec.init_containers[0].restart_policy == "Always"
    assert pod.status.phase == "Running"


def test_a_quota_is_read() -> None:
    """What is allowed, for Pods of all scopes."""
    (quota,) = wire.Decoder(ResourceQuota).page(b'{"items": [' + QUOTA + b"]}").items
    assert quota.spec.hard == {"pods": "4"}


@pytest.mark.parametrize("items", [b"null", b"[]"])
def test_an_empty_list_may_be_null(items: bytes) -> None:
    """Some servers of custom resources write it so."""
    body = b'{"items": ' + items + b', "metadata": {"resourceVersion": "5", "continue": "t"}}'
    assert wire.Decoder(Pod).page(body) == wire.Page(items=[], version="5", rest="t")


def test_a_bookmark_says_its_version_alone() -> None:
    """Its object is a Pod without a name."""
    empty = b'{"kind":"Pod","metadata":{"resourceVersion":"90"},"spec":{"containers":null}}'
    assert wire.Decoder(Pod).event(line("BOOKMARK", empty)) == wire.Event(version="90")


def test_an_error_in_the_stream_has_the_code_of_its_status() -> None:
    """410 as the API server writes it after a compaction, and how long to wait where it says so."""
    gone = b'{"kind":"Status","code":410,"reason":"Expired","message":"too old"}'
    with pytest.raises(ReadFailed, match=r"^HTTP 410: too old$") as caught:
        wire.Decoder(Pod).event(line("ERROR", gone))
    assert caught.value.status == 410
    busy = b'{"code":429,"message":"storage is busy","details":{"retryAfterSeconds":7}}'
    with pytest.raises(ReadFailed) as caught:
        wire.Decoder(Pod).event(line("ERROR", busy))
    assert (caught.value.status, caught.value.retry_after) == (429, 7)


@pytest.mark.parametrize("text", [b"", b"{", b'{"type":"NEW","object":{}}', line("ADDED", b"{}")])
def test_what_cannot_be_read_is_no_event(text: bytes) -> None:
    """It is not passed over: the store would no longer be what the server has."""
    with pytest.raises(ReadFailed, match="an event from the API server cannot be read"):
        wire.Decoder(Pod).event(text)


def test_a_refusal_by_a_proxy_is_told_too() -> None:
    """HTML, or nothing: then the status of the answer is all there is."""
    assert str(wire.refusal(502, b"<html>")) == "HTTP 502: no reason given"
    assert wire.refusal(503, b"", 3).retry_after == 3
