"""The devices that a Node's register annotations list (HAMi's registration protocol, 2.10).

A JSON list, or the older colon list, told apart by the first character. What cannot be read is a
problem, said in a sentence; it costs neither the other devices nor the node.
"""

from collections.abc import Iterator, Mapping

import msgspec

from berth import names
from berth.dialects import encodings
from berth.model.device import Device
from berth.model.vendor import Vendor

Found = tuple[tuple[Device, ...], tuple[str, ...]]


def devices(node: str, annotations: Mapping[str, str], vendor: Vendor) -> Found | None:
    """Return a vendor's devices and what is wrong with the annotation, None if there is none."""
    records = vendor.records
    for key in records.register:
        text = annotations.get(key, "").strip()
        if not text:
            continue
        try:
            read = encodings.from_json if text[0] in "[{" else encodings.from_colons
            found, problems = _each(read(text, node, vendor))
            stack = _stack(key) if len(records.register) > 1 else ""
            unit = records.units.get(key, 1)
            found = [_in_mib(msgspec.structs.replace(one, stack=stack), unit) for one in found]
        except encodings.Illegible as wrong:
            return (), (f"metadata.annotations[{key}]: {wrong}",)
        linked, more = _linked(found, annotations.get(records.scores, ""))
        said = [f"metadata.annotations[{key}]: {problem}" for problem in problems]
        if more:
            said.append(f"metadata.annotations[{records.scores}]: {more}")
        return _cordoned(linked, annotations), tuple(said)
    return None


def _stack(key: str) -> str:
    """Return the stack whose agent writes this annotation, of those that write one each.

    Where there is but one, every stack reads that of the accelerator's own plugin.
    """
    return next((stack for stack, prefix in names.STACKS.items() if key.startswith(prefix)), "")


def _each(read: Iterator[Device | str]) -> tuple[list[Device], list[str]]:
    found: dict[str, Device] = {}
    problems = []
    for one in read:
        if isinstance(one, str):
            problems.append(one)
        elif one.uuid in found:
            problems.append(f"{one.uuid} stands there twice; the first counts")
        else:
            found[one.uuid] = one
    return list(found.values()), problems


def _in_mib(device: Device, unit: int) -> Device:
    """Return a device whose memory is told in units; of one that tells none, nothing is known."""
    if unit == 1 or device.memory_mib == encodings.NO_MEMORY:
        return device
    return msgspec.structs.replace(device, memory_mib=device.memory_mib * unit)


def _cordoned(found: tuple[Device, ...], annotations: Mapping[str, str]) -> tuple[Device, ...]:
    """Make those unhealthy that the administrator keeps out of new allocations."""
    out = {uuid.strip() for uuid in annotations.get(names.DEVICE_CORDON, "").split(",")}
    if not any(device.uuid in out for device in found):
        return found
    return tuple(
        msgspec.structs.replace(device, healthy=device.healthy and device.uuid not in out)
        for device in found
    )


def _score(scores: Mapping[str, Mapping[str, int]], one: Device, other: Device) -> int:
    return min(encodings.MOST, max(0, scores.get(one.uuid, {}).get(other.uuid, 0)))


class _Scores(msgspec.Struct):
    uuid: str
    score: dict[str, int] = {}


def _linked(found: list[Device], text: str) -> tuple[tuple[Device, ...], str]:
    """Add how well each pair is linked; a pair that is not listed has 0."""
    if not text or not found:
        return tuple(found), ""
    try:
        listed = msgspec.json.decode(text, type=list[_Scores])
    except (msgspec.MsgspecError, RecursionError) as error:
        return tuple(found), str(error)
    scores = {one.uuid: one.score for one in listed}
    return tuple(
        msgspec.structs.replace(
            device, links=tuple(_score(scores, device, other) for other in found)
        )
        for device in found
    ), ""
