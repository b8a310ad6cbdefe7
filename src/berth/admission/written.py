"""The checksum of what was written into a Pod, by which any replica knows that it still stands.

It is of the scheduler and of every amount of a device, whatever the settings call these: so a
replica with other settings can tell a Pod that its sister wrote from one that somebody changed. It
is no signature (docs/decisions/0041-what-was-written.md says why that is enough).
"""

from collections.abc import Iterable, Mapping
from zlib import crc32

import orjson

from berth import names
from berth.dialects import translate
from berth.model import quantity
from berth.model.edit import Change, Drop, Put
from berth.model.pod import Pod
from berth.model.raw import Json, JsonObject, Path

_SCHEDULER: Path = ("spec", "schedulerName")
_AMOUNT = 6
"""Keys of a path such as spec.containers[0].resources.limits[nvidia.com/gpu]."""
_NOTHING = "0"


def stands(pod: Pod) -> bool:
    """Whether a Pod is as some replica has left it."""
    record = translate.record(pod.annotations.get(names.ORIGINAL_REQUEST))
    return record.get(names.ORIGINAL_WRITTEN) == checksum(pod)


def left_out(raw: JsonObject) -> JsonObject:
    """Return a Pod without the checksum, which differs between two only where something else does.

    For people who compare them.
    """
    metadata = raw.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(annotations, dict):
        return raw
    record = {**translate.record(annotations.get(names.ORIGINAL_REQUEST))}
    if record.pop(names.ORIGINAL_WRITTEN, None) is None:
        return raw
    text = orjson.dumps(record, option=orjson.OPT_SORT_KEYS).decode()
    kept = {**annotations, names.ORIGINAL_REQUEST: text}
    return {**raw, "metadata": {**metadata, "annotations": kept}}


def checksum(pod: Pod, changes: Iterable[Change] = ()) -> str:
    """Return that of a Pod as `changes` leave it: eight hexadecimal digits."""
    scheduler: Json = pod.scheduler_name
    limits = {one.path: {**one.limits} for one in pod.containers}
    for one in changes:
        if type(one) is not Put and type(one) is not Drop:
            continue
        path = one.path
        if len(path) == _AMOUNT and path[4] == "limits":
            limits[path[:3]][str(path[5])] = one.value if type(one) is Put else _NOTHING
        elif path == _SCHEDULER:
            scheduler = one.value if type(one) is Put else ""
    devices = {one.name: _devices(limits[one.path]) for one in pod.containers}
    # Containers that others add, and their CPU, are no business of ours.
    found = [scheduler or names.DEFAULT_SCHEDULER, {name: of for name, of in devices.items() if of}]
    return f"{crc32(orjson.dumps(found, option=orjson.OPT_SORT_KEYS)):08x}"


def _devices(limits: Mapping[str, Json]) -> dict[str, str]:
    """Return what asks for something under a name with a domain, as devices have it and CPU not."""
    amounts = {name: _plain(limits[name]) for name in limits if "/" in name}
    return {name: amount for name, amount in amounts.items() if amount != _NOTHING}


def _plain(amount: Json) -> str:
    """Write 8k, as the API server shows it, as 8000."""
    try:
        return str(quantity.parse(amount))
    except quantity.NotAQuantity:  # which the API server refuses
        return str(amount)
