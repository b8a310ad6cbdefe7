"""The fields of a Pod that an admission decision reads.

Structs rather than dataclasses: as frozen, and made in a seventh of the time, at every request.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias, cast

import msgspec

from berth.model.raw import Json, JsonObject, Path

Texts: TypeAlias = tuple[tuple[str, Json], ...]
Resources: TypeAlias = tuple[Path, Texts, Texts]
"""Where a container stands, its limits and its requests: a key by which to remember."""
REMEMBERED = 1024
"""How many keys are remembered: more than a cluster has ways to ask."""
_LONGEST = 2000  # characters of a key: a Pod of 3 MiB must not stay in memory


def memorable(texts: Iterable[Json]) -> bool:
    """Whether these may be a key: all of it text, as 1 and True would be one, and not too much.

    What the API server sends is text.
    """
    try:
        return len("".join(cast("Iterable[str]", texts))) <= _LONGEST
    except TypeError:
        return False


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """An app container, an init container or a native sidecar."""

    path: Path
    """Where it stands: ("spec", "initContainers", 0)."""
    name: str
    limits: Mapping[str, Json]
    requests: Mapping[str, Json]
    env: Sequence[JsonObject]
    """Raw entries: a container may have hundreds, of which an answer reads a few."""
    env_names: AbstractSet[str]
    mounts: Sequence[JsonObject]
    privileged: bool
    has_claims: bool
    """Whether it uses DRA resource claims."""
    sidecar: bool = False
    """Whether it is an init container that goes on running beside those after it (KEP-753)."""

    @property
    def init(self) -> bool:
        """Whether it has ended before the app containers start."""
        return self.path[1] == "initContainers" and not self.sidecar

    @property
    def app(self) -> bool:
        """Whether it stands among the app containers."""
        return self.path[1] == "containers"

    @property
    def resources(self) -> Resources | None:
        """Its resources as a key, None where they are none to remember."""
        limits, requests = self.limits, self.requests
        if memorable((*limits, *limits.values(), *requests, *requests.values())):
            return self.path, tuple(limits.items()), tuple(requests.items())
        return None

    def places(self, name: str) -> list[int]:
        """Return the indexes of the env entries of this name: none, one, or a twin too many."""
        if name not in self.env_names:
            return []
        return [index for index, entry in enumerate(self.env) if entry.get("name") == name]

    def value(self, index: int) -> str | None:
        """Return the literal value of an env entry, None where `valueFrom` gives it."""
        entry = self.env[index]
        if entry.get("valueFrom"):
            return None
        value = entry.get("value")
        return value if isinstance(value, str) else ""


def bare(resources: Resources) -> Container:
    """Return a container of which nothing is known but its resources."""
    path, limits, requests = resources
    return Container(
        path=path,
        name="",
        limits=dict(limits),
        requests=dict(requests),
        env=(),
        env_names=frozenset(),
        mounts=(),
        privileged=False,
        has_claims=False,
    )


class NodeAffinity(msgspec.Struct, frozen=True, kw_only=True):
    """Which nodes a Pod accepts, by selector too, and which it likes, as it came."""

    selector: Mapping[str, Json] = {}
    terms: Sequence[JsonObject] = ()
    """Of required node affinity; one of them has to hold."""
    required: bool = False
    """Whether it has required node affinity."""
    preferred: Sequence[JsonObject] = ()
    """Of preferred node affinity, each with its weight."""


NO_AFFINITY = NodeAffinity()


class Pod(msgspec.Struct, frozen=True, kw_only=True):
    """A Pod at CREATE: it has no uid yet, and often no name."""

    annotations: Mapping[str, Json]
    labels: Mapping[str, Json] = {}
    scheduler_name: str
    node_name: str = ""
    runtime_class: str | None = None
    os: str = ""
    """"windows", "linux" or "" where nothing says so."""
    pod_level: Mapping[str, Json] = {}
    """Resources of the Pod as a whole (KEP-2837), limits and requests together."""
    host_paths: Mapping[str, str]
    """Volume name to the path on the host that it shows."""
    volumes: Sequence[JsonObject]
    tolerations: Sequence[JsonObject]
    affinity: NodeAffinity = NO_AFFINITY
    overhead: Mapping[str, Json] = {}
    """What its RuntimeClass adds (KEP-688)."""
    priority_class: str = ""
    containers: tuple[Container, ...]
    """Init containers and sidecars first, as Kubernetes orders them."""
