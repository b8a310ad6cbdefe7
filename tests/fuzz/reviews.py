"""The honest reviews that hostile bodies are made of: as kube-apiserver sends them."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, TypeAlias

from benchmarks import pods as benchmark_pods
from tests import pods, webhook
from tests.corpus import corpus
from tests.fuzz.values import SECRET

Review: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str | int, ...]

_GPU = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "3000", "nvidia.com/gpucores": "30"}
_ENV = (
    *({"name": "TOKEN", "value": SECRET}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}),
    {"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"},
    {"name": "HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
    {"name": "LD_PRELOAD", "value": "/lib/mine.so"},
)
_USER = {
    "username": "system:serviceaccount:team-a:job",
    "uid": "b7d2",
    "groups": ["system:authenticated"],
    "extra": {"authentication.kubernetes.io/credential-id": [SECRET]},
}


def rich() -> Review:
    """Return a review whose Pod has all that the admission code reads."""
    main = pods.container(
        limits=_GPU | {"nvidia.com/priority": "1", "cpu": "1"},
        env=[*deepcopy(_ENV)],
        securityContext={"privileged": False},
        volumeMounts=[{"name": "data", "mountPath": "/data"}],
        args=["--password", SECRET],
    )
    side = pods.container("side", {"nvidia.com/gpumem-percentage": "50"}, restartPolicy="Always")
    plain = pods.container("plain", {"cpu": "1"}, env=[{"name": "KEY", "value": SECRET}])
    pod = pods.pod(
        *(main, plain),
        metadata={
            "generateName": "train-",
            "labels": {"app": "train"},
            "annotations": {
                "berth.dev/original-request": '{"v":1,"containers":{"main":{}}}',
                "nvidia.com/use-gputype": "A100",
                "example.com/password": SECRET,
            },
        },
        initContainers=[side],
        nodeName="",
        runtimeClassName="nvidia",
        os={"name": "linux"},
        nodeSelector={"kubernetes.io/os": "linux"},
        tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
        volumes=[{"name": "data", "hostPath": {"path": "/dev/nvidia0", "type": ""}}],
        resources={"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
    )
    return webhook.review(pod, userInfo=_USER, name="")


def every() -> tuple[Review, ...]:
    """Return the rich review, two as of a busy cluster, and those of the public manifests."""
    served: list[Any] = [benchmark_pods.web("web", gpu=True), benchmark_pods.train()]
    public = [pod for _, pod in corpus.pods()]
    return (rich(), *(webhook.review(pod, userInfo=_USER) for pod in served + public))


def places(node: Any, above: Place = ()) -> Iterator[Place]:
    """Yield where each value in a document stands, the document itself first."""
    yield above
    if isinstance(node, dict):
        for key, value in node.items():
            yield from places(value, (*above, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from places(value, (*above, index))


def at(node: Any, place: Place) -> Any:
    """Return what stands at a place."""
    for key in place:
        node = node[key]
    return node
