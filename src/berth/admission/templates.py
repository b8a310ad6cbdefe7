"""Where Pods stand in the kinds that people write: in a Pod itself, or under a Pod template."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from berth.model.raw import Json, JsonObject, Path

_GROUPS = ("", "apps", "batch")
RUN_PODS = frozenset(
    {"Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"}
)
"""Kinds of Kubernetes' own in which a Pod must stand."""


@dataclass(frozen=True, slots=True)
class Template:
    """A Pod, or the metadata and spec that a controller makes Pods of."""

    path: Path
    """Where in its document it stands; () is a Pod itself."""
    pod: JsonObject


def find(document: JsonObject) -> Iterator[Template]:
    """Yield every Pod template, in the order of the document, whatever its kind.

    A template is known by its shape, `spec.containers`, so that kinds which nobody has heard of
    (RayCluster, PyTorchJob, LeaderWorkerSet …) are read too.
    """
    yield from _within(document, ())


def is_kubernetes_own(document: JsonObject) -> bool:
    """Whether a controller of Kubernetes itself makes its Pods."""
    return document.get("kind") in RUN_PODS and _group(document) in _GROUPS


def has_queue(document: JsonObject) -> bool:
    """Whether its Pods get a PodGroup with a queue of its own, as those of Volcano's Jobs."""
    return _group(document).endswith("volcano.sh")


def _group(document: JsonObject) -> str:
    group, slash, _ = str(document.get("apiVersion") or "").partition("/")
    return group if slash else ""


def _within(node: Json, path: Path) -> Iterator[Template]:
    if isinstance(node, list):
        for index, entry in enumerate(node):
            yield from _within(entry, (*path, index))
    if not isinstance(node, dict):
        return
    spec = node.get("spec")
    if isinstance(spec, dict) and _is_list_of_objects(spec.get("containers")):
        yield Template(path, node)
        return
    for key, value in node.items():
        yield from _within(value, (*path, key))


def asked_elsewhere(document: JsonObject, known: AbstractSet[str]) -> str:
    """Return one of these resources that is asked for where no template is; "" if none is.

    KServe's InferenceService has the spec of a Pod itself, Argo's Workflow has single containers.
    """
    return next(_asked(document, known), "")


def _asked(node: Json, known: AbstractSet[str]) -> Iterator[str]:
    if isinstance(node, list):
        for entry in node:
            yield from _asked(entry, known)
    if not isinstance(node, dict):
        return
    resources = node.get("resources")
    for kind in ("limits", "requests"):
        amounts = resources.get(kind) if isinstance(resources, dict) else None
        yield from (name for name in amounts if name in known) if isinstance(amounts, dict) else ()
    for value in node.values():
        yield from _asked(value, known)


def _is_list_of_objects(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(e, dict) for e in value)
