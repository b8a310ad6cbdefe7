"""The cards that a cluster has, for commands that say what Pods come to there."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from berth.cluster.projections import Node
from berth.errors import ReadFailed, UsageError
from berth.model.card import Card, known
from berth.model.vendor import Vendor


def asked(
    kubeconfig: Path | None, snapshot: str | None, vendors: Sequence[Vendor], *, live: bool
) -> tuple[Card, ...]:
    """Return those that a person names a source for, none where he names none. Raises UsageError.

    With `live` it is the cluster.
    """
    if live and snapshot:
        raise UsageError("--cluster and --snapshot: name one of them")
    if snapshot:
        return of_snapshot(snapshot)
    return of_nodes(asyncio.run(_nodes(kubeconfig)), vendors) if live else ()


def of_snapshot(where: str) -> tuple[Card, ...]:
    """Return those of a snapshot, a file or a URL. Raises UsageError."""
    from berth.cli import pictures  # noqa: PLC0415  numpy is slow to import

    return known(node.devices for node in pictures.read(where).nodes)


def of_nodes(nodes: Sequence[Node], vendors: Sequence[Vendor]) -> tuple[Card, ...]:
    """Return those of Nodes as they stand in the cluster, by what they register."""
    from berth.cluster.nodes import read  # noqa: PLC0415  only where Pods are translated

    return known(read(node, vendors)[0].devices for node in nodes)


async def _nodes(kubeconfig: Path | None) -> list[Node]:
    from berth.cluster import connection, existing  # noqa: PLC0415  the client is slow to import

    try:
        async with connection.connect(kubeconfig) as cluster:
            return [one async for one in existing.nodes(cluster)]
    except ReadFailed as error:
        raise UsageError(f"the nodes of the cluster cannot be read: {error}") from None
