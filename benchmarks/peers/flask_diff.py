"""Peer `flask-jsonpatch`: a webhook that diffs Pods. Fixed: kept unchanged so that runs compare.

It changes a deep copy and lets jsonpatch find the operations; gunicorn serves `app`.
"""

import base64
import copy
from typing import Any

import jsonpatch
from flask import Flask, Response, jsonify, request

app = Flask(__name__)


@app.post("/mutate")
def mutate() -> Response:
    """Answer the review with the difference between the Pod and its changed copy."""
    review: dict[str, Any] = request.get_json()
    answer: dict[str, Any] = {"uid": review["request"]["uid"], "allowed": True}
    original = review["request"]["object"]
    changed = copy.deepcopy(original)
    change(changed)
    patch = jsonpatch.make_patch(original, changed)
    if patch:
        answer["patchType"] = "JSONPatch"
        answer["patch"] = base64.b64encode(patch.to_string().encode()).decode()
    return jsonify(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}
    )


def change(pod: dict[str, Any]) -> None:
    """Give each GPU container gpucores and a Pod with one the scheduler, in place."""
    for container in pod["spec"]["containers"]:
        limits = container.get("resources", {}).get("limits", {})
        if "nvidia.com/gpu" in limits:
            limits["nvidia.com/gpucores"] = "100"
            pod["spec"]["schedulerName"] = "gpu-scheduler"
