"""Peer `flask`: a webhook as tutorials write it. Fixed: kept unchanged so that runs compare.

Its JSON Patch operations are written by hand; gunicorn serves `app`.
"""

import base64
import json
from typing import Any

from flask import Flask, Response, jsonify, request

app = Flask(__name__)


@app.post("/mutate")
def mutate() -> Response:
    """Answer the review with gpucores for each GPU container and a scheduler for the Pod."""
    review: dict[str, Any] = request.get_json()
    answer: dict[str, Any] = {"uid": review["request"]["uid"], "allowed": True}
    operations = patch(review["request"]["object"])
    if operations:
        answer["patchType"] = "JSONPatch"
        answer["patch"] = base64.b64encode(json.dumps(operations).encode()).decode()
    return jsonify(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}
    )


def patch(pod: dict[str, Any]) -> list[dict[str, str]]:
    """Return the JSON Patch operations the Pod needs, none without a GPU."""
    operations = []
    for index, container in enumerate(pod["spec"]["containers"]):
        limits = container.get("resources", {}).get("limits", {})
        if "nvidia.com/gpu" in limits:
            path = f"/spec/containers/{index}/resources/limits/nvidia.com~1gpucores"
            operations.append({"op": "add", "path": path, "value": "100"})
    if operations:
        operations.append({"op": "add", "path": "/spec/schedulerName", "value": "gpu-scheduler"})
    return operations
