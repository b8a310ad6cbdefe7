"""The three AdmissionReview bodies of the admission benchmark, as kube-apiserver sends them."""

import json

from benchmarks.pods import JSON, Object, train, web

BODIES = ("cpu", "gpu", "train")
SIZES = {"cpu": 1900, "gpu": 2000, "train": 8600}
"""Wanted size of each body in bytes; a body is within 5 % of it."""


def bodies() -> dict[str, bytes]:
    """Return the JSON body of `cpu`, `gpu` and `train`, the same bytes on every call.

    Raises ValueError when a body strays more than 5 % from its size in SIZES.
    """
    pods = {"cpu": web("web", gpu=False), "gpu": web("web", gpu=True), "train": train()}
    made = {name: _compact(_review(pod)) for name, pod in pods.items()}
    for name, body in made.items():
        if abs(len(body) - SIZES[name]) > 0.05 * SIZES[name]:
            raise ValueError(
                f"The {name} body has {len(body)} bytes, more than 5 % from {SIZES[name]}: "
                "bring benchmarks/pods.py or SIZES back in line."
            )
    return made


def _compact(review: Object) -> bytes:
    return json.dumps(review, separators=(",", ":")).encode()


def _review(pod: Object) -> Object:
    kind: JSON = {"group": "", "version": "v1", "kind": "Pod"}
    resource: JSON = {"group": "", "version": "v1", "resource": "pods"}
    options = {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "kubectl"}
    request: Object = {
        "uid": "7f1c2a52-4b0e-4f2d-9a63-0d1f5e8c9b37",
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "name": _name(pod),
        "namespace": "team-a",
        "operation": "CREATE",
        "userInfo": {"username": "ada", "groups": ["system:authenticated"]},
        "object": pod,
        "oldObject": None,
        "dryRun": False,
        "options": options,
    }
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def _name(pod: Object) -> JSON:
    metadata = pod["metadata"]
    return metadata["name"] if isinstance(metadata, dict) else ""
