"""Bodies of reviews, in the bytes that kube-apiserver sends: keys in Go's order, and no blanks."""

import copy
import json
from typing import Any

UID = "7f1c2a52-4b0e-4f2d-9a63-0d1f5e8c9b37"
VOLUME = "kube-api-access-wzdpl"
_ESCAPES = (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"))


def body(
    pod: dict[str, Any],
    *,
    name: str = "",
    volume: str = VOLUME,
    time: str = "2026-11-30T14:14:20Z",
    born: str = "",
    **request: Any,
) -> bytes:
    """Return the review of the creation of `pod`, with a token volume and one managed field.

    `name` is the Pod's; without one it comes as a controller's does, with a generateName. `born` is
    the uid that it has, with a time of creation, when it is validated.
    """
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    resource = {"group": "", "version": "v1", "resource": "pods"}
    asked = {
        "uid": UID,
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        **({"name": name} if name else {}),
        "namespace": "default",
        "operation": "CREATE",
        "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
        "object": _object(pod, name, volume, time, born),
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        **request,
    }
    review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": asked}
    text = json.dumps(review, separators=(",", ":"), ensure_ascii=False)
    for char, escape in _ESCAPES:
        text = text.replace(char, escape)
    return text.encode()


def _object(pod: dict[str, Any], name: str, volume: str, time: str, born: str) -> dict[str, Any]:
    metadata = {key: value for key, value in pod["metadata"].items() if key not in _NAMES}
    managed = {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1"}
    managed |= {"time": time, "fieldsType": "FieldsV1"}
    named: dict[str, Any] = {"name": name} if name else {"generateName": "web-"}
    if born:
        named |= {"uid": born, "generation": 1, "creationTimestamp": time}
    spec, source = copy.deepcopy(pod["spec"]), {"serviceAccountToken": {"path": "token"}}
    mount = {"name": volume, "readOnly": True, "mountPath": _MOUNT}
    spec = {
        "volumes": [{"name": volume, "projected": {"sources": [source]}}, *spec.pop("volumes", [])],
        **spec,
    }
    for each in spec["containers"]:
        each["volumeMounts"] = [*(each.get("volumeMounts") or []), mount]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {**named, **metadata, "managedFields": [managed]},
        "spec": spec,
        "status": {},
    }


_NAMES = ("name", "generateName")
_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
