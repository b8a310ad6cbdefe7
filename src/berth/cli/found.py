"""What Pods are made of, wherever it stands: in files, in a cluster, in a recording."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from berth.cli import documents, rebuilt, supposed
from berth.cluster.projections import Node
from berth.errors import ReadFailed, UsageError
from berth.model.card import Card
from berth.model.raw import JsonObject
from berth.model.vendor import Vendor


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Documents with their sources, and what is known of their namespaces."""

    documents: list[tuple[str, JsonObject]]
    default: str = "default"
    """Namespace of what names none."""
    labels: Mapping[str, Mapping[str, str]]
    """Of namespaces."""
    scheduled: bool = False
    """Whether Pods may have got a node, and devices."""
    nodes: tuple[Node, ...] = ()
    """Of the cluster, where they were asked for: what cards they have is for the rules to say."""
    cards: tuple[Card, ...] = ()
    """Of a snapshot, in place of those."""


def in_files(files: Iterable[str], default: str) -> Found:
    """Read manifests. Raises UsageError."""
    read = list(documents.read(files))
    labels = dict(supposed.namespaces(document for _, document in read))
    return Found(documents=read, default=default, labels=labels)


def in_recording(file: Path, default: str, vendors: Iterable[Vendor]) -> Found:
    """Make the Pods of a recording anew, in the words of `vendors`. Raises UsageError."""
    read = [(str(file), pod) for pod in rebuilt.pods(file, vendors)]
    return Found(documents=read, default=default, labels={})


def in_cluster(kubeconfig: Path | None, namespace: str, *, nodes: bool) -> Found:
    """Read a cluster, or a namespace of it; its Nodes if they are needed. Raises UsageError."""
    return asyncio.run(_asked(kubeconfig, namespace, nodes=nodes))


async def _asked(kubeconfig: Path | None, namespace: str, *, nodes: bool) -> Found:
    from berth.cluster import connection, existing  # noqa: PLC0415  the client is slow to import

    try:
        async with connection.connect(kubeconfig) as cluster:
            labels = await existing.labels(cluster)
            read = [("cluster", one) async for one in existing.objects(cluster, namespace)]
            known = [one async for one in existing.nodes(cluster)] if nodes else []
    except ReadFailed as error:
        raise UsageError(f"the cluster cannot be read: {error}") from None
    return Found(documents=read, labels=labels, scheduled=True, nodes=tuple(known))
