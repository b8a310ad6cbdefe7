"""The annotation that keeps what a Pod asked for, before anything was filled in."""

from collections.abc import Mapping, Sequence

import msgspec
import orjson

from berth import names
from berth.admission import scope, written
from berth.dialects import hami, kai, translate
from berth.dialects.options import Options
from berth.model import quantity
from berth.model.demand import ContainerDemand, Demand
from berth.model.edit import Change, Drop, Put
from berth.model.original import containers
from berth.model.pod import Pod
from berth.model.quantity import MIB
from berth.model.raw import Json, Path
from berth.model.said import Said
from berth.model.vendor import Vendor

_PATH: Path = ("metadata", "annotations", names.ORIGINAL_REQUEST)
_WHY = Said("why.original")
_FORGED = Said("why.not-asked")


def keep(pod: Pod, demand: Demand, options: Options, changes: Sequence[Change]) -> list[Change]:
    """Return the edit that records each container's request, and what `changes` make of them.

    A record that is there is believed only for a container whose present limits follow from it:
    so a second pass keeps the first one's record, and a forged or stale one is written anew.
    """
    recorded = containers(pod.annotations.get(names.ORIGINAL_REQUEST))
    judged = _asked if options.conversion is None else _converted
    asked = {
        wanted.container.name: judged(wanted, recorded, pod, options)
        for wanted in demand.containers
        if wanted.share
    }
    record = {
        "v": names.ORIGINAL_VERSION,
        "containers": asked,
        names.ORIGINAL_WRITTEN: written.checksum(pod, changes),
    }
    text = orjson.dumps(record, option=orjson.OPT_SORT_KEYS).decode()
    others = _size(pod.annotations) if pod.annotations else 0
    if others + len(names.ORIGINAL_REQUEST) + len(text) > scope.MOST_ANNOTATION:
        unsaid: Change = Said("unrecorded", {"path": ("metadata", "annotations")})
        forged = names.ORIGINAL_REQUEST in pod.annotations  # ours would have found its place
        return [unsaid, Drop(_PATH, _FORGED)] if forged else [unsaid]
    return [Put(_PATH, text, _WHY)]


def _size(annotations: Mapping[str, Json]) -> int:
    texts = [f"{key}{value}" for key, value in annotations.items() if key != names.ORIGINAL_REQUEST]
    return len("".join(texts).encode())


def _converted(
    wanted: ContainerDemand, recorded: Mapping[str, Json], pod: Pod, options: Options
) -> Mapping[str, Json]:
    """Return what was asked for in whichever dialect, and by annotations where KAI does so."""
    container = wanted.container
    before = recorded.get(container.name)
    if isinstance(before, dict) and translate.follows(before, wanted, pod, options):
        return before
    if wanted.asks and wanted.asks[0].dialect == kai.NAME:
        return {
            key: pod.annotations[key] for key in names.KAI_ANNOTATIONS if key in pod.annotations
        }
    return _plain(container.limits, wanted.asks[0]) if wanted.asks else {}


def _asked(
    wanted: ContainerDemand, recorded: Mapping[str, Json], pod: Pod, options: Options
) -> Mapping[str, Json]:
    del options
    if not wanted.asks:
        return {}
    container, vendor = wanted.container, wanted.asks[0]
    now = _plain(container.limits, vendor)
    before = recorded.get(container.name)
    if not isinstance(before, dict) or before == now or _plain(before, vendor) != before:
        return now
    earlier = msgspec.structs.replace(container, limits=before, requests={})
    completed = hami.completed(earlier, vendor, pod.annotations)
    return before if completed is not None and _plain(completed, vendor) == now else now


def _plain(limits: Mapping[str, Json], vendor: Vendor) -> dict[str, Json]:
    """Write amounts as plain numbers: 8000, which the API server shows as 8k.

    Who copies them into a manifest asks for the same: of bytes that only a suffix tells, it stays.
    """
    found: dict[str, Json] = {}
    for name in vendor.resources:
        if name in limits:
            try:
                amount = quantity.parse(limits[name])
            except quantity.NotAQuantity:  # only a forged record holds one
                found[name] = None
                continue
            suffixed = vendor.memory_in_bytes and name == vendor.memory and amount >= MIB
            found[name] = f"{amount // MIB}Mi" if suffixed else str(amount)
    return found
