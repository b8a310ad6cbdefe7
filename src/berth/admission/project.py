"""A raw Pod becomes the few fields that we read.

What is of another kind than Kubernetes allows is a BadReview: the API server refuses it before us.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import cast

from berth import names
from berth.errors import BadReview
from berth.model.pod import ANYWHERE, Container, Pod, Wishes
from berth.model.raw import Json, JsonObject, Path, dotted

_NOTHING: JsonObject = {}


def pod(raw: JsonObject) -> Pod:
    """Read a Pod, or the metadata and spec of a Pod template. Raises BadReview."""
    metadata = mapping(raw, "metadata", ())
    spec = mapping(raw, "spec", ())
    level = mapping(spec, "resources", ("spec",))
    volumes = objects(spec, "volumes", ("spec",))
    return Pod(
        annotations=mapping(metadata, "annotations", ("metadata",)),
        labels=mapping(metadata, "labels", ("metadata",)),
        scheduler_name=_text(spec, "schedulerName", ("spec",)) or "",
        node_name=_text(spec, "nodeName", ("spec",)) or "",
        runtime_class=_text(spec, "runtimeClassName", ("spec",)),
        os=_text(mapping(spec, "os", ("spec",)), "name", ("spec", "os"))
        or _text(mapping(spec, "nodeSelector", ("spec",)), names.OS_LABEL, ("spec", "nodeSelector"))
        or "",
        pod_level=mapping(level, "limits", ("spec", "resources"))
        | mapping(level, "requests", ("spec", "resources")),
        host_paths=_host_paths(volumes),
        volumes=volumes,
        tolerations=objects(spec, "tolerations", ("spec",)),
        nodes=_nodes(spec) if "affinity" in spec or "nodeSelector" in spec else ANYWHERE,
        overhead=mapping(spec, "overhead", ("spec",)),
        priority_class=_text(spec, "priorityClassName", ("spec",)) or "",
        containers=tuple(
            _container(container, ("spec", kind, index))
            for kind in ("initContainers", "containers")
            for index, container in enumerate(objects(spec, kind, ("spec",)))
        ),
    )


def ephemeral(raw: JsonObject) -> tuple[Container, ...]:
    """Read the ephemeral containers of a Pod, which `pod` leaves out. Raises BadReview."""
    kind = "ephemeralContainers"
    entries = objects(mapping(raw, "spec", ()), kind, ("spec",))
    return tuple(_container(one, ("spec", kind, index)) for index, one in enumerate(entries))


def _container(raw: JsonObject, path: Path) -> Container:
    resources = mapping(raw, "resources", path)
    security = mapping(raw, "securityContext", path)
    env, env_names = _variables(raw, path)
    return Container(
        path=path,
        name=_text(raw, "name", path) or "",
        limits=mapping(resources, "limits", (*path, "resources")),
        requests=mapping(resources, "requests", (*path, "resources")),
        env=env,
        env_names=env_names,
        mounts=objects(raw, "volumeMounts", path),
        privileged=security.get("privileged") is True,
        has_claims=bool(resources.get("claims")),
        sidecar=path[1] == "initContainers" and raw.get("restartPolicy") == "Always",
    )


def _variables(container: JsonObject, path: Path) -> tuple[Sequence[JsonObject], AbstractSet[str]]:
    """Return the raw env entries and their names; a container may have hundreds."""
    if container.get("env") is None:
        return (), frozenset()
    if not isinstance(container["env"], list):  # "" and {} have no entry that would give it away
        raise _malformed((*path, "env"), "a list")
    entries = cast("list[JsonObject]", container["env"])
    try:
        names: set[Json] = {entry["name"] for entry in entries}
    except (TypeError, KeyError):  # not what a client means to send: look again, and say what
        entries = objects(container, "env", path)
        names = {_text(entry, "name", (*path, "env")) or "" for entry in entries}
    if not set(map(type, names)) <= {str}:
        raise _malformed((*path, "env"), "a list of objects with names")
    return entries, cast("set[str]", names)


def _nodes(spec: JsonObject) -> Wishes:
    affinity = mapping(spec, "affinity", ("spec",))
    path: Path = ("spec", "affinity")
    node = mapping(affinity, "nodeAffinity", path)
    path = (*path, "nodeAffinity")
    required = mapping(node, names.REQUIRED_AFFINITY, path)
    return Wishes(
        selector=mapping(spec, "nodeSelector", ("spec",)),
        terms=objects(required, names.NODE_TERMS, (*path, names.REQUIRED_AFFINITY)),
        required=node.get(names.REQUIRED_AFFINITY) is not None,
        preferred=objects(node, names.PREFERRED_AFFINITY, path),
    )


def _host_paths(volumes: list[JsonObject]) -> dict[str, str]:
    found = {}
    for index, volume in enumerate(volumes):
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
    if not set(map(type, value)) <= {dict}:
        raise _malformed((*path, key), "a list of objects")
    return cast("list[JsonObject]", value)


def _text(parent: JsonObject, key: str, path: Path) -> str | None:
    value = parent.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _malformed((*path, key), "a string")


def _malformed(path: Path, wanted: str) -> BadReview:
    return BadReview(f"{dotted(path)} is not {wanted}")
