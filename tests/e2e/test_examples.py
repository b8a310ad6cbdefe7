"""Our own examples, created on the real API server through the registered webhook."""

from pathlib import Path
from typing import Any

import jsonpatch
import jsonpointer
import pytest

from berth.admission import templates
from berth.cli import documents
from tests.cluster.kubectl import Kubectl
from tests.e2e import stored
from tests.e2e.api import Api
from tests.webhook import Webhook

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())


def _pod(folder: str) -> dict[str, Any]:
    ((_, document),) = documents.read([str(EXAMPLES / folder / "pod.yaml")])
    (template,) = templates.find(document)
    pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", **template.pod}
    pod["metadata"] = {**pod.get("metadata", {}), "name": folder}
    return pod


def _expected(folder: str) -> dict[str, Any]:
    ((_, document),) = documents.read([str(EXAMPLES / folder / "expected.yaml")])
    return dict(document)


@pytest.mark.parametrize("folder", [f for f in FOLDERS if _expected(f)["decision"] != "refused"])
def test_an_example_is_stored_as_it_promises(
    folder: str, api: Api, registered: Webhook, space: str, space_without_us: str
) -> None:
    """What the API server stores is the Pod without us, plus the patch in expected.yaml."""
    assert registered.process.poll() is None
    pod = _pod(folder)
    without_us = stored.comparable(api.stored(pod, space_without_us))
    with_us = stored.comparable(api.stored(pod, space))
    patch = _expected(folder).get("patch", [])
    assert with_us == jsonpatch.apply_patch(without_us, _onto_what_is_there(without_us, patch))


def _onto_what_is_there(pod: dict[str, Any], patch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge parents that a patch for a file adds with those that the API server has made."""
    merged = []
    for operation in patch:
        there = jsonpointer.resolve_pointer(pod, operation["path"], None)
        if operation["op"] == "add" and isinstance(there, dict):
            merged.append({**operation, "value": {**there, **operation["value"]}})
        else:
            merged.append(operation)
    return merged


@pytest.mark.parametrize("folder", [f for f in FOLDERS if _expected(f)["decision"] == "refused"])
def test_kubectl_shows_why_an_example_is_refused(
    folder: str, registered: Webhook, kubectl: Kubectl
) -> None:
    """Every reason of expected.yaml reaches the user, by the real kubectl."""
    assert registered.process.poll() is None
    done = kubectl("create", "-f", str(EXAMPLES / folder / "pod.yaml"), check=False)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    for reason in _expected(folder)["reasons"]:
        field, _, what = reason.partition(": ")
        assert field in said
        assert what in said
