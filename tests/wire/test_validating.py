"""The validating path of the running webhook: vectors O1 to O10 there, and I8 over the wire."""

from typing import Any

import pytest

from tests.pods import gpu_pod
from tests.vectors.laws import ask
from tests.webhook import Webhook, review
from tests.wire import raw

GPU = gpu_pod({"nvidia.com/gpu": "1"})
REWRITTEN = ask(GPU).pod
DEBUG = [{"name": "debug", "image": "registry.example/debug:1", "targetContainerName": "main"}]
PASSES: dict[str, tuple[Any, dict[str, Any]]] = {
    "O1": (None, {"operation": "DELETE", "oldObject": GPU}),
    "O2": ({"command": ["sh"]}, {"operation": "CONNECT", "subResource": "exec"}),
    "O3": (GPU, {"operation": "UPDATE", "oldObject": GPU | {"metadata": {}}}),
    "O4": (GPU, {"operation": "UPDATE", "oldObject": GPU, "subResource": "status"}),
    "O5": (
        gpu_pod({"nvidia.com/gpu": "1"}, ephemeralContainers=DEBUG),
        {"operation": "UPDATE", "oldObject": GPU, "subResource": "ephemeralcontainers"},
    ),
    "O6": (GPU, {"operation": "UPDATE", "oldObject": GPU, "subResource": "resize"}),
    "O7": (GPU, {"subResource": "binding"}),
    "O10": (GPU, {"operation": "FOO"}),
    "O12": (GPU, {"namespace": "kube-system"}),
    "rewritten": (REWRITTEN, {}),
}


@pytest.mark.parametrize(("asked", "request_"), PASSES.values(), ids=PASSES.keys())
def test_what_is_not_to_be_refused_passes(
    webhook: Webhook, asked: Any, request_: dict[str, Any]
) -> None:
    """Without a patch and without a warning."""
    answer = webhook.ask(review(asked, **request_), path="/validate")
    assert answer.status == 200
    assert answer.response["allowed"] is True
    assert not answer.response.keys() & {"patch", "patchType", "warnings", "status"}


def test_i8_the_validating_path_refuses_and_never_patches(webhook: Webhook) -> None:
    """What the mutating path patches is refused here, in words, with its code in log and metric."""
    answer = webhook.ask(review(GPU, uid="i8"), path="/validate")
    assert answer.response["status"]["code"] == 403
    assert answer.patch == []
    line = raw.logged(webhook, "i8")
    assert (line["path"], line["codes"]) == ("/validate", ["undone"])
    assert webhook.figure("berth_refusals_total", code="undone") >= 1


def test_the_path_has_the_same_door(webhook: Webhook) -> None:
    """Method, type and shape are held to what they are on the mutating path."""
    assert webhook.ask(path="/validate", method="GET").status == 405
    assert webhook.ask(b"{}", path="/validate").status == 400
    assert webhook.ask(review(GPU), path="/validate", headers={}).status == 415
    malformed = {"metadata": {"annotations": 1}, "spec": {"ephemeralContainers": "x"}}
    update = {"operation": "UPDATE", "oldObject": GPU, "subResource": "ephemeralcontainers"}
    assert webhook.ask(review(malformed, **update), path="/validate").status == 400
