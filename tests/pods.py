"""Pods for tests, as kube-apiserver shows them to a webhook: requests equal to limits."""

from typing import Any

Pod = dict[str, Any]


def container(name: str = "main", limits: dict[str, Any] | None = None, **more: Any) -> Pod:
    """Return a container whose requests are its limits, as defaulting leaves them."""
    resources = {"limits": dict(limits), "requests": dict(limits)} if limits else {}
    return {"name": name, "image": "registry.example/app:1", "resources": resources, **more}


def pod(*containers: Pod, metadata: Pod | None = None, **spec: Any) -> Pod:
    """Return a Pod of the default scheduler."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train", "namespace": "default", **(metadata or {})},
        "spec": {
            "containers": list(containers),
            "schedulerName": "default-scheduler",
            "restartPolicy": "Always",
            **spec,
        },
        "status": {},
    }


def gpu_pod(limits: dict[str, Any], **spec: Any) -> Pod:
    """Return a Pod with one container that has `limits`."""
    return pod(container(limits=limits), **spec)
