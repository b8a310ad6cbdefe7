"""The fields of a Pod that an admission decision reads."""

from collections.abc import Mapping
from dataclasses import dataclass

from berth.model.raw import Json, JsonObject, Path


@dataclass(frozen=True, slots=True)
class EnvVar:
    """One entry of a container's env; `value` is None where `valueFrom` gives it."""

    name: str
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """An app container, an init container or a native sidecar."""

    path: Path
    """Where it stands: ("spec", "initContainers", 0)."""
    name: str
    limits: Mapping[str, Json]
    requests: Mapping[str, Json]
    env: tuple[EnvVar, ...]
    mounts: tuple[JsonObject, ...]
    privileged: bool
    has_claims: bool
    """Whether it uses DRA resource claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A Pod at CREATE: it has no uid yet, and often no name."""

    labels: Mapping[str, Json]
    annotations: Mapping[str, Json]
    scheduler_name: str
    node_name: str
    runtime_class: str | None
    os: str
    """"windows", "linux" or "" where nothing says so."""
    pod_level: Mapping[str, Json]
    """Resources of the Pod as a whole (KEP-2837), limits and requests together."""
    host_paths: Mapping[str, str]
    """Volume name to the path on the host that it shows."""
    volumes: tuple[JsonObject, ...]
    tolerations: tuple[JsonObject, ...]
    containers: tuple[Container, ...]
    """Init containers and sidecars first, as Kubernetes orders them."""
