"""Which Pods are our business. Reads the raw Pod, as most leave after these few look-ups."""

from collections.abc import Iterable

from berth import names
from berth.admission.rules import Rules
from berth.model.raw import Json, JsonObject
from berth.model.said import Said

_NOTHING: JsonObject = {}
MOST_CONTAINERS = 500
"""No Pod that runs has nearly as many; reading each costs 60 us, and other callers wait."""

MOST_ANNOTATION = 256 * 1024
"""Bytes of all annotations of an object (apimachinery's TotalAnnotationSizeLimitB). The API server
refuses what has more, but after us: 3 MiB of them would hold up other callers for seconds."""


def ignored(raw: JsonObject, namespace: str, rules: Rules) -> Said | None:
    """Say why the Pod is left alone whatever it asks for, or None (HAMi contract 1.2, step 3)."""
    return _left_out(raw, namespace, rules) or _other_scheduler(
        _object(raw.get("spec")).get("schedulerName") or "", rules
    )


def conflicts(raw: JsonObject, namespace: str, rules: Rules) -> bool:
    """Whether only the Pod's scheduler keeps us from what it asks for, or from the Pod as such."""
    if _left_out(raw, namespace, rules) is not None:
        return False
    return rules.whole_pods or names_known(raw, rules)


def _left_out(raw: JsonObject, namespace: str, rules: Rules) -> Said | None:
    if namespace in rules.excluded_namespaces:
        return Said("left.namespace", {"namespace": namespace})
    metadata = _object(raw.get("metadata"))
    annotations = _object(metadata.get("annotations"))
    if names.MIRROR_ANNOTATION in annotations:
        return Said("left.mirror")
    if sum([len(text) for text in annotations.values() if type(text) is str]) > MOST_ANNOTATION:
        return Said("left.too-long", {"most": MOST_ANNOTATION})
    labels = _object(metadata["labels"]) if "labels" in metadata else _NOTHING
    for key, value in names.OPT_OUTS if labels else ():
        if labels.get(key) == value:
            return Said("left.opt-out", {"label": f"{key}={value}"})
    return None


def is_mirror(raw: JsonObject, user: str) -> bool:
    """Whether a kubelet shows a static Pod, which runs already."""
    annotations = _object(_object(raw.get("metadata")).get("annotations"))
    return user.startswith(names.NODE_USER) and names.MIRROR_ANNOTATION in annotations


def _other_scheduler(scheduler: Json, rules: Rules) -> Said | None:
    if isinstance(scheduler, str) and scheduler in rules.schedulers:
        return None
    if scheduler == names.DEFAULT_SCHEDULER:
        return Said("left.default-scheduler")
    return Said("left.other-scheduler", {"scheduler": str(scheduler)})


def concerns(raw: JsonObject, rules: Rules) -> bool:
    """Whether the Pod names one of our resources, or is changed for another reason."""
    return rules.sees_others or names_known(raw, rules)


def containers(raw: JsonObject) -> int:
    """Count the containers of a Pod."""
    spec = _object(raw.get("spec"))
    listed = spec.get("containers"), spec.get("initContainers")
    return sum([len(one) for one in listed if isinstance(one, list)])


def names_known(raw: JsonObject, rules: Rules) -> bool:
    """Whether the Pod names one of our resources, rightly or as an annotation."""
    known = rules.known
    spec = _object(raw.get("spec"))
    for kind in ("containers", "initContainers"):
        for container in _objects(spec.get(kind)):
            if _names(container.get("resources"), known):
                return True
    annotations = _object(_object(raw.get("metadata")).get("annotations"))
    return _names(spec.get("resources"), known) or not rules.told_by.isdisjoint(annotations)


def _names(resources: Json, known: frozenset[str]) -> bool:
    if not isinstance(resources, dict):
        return False
    return not known.isdisjoint(_object(resources.get("limits"))) or not known.isdisjoint(
        _object(resources.get("requests"))
    )


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else _NOTHING


def _objects(value: Json) -> Iterable[JsonObject]:
    if not isinstance(value, list):
        return ()
    return [entry for entry in value if isinstance(entry, dict)]
