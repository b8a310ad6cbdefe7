"""Pods with and without a share, and who changes their annotations, for tests of validation."""

import json
from collections.abc import Mapping
from typing import Any

from tests import pods
from tests.e2e.api import Api

VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
MERGE = "application/merge-patch+json"
NODE = "hami.io/vgpu-node"
GIVEN = "hami.io/vgpu-devices-allocated"
SCHEDULER = "system:serviceaccount:kube-system:hami-scheduler"


def gpu(name: str, **metadata: Any) -> dict[str, Any]:
    """Return a Pod with a share of a card."""
    pod = pods.gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "1000"})
    pod["metadata"] = {"name": name, **metadata}
    return pod


def web(name: str, **metadata: Any) -> dict[str, Any]:
    """Return a Pod without a device."""
    pod = pods.pod(pods.container("web", {"cpu": "1m"}))
    pod["metadata"] = {"name": name, **metadata}
    return pod


def annotated(api: Api, path: str, annotations: Mapping[str, str | None]) -> tuple[int, Any]:
    """Patch the annotations of a Pod as the administrator, whom the settings do not name."""
    return api.ask("PATCH", path, {"metadata": {"annotations": annotations}}, MERGE)


def as_user(api: Api, user: str, path: str, annotations: Mapping[str, str]) -> tuple[int, Any]:
    """Patch annotations as somebody else."""
    return _asked_as(api, user, ("PATCH", path, MERGE), {"metadata": {"annotations": annotations}})


def bound(api: Api, user: str, path: str, annotations: Mapping[str, str]) -> tuple[int, Any]:
    """Try to send the Pod "taken" to a node as somebody else; a dry run, as it would stay there."""
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "taken", "annotations": annotations},
        "target": {"kind": "Node", "name": "n1"},
    }
    return _asked_as(api, user, ("POST", f"{path}?dryRun=All", "application/json"), binding)


def _asked_as(
    api: Api, user: str, request: tuple[str, str, str], body: dict[str, Any]
) -> tuple[int, Any]:
    """Send a request (method, path, type) by impersonation."""
    method, path, kind = request
    headers = {
        "Content-Type": kind,
        "Impersonate-User": user,
        "Impersonate-Group": "system:masters",
    }
    api.connection.request(method, path, json.dumps(body), headers)
    answer = api.connection.getresponse()
    return answer.status, json.loads(answer.read())
