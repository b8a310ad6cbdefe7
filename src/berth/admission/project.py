"""A raw Pod becomes the few fields that we read.

What is of another kind than Kubernetes allows is a BadReview: the API server refuses it before us.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TypedDict, cast

from berth import names
from berth.errors import BadReview
from berth.model.pod import NO_AFFINITY, Container, NodeAffinity, Pod
from berth.model.raw import Json, JsonObject, Path, dotted

_NOTHING: JsonObject = {}
_SPEC: Path = ("spec",)
_DICTS = {dict}


def pod(raw: JsonObject) -> Pod:
    """Read a Pod, or the metadata and spec of a Pod template. Raises BadReview."""
    metadata = mapping(raw, "metadata", ())
    spec = mapping(raw, "spec", ())
    seldom: _Seldom = {} if _SELDOM.isdisjoint(spec) else _seldom(spec)
    volumes = objects(spec, "volumes", _SPEC)
    return Pod(
        annotations=_stored(mapping(metadata, "annotations", ("metadata",))),
        labels=mapping(metadata, "labels", ("metadata",)),
        scheduler_name=_text(spec, "schedulerName", _SPEC) or "",
        host_paths=_host_paths(volumes),
        volumes=volumes,
        tolerations=objects(spec, "tolerations", _SPEC),
        containers=(*_containers(spec, "initContainers"), *_containers(spec, "containers")),
        **seldom,
    )


def _stored(annotations: JsonObject) -> JsonObject:
    """Return annotations as the API server stores them: null, which a template may leave, is ""."""
    if None not in annotations.values():
        return annotations
    return {key: "" if value is None else value for key, value in annotations.items()}


class _Seldom(TypedDict, total=False):
    """What most Pods say nothing of."""

    node_name: str
    runtime_class: str | None
    os: str
    pod_level: JsonObject
    affinity: NodeAffinity
    overhead: JsonObject
    priority_class: str


_SELDOM = frozenset(
    {
        "affinity",
        "nodeName",
        "nodeSelector",
        "os",
        "overhead",
        "priorityClassName",
        "resources",
        "runtimeClassName",
    }
)
"""The fields of a spec that `_seldom` reads."""


def _seldom(spec: JsonObject) -> _Seldom:
    level = mapping(spec, "resources", _SPEC)
    chooses = "affinity" in spec or "nodeSelector" in spec
    path: Path = ("spec", "resources")
    return {
        "node_name": _text(spec, "nodeName", _SPEC) or "",
        "runtime_class": _text(spec, "runtimeClassName", _SPEC),
        "os": _text(mapping(spec, "os", _SPEC), "name", ("spec", "os"))
        or _text(mapping(spec, "nodeSelector", _SPEC), names.OS_LABEL, ("spec", "nodeSelector"))
        or "",
        "pod_level": mapping(level, "limits", path) | mapping(level, "requests", path),
        "affinity": _affinity(spec) if chooses else NO_AFFINITY,
        "overhead": mapping(spec, "overhead", _SPEC),
        "priority_class": _text(spec, "priorityClassName", _SPEC) or "",
    }


def ephemeral(raw: JsonObject) -> tuple[Container, ...]:
    """Read the ephemeral containers of a Pod, which `pod` leaves out. Raises BadReview."""
    kind = "ephemeralContainers"
    entries = objects(mapping(raw, "spec", ()), kind, ("spec",))
    return tuple(_container(one, ("spec", kind, index)) for index, one in enumerate(entries))


def _containers(spec: JsonObject, kind: str) -> list[Container]:
    if kind not in spec:
        return []
    listed = objects(spec, kind, _SPEC)
    return [_container(one, ("spec", kind, index)) for index, one in enumerate(listed)]


def _container(raw: JsonObject, path: Path) -> Container:
    resources = mapping(raw, "resources", path)
    secured = "securityContext" in raw
    security = mapping(raw, "securityContext", path) if secured else _NOTHING
    env, env_names = _variables(raw, path) if "env" in raw else (_NO_ENV, _NO_NAMES)
    return Container(
        path=path,
        name=_text(raw, "name", path) or "",
        limits=_amounts(resources, "limits", path),
        requests=_amounts(resources, "requests", path),
        env=env,
        env_names=env_names,
        mounts=objects(raw, "volumeMounts", path),
        privileged=security.get("privileged") is True,
        has_claims="claims" in resources and bool(resources["claims"]),
        sidecar="restartPolicy" in raw
        and path[1] == "initContainers"
        and raw["restartPolicy"] == "Always",
    )


def _amounts(resources: JsonObject, kind: str, path: Path) -> JsonObject:
    found = resources.get(kind)
    return found if type(found) is dict else mapping(resources, kind, (*path, "resources"))


_NO_ENV: Sequence[JsonObject] = ()
_NO_NAMES: AbstractSet[str] = frozenset()


def _variables(container: JsonObject, path: Path) -> tuple[Sequence[JsonObject], AbstractSet[str]]:
    """Return the raw env entries and their names; a container may have hundreds."""
    if container.get("env") is None:
        return _NO_ENV, _NO_NAMES
    if not isinstance(container["env"], list):  # "" and {} have no entry that would give it away
        raise _malformed((*path, "env"), "a list")
    entries = cast("list[JsonObject]", container["env"])
    try:
        names: set[Json] = {entry["name"] for entry in entries}
    except (TypeError, KeyError):  # not what a client means to send: look again, and say what
        entries = objects(container, "env", path)
        names = {_text(entry, "name", (*path, "env")) or "" for entry in entries}
    known = cast("set[str]", names)
    try:
        "".join(known)  # the cheapest way to ask whether all are text
    except TypeError:
        raise _malformed((*path, "env"), "a list of objects with names") from None
    return entries, known


def _affinity(spec: JsonObject) -> NodeAffinity:
    affinity = mapping(spec, "affinity", ("spec",))
    path: Path = ("spec", "affinity")
    node = mapping(affinity, "nodeAffinity", path)
    path = (*path, "nodeAffinity")
    required = mapping(node, names.REQUIRED_AFFINITY, path)
    return NodeAffinity(
        selector=mapping(spec, "nodeSelector", ("spec",)),
        terms=objects(required, names.NODE_TERMS, (*path, names.REQUIRED_AFFINITY)),
        required=node.get(names.REQUIRED_AFFINITY) is not None,
        preferred=objects(node, names.PREFERRED_AFFINITY, path),
    )


def _host_paths(volumes: list[JsonObject]) -> dict[str, str]:
    found = {}
    for index, volume in enumerate(volumes):
        if "hostPath" in volume:
            path = ("spec", "volumes", index)
            host = _text(mapping(volume, "hostPath", path), "path", (*path, "hostPath"))
            if host:
                found[_text(volume, "name", path) or ""] = host
    return found


def mapping(parent: JsonObject, key: str, path: Path) -> JsonObject:
    """Return the object at `key`, empty where it lacks or is null. Raises BadReview."""
    value = parent.get(key)
    if value is None:
        return _NOTHING
    if not isinstance(value, dict):
        raise _malformed((*path, key), "an object")
    return value


def objects(parent: JsonObject, key: str, path: Path) -> list[JsonObject]:
    """Return the list of objects at `key`, empty where it lacks. Raises BadReview."""
    value: Json = parent.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _malformed((*path, key), "a list")
    if not _DICTS.issuperset(map(type, value)):
        raise _malformed((*path, key), "a list of objects")
    return value  # type: ignore[return-value]  # as was just seen; a cast is a call


def _text(parent: JsonObject, key: str, path: Path) -> str | None:
    value = parent.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _malformed((*path, key), "a string")


def _malformed(path: Path, wanted: str) -> BadReview:
    return BadReview(f"{dotted(path)} is not {wanted}")
