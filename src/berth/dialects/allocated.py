"""What a Pod holds, as the annotations of HAMi's scheduler and Volcano's say it.

`UUID,word,MiB,cores:` for each device, `;` after each container, init containers first. The place
is the container, so empty ones count (HAMi 2.10, EncodePodDevices). Whatever is legible counts: a
device of which the amounts are not is held whole, never for nothing (bug report 16).
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from berth.dialects.encodings import whole
from berth.model.charge import Claim
from berth.model.device import SLICES
from berth.model.vendor import Vendor


class Recorded(msgspec.Struct, frozen=True):
    """What is recorded of a Pod, in the order of its containers, and what cannot be read."""

    claims: tuple[Claim, ...] = ()
    problems: tuple[str, ...] = ()


def keys(vendors: Sequence[Vendor]) -> dict[str, Vendor]:
    """Return the annotations that are records, and whose they are."""
    return {key: vendor for vendor in vendors for key in vendor.records.allocated}


def read(
    annotations: Mapping[str, str], owners: Mapping[str, Vendor], containers: Sequence[str]
) -> Recorded:
    """Read every vendor's record; `containers` are the names, init containers first.

    `owners` are the `keys`. Of two records of one vendor, the first of its keys counts.
    """
    claims: list[Claim] = []
    problems: list[str] = []
    seen = set[str]()
    for key in _present(annotations, owners):
        vendor = owners[key]
        text, places = annotations[key], annotations.get(vendor.records.partitions)
        if not text or vendor.name in seen:
            continue
        seen.add(vendor.name)
        found, wrong = _record(text, vendor, containers)
        problems += [f"metadata.annotations[{key}]: {problem}" for problem in wrong]
        if places:
            found, problem = _partitioned(found, places, containers)
            if problem:
                problems.append(f"metadata.annotations[{vendor.records.partitions}]: {problem}")
        unit = vendor.records.units.get(key, 1)
        claims += found if unit == 1 else [_in_mib(claim, unit) for claim in found]
    return Recorded(tuple(claims), tuple(problems))


def _in_mib(claim: Claim, unit: int) -> Claim:
    held = claim.memory_mib
    return claim if held is None else msgspec.structs.replace(claim, memory_mib=held * unit)


def _present(annotations: Mapping[str, str], owners: Mapping[str, Vendor]) -> Sequence[str]:
    """Return the records that a Pod has, in the order of their keys: of some two dozen, one."""
    found = annotations.keys() & owners.keys()
    return tuple(found) if len(found) < 2 else [key for key in owners if key in found]


def _record(text: str, vendor: Vendor, containers: Sequence[str]) -> tuple[list[Claim], list[str]]:
    slots = text.removesuffix(";").split(";")
    claims: list[Claim] = []
    problems: list[str] = []
    named: Sequence[str] = containers
    if len(slots) < len(containers):  # HAMi 2.10.0 drops empty ones in front (HAMi#2899)
        problems.append(f"{len(slots)} places for {len(containers)} containers: all count together")
        named = ()
    for place, slot in enumerate(slots):
        name = named[place] if place < len(named) else ""
        for device in slot.split(":"):
            if not device.strip():
                continue
            claim = _claim(device, vendor, name)
            if claim is None:
                problems.append(f"container {place}: {device[:80]} names no device")
                continue
            if claim.memory_mib is None:
                problems.append(f"container {place}: what is held of {claim.uuid} is illegible")
            if named and not name:
                problems.append(f"container {place}: the Pod has {len(containers)}")
            claims.append(claim)
    return claims, problems


def _claim(text: str, vendor: Vendor, container: str) -> Claim | None:
    """Read a device; None without a UUID, and None for amounts that are illegible."""
    uuid, *rest = [part.strip() for part in text.split(",")]
    uuid = uuid.partition("[")[0]  # GPU-1[0-2]: the template and place of HAMi 2.5 to 2.9, Volcano
    if not uuid or not rest:
        return None
    memory, cores = map(whole, (*rest[1:3], "", "")[:2])
    if memory is None or cores is None:
        return Claim(container=container, uuid=uuid)
    return Claim(
        container=container,
        uuid=uuid,
        memory_mib=memory,
        cores=_percent(cores, vendor),
        own_units=vendor.records.cores_are_own,
    )


def _percent(cores: int, vendor: Vendor) -> int:
    if vendor.records.cores_are_bits:
        return min(100, cores.bit_count() * 100 // vendor.core_unit)
    return cores * 100 // vendor.core_unit if vendor.records.cores_in_units else cores


class _Place(msgspec.Struct):
    start: int
    size: int


class _Partition(msgspec.Struct, rename="camel"):
    container_index: int
    gpu_uuid: str = msgspec.field(name="gpuUUID")
    profile: str
    placement: _Place


def _partitioned(
    claims: list[Claim], text: str, containers: Sequence[str]
) -> tuple[list[Claim], str]:
    """Add which partition each claim is, and where it lies."""
    try:
        listed = msgspec.json.decode(text, type=list[_Partition])
    except (msgspec.MsgspecError, RecursionError) as error:
        return claims, str(error)
    waiting: dict[tuple[str, str], list[_Partition]] = {}
    for one in listed:
        place = one.placement
        if not (place.start >= 0 and 0 < place.size <= SLICES - place.start):
            return claims, f"{one.profile} does not lie on {SLICES} slices"
        if 0 <= one.container_index < len(containers):
            name = containers[one.container_index]
            waiting.setdefault((name, one.gpu_uuid), []).append(one)
    return list(_joined(claims, waiting)), ""


def _joined(
    claims: list[Claim], waiting: dict[tuple[str, str], list[_Partition]]
) -> Iterator[Claim]:
    for claim in claims:
        those = waiting.get((claim.container, claim.uuid))
        if not those:
            yield claim
            continue
        one = those.pop(0)
        bits = ((1 << one.placement.size) - 1) << one.placement.start
        yield msgspec.structs.replace(claim, profile=one.profile, slices=bits)
