"""Fleets that `berth explain` may ask: that of a running cluster, or of a snapshot in a file."""

import asyncio
import time
from collections.abc import Iterator

import msgspec

from berth.admission.placer import Placer
from berth.admission.rules import Rules
from berth.cli import pictures
from berth.cli.where import Fleet
from berth.cluster.mirror import Mirror
from berth.cluster.reservations import Times
from berth.cluster.watch import Source
from berth.errors import ReadFailed, UsageError
from berth.model.charge import Charge
from berth.model.picture import Picture
from berth.model.raw import JsonObject
from berth.model.request import WHOLE, DeviceRequest, Shape

_SECONDS = 30


class Live(msgspec.Struct, frozen=True):
    """A running cluster at one moment."""

    fleet: Fleet
    pod: JsonObject | None = None
    """The Pod that was asked for; in `fleet` it holds nothing."""
    now: Charge | None = None
    """What it holds in truth."""


def of_file(where: str) -> Fleet:
    """Read a snapshot from a file or a URL. Raises UsageError.

    It tells what Pods hold and not what they asked for, so what is learned from it is that.
    """
    picture = pictures.read(where)
    fleet = Fleet(f"the snapshot {where}", picture.snapshot(), picture.generation)
    for shape in _shapes(picture):
        fleet.snapshot.mix.arrived(shape)
    return fleet


def of_cluster(source: Source, rules: Rules, pod: tuple[str, str] | None = None) -> Live:
    """Read a cluster, and one Pod of it by namespace and name. Raises UsageError."""
    return asyncio.run(_read(source, rules, pod))


async def _read(source: Source, rules: Rules, asked: tuple[str, str] | None) -> Live:
    mirror = Mirror(source)
    placer = Placer(mirror.nodes, mirror.pods, rules, time.monotonic, Times())
    async with mirror.following():
        raw = await _pod(source, *asked) if asked else None
    charge = None
    shown = mirror.pods.get(*asked) if asked else None
    if shown is not None:
        charge = next(
            (one for one in placer.fleet.picture().pods if one.uid == shown.metadata.uid), None
        )
        placer.reservations.pod(shown, None)
        placer.fleet.pod(shown, None)
    fleet = Fleet("the cluster", placer.fleet.snapshot, placer.fleet.generation)
    return Live(fleet, raw, charge)


async def _pod(source: Source, namespace: str, name: str) -> JsonObject:
    """Ask for a Pod as it is stored. Raises UsageError."""
    try:
        async with source.connect() as connection:
            body = await connection.get(f"/api/v1/namespaces/{namespace}/pods/{name}", {}, _SECONDS)
    except ReadFailed as error:
        raise UsageError(f"the Pod {namespace}/{name} could not be read: {error}") from None
    found: JsonObject = msgspec.json.decode(body)
    return found


def _shapes(picture: Picture) -> Iterator[Shape]:
    """Yield a shape for each Pod that holds cards: the webhook, too, learns from those alone."""
    cards = {card.uuid: card for node in picture.nodes for card in node.devices}
    for charge in picture.pods:
        held = [one for one in charge.claims if one.uuid in cards]
        if held:
            first = held[0]
            alone = first.cores is None or first.cores >= WHOLE
            request = DeviceRequest(
                vendor=cards[first.uuid].vendor,
                count=sum(one.container == first.container for one in held),
                memory_mib=None if alone else first.memory_mib,
                cores=WHOLE if alone else 0,
            )
            yield Shape(charge.cpu_milli, request)
