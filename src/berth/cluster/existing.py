"""Every object of a cluster that Pods are made of, as the API server shows it."""

from collections.abc import AsyncIterator
from collections.abc import Set as AbstractSet
from typing import TypeAlias

import msgspec

from berth.cluster.connection import Connection
from berth.cluster.projections import OVER, Node
from berth.errors import ReadFailed
from berth.model.raw import JsonObject, child

_Kind: TypeAlias = tuple[str, str, str]
"""Its name, its apiVersion, and what its objects are called in a path."""
_USUAL: tuple[_Kind, ...] = (
    ("Deployment", "apps/v1", "deployments"),
    ("StatefulSet", "apps/v1", "statefulsets"),
    ("DaemonSet", "apps/v1", "daemonsets"),
    ("ReplicaSet", "apps/v1", "replicasets"),
    ("CronJob", "batch/v1", "cronjobs"),
    ("Job", "batch/v1", "jobs"),
    ("Pod", "v1", "pods"),
)
_OTHERS: tuple[_Kind, ...] = (
    ("RayService", "ray.io/v1", "rayservices"),
    ("RayJob", "ray.io/v1", "rayjobs"),
    ("RayCluster", "ray.io/v1", "rayclusters"),
    ("PyTorchJob", "kubeflow.org/v1", "pytorchjobs"),
    ("TFJob", "kubeflow.org/v1", "tfjobs"),
    ("MPIJob", "kubeflow.org/v2beta1", "mpijobs"),
    ("JobSet", "jobset.x-k8s.io/v1alpha2", "jobsets"),
    ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "leaderworkersets"),
    ("Job", "batch.volcano.sh/v1alpha1", "jobs"),
)
"""Of who brings them along, each after what owns it; where there is none, its Pods tell."""
_UNSEEN = (403, 404)
_PAGE = "500"
_SECONDS = 60  # for a page of large objects over a slow line
_DONE = frozenset({"Complete", "Failed"})


class _Meta(msgspec.Struct, rename={"rest": "continue"}):
    rest: str = ""


class _Page(msgspec.Struct):
    items: list[dict[str, object]] | None = None
    metadata: _Meta = msgspec.field(default_factory=_Meta)


_DECODER = msgspec.json.Decoder(_Page)


async def labels(connection: Connection) -> dict[str, dict[str, str]]:
    """Return the labels of each namespace. Raises ReadFailed."""
    found: dict[str, dict[str, str]] = {}
    async for one in _listed(connection, "/api/v1/namespaces"):
        metadata = child(one, "metadata")
        own = {key: str(value) for key, value in child(metadata, "labels").items()}
        found[str(metadata.get("name"))] = own
    return found


async def nodes(connection: Connection) -> AsyncIterator[Node]:
    """Yield each Node. Raises ReadFailed."""
    async for one in _listed(connection, "/api/v1/nodes"):
        yield msgspec.convert(one, Node)


async def objects(connection: Connection, namespace: str) -> AsyncIterator[JsonObject]:
    """Yield what Pods will be made of: of `namespace`, or of all where it is empty.

    What a listed object owns is left out, as its owner says it; so is what has ended. Kinds beside
    Kubernetes' own are listed where they are served, and we may. Raises ReadFailed.
    """
    within = f"namespaces/{namespace}/" if namespace else ""
    owners = {(_group(version), kind) for kind, version, _ in _USUAL} | {("", "Node")}
    for one in (*_OTHERS, *_USUAL):
        async for found in _of(connection, one, within, owners):
            yield found


async def _of(
    connection: Connection, of: _Kind, within: str, owners: set[tuple[str, str]]
) -> AsyncIterator[JsonObject]:
    """Yield the objects of a kind, and count it among the owners that are listed."""
    kind, version, plural = of
    path = f"/{'apis' if _group(version) else 'api'}/{version}/{within}{plural}"
    try:
        async for one in _listed(connection, path):
            if not _is_owned(one, owners) and not _has_ended(one):
                yield {"apiVersion": version, "kind": kind, **one}
    except ReadFailed as error:
        if of in _USUAL or error.status not in _UNSEEN:
            raise
        return
    owners.add((_group(version), kind))


async def _listed(connection: Connection, path: str) -> AsyncIterator[JsonObject]:
    rest = ""
    while True:
        query = {"limit": _PAGE, **({"continue": rest} if rest else {})}
        body = await connection.get(path, query, _SECONDS)
        try:
            page = _DECODER.decode(body)
        except msgspec.MsgspecError as error:
            raise ReadFailed(f"{path} cannot be read: {error}") from error
        for item in page.items or ():
            yield item  # type: ignore[misc]  # JSON, as msgspec reads it
        rest = page.metadata.rest
        if not rest:
            return


def _is_owned(one: JsonObject, owners: AbstractSet[tuple[str, str]]) -> bool:
    listed = child(one, "metadata").get("ownerReferences")
    return any(
        isinstance(owner, dict)
        and bool(owner.get("controller"))
        and (_group(str(owner.get("apiVersion"))), str(owner.get("kind"))) in owners
        for owner in (listed if isinstance(listed, list) else ())
    )


def _group(version: str) -> str:
    """Return the API group: kinds of several are called Job."""
    return version.rpartition("/")[0]


def _has_ended(one: JsonObject) -> bool:
    status = child(one, "status")
    conditions = status.get("conditions")
    done = any(
        isinstance(entry, dict) and entry.get("type") in _DONE and entry.get("status") == "True"
        for entry in (conditions if isinstance(conditions, list) else ())
    )
    return done or status.get("phase") in OVER
