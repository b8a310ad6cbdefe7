"""Whether a ledger of the fleet agrees with a count of everything anew, from the API server.

The cluster goes on meanwhile, and ledger and count are never of quite the same moment. So each
node has to agree once within some tries: one on which something just happens does so the next
time, and one on which the ledger has gone wrong never does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from berth.cluster.fleet import Fleet, Guess
from berth.cluster.mirror import Mirror
from berth.cluster.projections import Pod
from berth.cluster.watch import Source
from berth.model.charge import Claim
from berth.model.charge import Source as Known
from berth.model.difference import by_node
from berth.model.picture import Picture
from berth.model.snapshot import Snapshot
from berth.model.terms import NO_TERMS, Terms
from berth.model.vendor import Vendor

TRIES = 5
PAUSE = 0.5
"""Seconds between two tries: a watch is some milliseconds behind, at the most."""


class Ledger(msgspec.Struct, frozen=True):
    """A ledger at one moment, and what it guessed of Pods that say nothing themselves."""

    snapshot: Snapshot
    guess: Guess


class Verdict(msgspec.Struct, frozen=True):
    """What came of it."""

    nodes: int
    pods: int
    """Of the last count."""
    differences: tuple[str, ...]
    """The ledger's number, then the counted one; none: they agree."""


async def agree(
    ledger: Callable[[], Awaitable[Ledger]],
    source: Source,
    vendors: Sequence[Vendor],
    terms: Terms = NO_TERMS,
) -> Verdict:
    """Compare until every node agreed once, or the tries are over. Raises UsageError."""
    open_nodes: set[str] | None = None
    for left in reversed(range(TRIES)):
        mirror = Mirror(source)
        async with mirror.following():
            kept = await ledger()
            counted = Fleet.counted(vendors, mirror.nodes, mirror.pods, kept.guess, terms)
        found = by_node(kept.snapshot, counted.snapshot)
        open_nodes = found.keys() & (found.keys() if open_nodes is None else open_nodes)
        said = tuple(one for name in sorted(open_nodes) for one in found[name])
        verdict = Verdict(len(mirror.nodes), len(mirror.pods), said)
        if not open_nodes or not left:
            return verdict
        await asyncio.sleep(PAUSE)
    raise AssertionError("the last try returns")


def of_picture(picture: Picture) -> Ledger:
    """Return the ledger that a document is of, without what is held for Pods on their way."""
    guessed = {
        (charge.namespace, charge.name, charge.uid): charge.claims
        for charge in picture.pods
        if charge.source is Known.GUESSED
    }

    def guess(pod: Pod, snapshot: Snapshot) -> tuple[Claim, ...]:
        del snapshot
        return guessed.get((*pod.key, pod.metadata.uid), ())

    bound = msgspec.structs.replace(picture, reserved=())
    return Ledger(bound.snapshot(), guess)
