"""The checksum of what was written into a Pod, by which any replica knows that it still stands.

It is of the scheduler and of every amount of a device, whatever the settings call these: so a
replica with other settings can tell a Pod that its sister wrote from one that somebody changed. It
is no signature (docs/decisions/0041-what-was-written.md says why that is enough).
"""

from collections.abc import Iterable
from zlib import crc32

import orjson

from berth import names
from berth.model import original, quantity
from berth.model.edit import Change, Drop, Put
from berth.model.pod import Pod
from berth.model.raw import Json, JsonObject, Path, annotations, child

_SCHEDULER: Path = ("spec", "schedulerName")
_AMOUNT = 6
"""Keys of a path such as spec.containers[0].resources.limits[nvidia.com/gpu]."""


def stands(pod: Pod) -> bool:
    """Whether a Pod is as some replica has left it."""
    record = original.read(pod.annotations.get(names.ORIGINAL_REQUEST))
    return record.get(names.ORIGINAL_WRITTEN) == checksum(pod)


def left_out(raw: JsonObject) -> JsonObject:
    """Return a Pod without the checksum, which differs between two only where something else does.

    For people who compare them.
    """
    there = annotations(raw)
    record = {**original.read(there.get(names.ORIGINAL_REQUEST))}
    if record.pop(names.ORIGINAL_WRITTEN, None) is None:
        return raw
    text = orjson.dumps(record, option=orjson.OPT_SORT_KEYS).decode()
    kept = {**there, names.ORIGINAL_REQUEST: text}
    return {**raw, "metadata": {**child(raw, "metadata"), "annotations": kept}}


def checksum(pod: Pod, changes: Iterable[Change] = ()) -> str:
    """Return that of a Pod as `changes` leave it: eight hexadecimal digits."""
    scheduler: Json = pod.scheduler_name
    edited: dict[Path, dict[str, Json]] = {}
    for one in changes:
        if type(one) is not Put and type(one) is not Drop:
            continue
        path, value = one.path, one.value if type(one) is Put else None
        if len(path) == _AMOUNT and path[4] == "limits":
            edited.setdefault(path[:3], {})[str(path[5])] = value
        elif path == _SCHEDULER:
            scheduler = value
    each = [
        (of.name, {**of.limits, **edited[of.path]} if of.path in edited else of.limits)
        for of in pod.containers
    ]
    # A domain: so devices are called, and not CPU. What asks for none of them may be anybody's.
    lines = [
        f"{container} {name} {amount}"
        for container, limits in each
        for name in limits
        if "/" in name and (amount := _plain(limits[name])) != "0"
    ]
    lines.sort()
    text = "\n".join((str(scheduler or names.DEFAULT_SCHEDULER), *lines))
    return f"{crc32(text.encode()):08x}"


def _plain(amount: Json) -> str:
    """Write 8k, as the API server shows it, as 8000; nothing, which a Drop leaves, as 0."""
    if amount is None:
        return "0"
    if type(amount) is str and amount.isdecimal() and amount.isascii() and amount[0] != "0":
        return amount
    try:
        return str(quantity.parse(amount))
    except quantity.NotAQuantity:  # which the API server refuses
        return str(amount)
