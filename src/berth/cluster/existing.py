"""Every object of a cluster that Pods are made of, as the API server shows it."""

from collections.abc import AsyncIterator, Mapping

import msgspec

from berth.cluster.connection import Connection
from berth.cluster.projections import Node
from berth.errors import ReadFailed
from berth.model.raw import JsonObject

_KINDS: Mapping[str, tuple[str, str]] = {
    "Deployment": ("apps/v1", "/apis/apps/v1/{}deployments"),
    "StatefulSet": ("apps/v1", "/apis/apps/v1/{}statefulsets"),
    "DaemonSet": ("apps/v1", "/apis/apps/v1/{}daemonsets"),
    "ReplicaSet": ("apps/v1", "/apis/apps/v1/{}replicasets"),
    "CronJob": ("batch/v1", "/apis/batch/v1/{}cronjobs"),
    "Job": ("batch/v1", "/apis/batch/v1/{}jobs"),
    "Pod": ("v1", "/api/v1/{}pods"),
}
_PAGE = "500"
_SECONDS = 60  # for a page of large objects over a slow line
_ENDED = frozenset({"Succeeded", "Failed"})
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
        metadata = _object(one, "metadata")
        own = {key: str(value) for key, value in _object(metadata, "labels").items()}
        found[str(metadata.get("name"))] = own
    return found


async def nodes(connection: Connection) -> AsyncIterator[Node]:
    """Yield each Node. Raises ReadFailed."""
    async for one in _listed(connection, "/api/v1/nodes"):
        yield msgspec.convert(one, Node)


async def objects(connection: Connection, namespace: str) -> AsyncIterator[JsonObject]:
    """Yield what Pods will be made of: of `namespace`, or of all where it is empty.

    What a listed object owns is left out, as its owner says it; so is what has ended. Raises
    ReadFailed.
    """
    within = f"namespaces/{namespace}/" if namespace else ""
    for kind, (version, path) in _KINDS.items():
        async for one in _listed(connection, path.format(within)):
            if not _is_owned(one) and not _has_ended(one):
                yield {"apiVersion": version, "kind": kind, **one}


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


def _is_owned(one: JsonObject) -> bool:
    owners = _object(one, "metadata").get("ownerReferences")
    return any(
        isinstance(owner, dict) and owner.get("controller") and owner.get("kind") in _OWNERS
        for owner in (owners if isinstance(owners, list) else ())
    )


_OWNERS = _KINDS.keys() | {"Node"}


def _has_ended(one: JsonObject) -> bool:
    status = _object(one, "status")
    conditions = status.get("conditions")
    done = any(
        isinstance(entry, dict) and entry.get("type") in _DONE and entry.get("status") == "True"
        for entry in (conditions if isinstance(conditions, list) else ())
    )
    return done or status.get("phase") in _ENDED


def _object(parent: JsonObject, key: str) -> JsonObject:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}
