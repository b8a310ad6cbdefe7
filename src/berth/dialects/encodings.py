"""The two encodings of a Node's register annotation (HAMi's registration protocol, 2.10).

A JSON list of objects, or the older list with colons. A device that cannot be read is a sentence in
its place.
"""

from collections.abc import Iterator

import msgspec

from berth.dialects import sliced
from berth.model.device import SLICES, Device, Profile
from berth.model.raw import Json, JsonObject
from berth.model.records import Fields
from berth.model.vendor import Vendor

MOST = 2**31 - 1
"""The largest number that HAMi keeps, in any field."""
NO_MEMORY = 1
"""MiB of a card of which nothing says how much it has (bug report 67): enough for who wants a part
or all of it, for nobody who wants so many MiB."""
ALL_CORES = 100
"""Percent, of a card of which no number of cores is told: HAMi does not count them then."""


class Illegible(ValueError):  # noqa: N818  reads as what it is
    """A device that cannot be read; the text says what is wrong with it."""


def from_json(text: str, node: str, vendor: Vendor) -> Iterator[Device | str]:
    """Yield the devices of a JSON list, in the vendor's own words. Raises Illegible."""
    fields, shapes = vendor.records.fields, tuple[str, ...]()
    try:
        listed: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Illegible(f"no JSON: {error}") from error
    if fields.inside and isinstance(listed, dict):
        named = listed.get(fields.shapes)
        shapes = tuple(named) if isinstance(named, dict) else ()
        listed = listed.get(fields.inside)
    if not isinstance(listed, list):
        raise Illegible("no list of devices")
    for place, one in enumerate(listed):
        try:
            device = _device(one, node, vendor)
            yield sliced.cut(device, shapes) if fields.shapes else device
        except Illegible as wrong:
            yield f"[{place}]: {wrong}"


def _device(one: Json, node: str, vendor: Vendor) -> Device:
    if not isinstance(one, dict):
        raise Illegible("no device")
    fields = vendor.records.fields
    uuid = one.get(fields.id)
    if not isinstance(uuid, str) or not uuid:
        raise Illegible(f"no {fields.id}")
    cores = _number(one, fields.cores) if fields.cores else 0
    own = vendor.records.cores_are_own
    return Device(
        uuid=f"{node}-{fields.word}-{uuid}" if fields.word else uuid,
        vendor=vendor.name,
        model=_text(one, fields.model) or vendor.name,
        memory_mib=(_number(one, fields.memory) if fields.memory else 0) or NO_MEMORY,
        cores=ALL_CORES if own else cores or ALL_CORES,
        core_units=cores if own and cores else ALL_CORES,
        slots=_number(one, fields.slots),
        numa=max(-1, _number(one, fields.numa, least=-MOST)),
        healthy=_healthy(one, fields),
        mode=_text(one, fields.mode),
        profiles=tuple(_profiles(one)),
    )


def _healthy(one: JsonObject, fields: Fields) -> bool:
    return not fields.healthy or one.get(fields.healthy) is True


def _text(one: JsonObject, key: str) -> str:
    found = one.get(key, "")
    if not isinstance(found, str):
        raise Illegible(f"{key} is no text")
    return found


def _number(one: JsonObject, key: str, least: int = 0) -> int:
    """Return a whole number, also one in text; absent is 0, as Go leaves zeros out."""
    found = one.get(key, 0)
    if isinstance(found, str):
        return _whole(found, key)
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= MOST:
        raise Illegible(f"{key} is no whole number of 32 bits")
    return found


def _profiles(one: JsonObject) -> Iterator[Profile]:
    """Yield the partitions of a card in MIG mode: `migProfiles`."""
    listed = one.get("migProfiles") or []
    if not isinstance(listed, list):
        raise Illegible("migProfiles is no list")
    for profile in listed:
        if not isinstance(profile, dict):
            raise Illegible("migProfiles has something that is no profile")
        starts, size = [], _number(profile, "sliceCount")
        places = profile.get("placements") or []
        for place in places if isinstance(places, list) else []:
            if not isinstance(place, dict):
                raise Illegible("migProfiles has a placement that is none")
            starts.append(_number(place, "start"))
            size = _number(place, "size")  # slices of memory, of which sliceCount is not the sum
        if not 0 < size <= SLICES or max(starts, default=0) + size > SLICES:
            raise Illegible(f"a partition does not lie on {SLICES} slices")
        name, memory = _text(profile, "name"), _number(profile, "memoryMB")
        yield Profile(name, memory, _number(profile, "core"), size, tuple(starts))


def from_colons(text: str, node: str, vendor: Vendor) -> Iterator[Device | str]:
    """Yield the devices of a list in which each ends with a colon. Raises Illegible."""
    del node
    if ":" not in text:
        raise Illegible("neither a JSON list nor a list with colons")
    for place, segment in enumerate(text.split(":")):
        if segment.strip():
            try:
                yield _segment(segment.strip().split(","), vendor)
            except Illegible as wrong:
                yield f"device {place}: {wrong}"


def _segment(fields: list[str], vendor: Vendor) -> Device:
    """Read 7 fields (id, count, mem, cores, type, numa, health), 9 (+ index, mode), or 6.

    6 are Volcano's: id, count, mem, type, health, mode.
    """
    if len(fields) not in {6, 7, 9} or not fields[0]:
        raise Illegible(f"{len(fields)} fields where 7 or 9 are expected")
    if len(fields) == 6:
        uuid, count, memory, model, health, mode = fields
        cores, numa = "100", "-1"
    else:
        uuid, count, memory, cores, model, numa, health = fields[:7]
        mode = fields[8] if len(fields) == 9 else "hami-core"
    return Device(
        uuid=uuid,
        vendor=vendor.name,
        model=model,
        memory_mib=_whole(memory, "mem") or NO_MEMORY,
        cores=_whole(cores, "cores") or ALL_CORES,
        slots=_whole(count, "count"),
        numa=_numa(numa),
        healthy=health == "true",
        mode=mode,
    )


def _numa(text: str) -> int:
    """Return the NUMA node, -1 for one that is not known (`N/A`)."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _whole(text: str, key: str) -> int:
    found = whole(text.strip())
    if found is None:
        raise Illegible(f"{key} is no whole number of 32 bits")
    return found


def whole(text: str) -> int | None:
    """Return a number as HAMi writes it, None for what is none."""
    good = text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= MOST
    return int(text) if good else None
