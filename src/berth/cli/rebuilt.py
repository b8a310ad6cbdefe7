"""Pods made anew from a recording, which keeps what they asked for and nothing else of them.

Who schedules them, their variables and their labels are not in it: such rules find nothing here.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from berth.errors import UsageError
from berth.model import recording
from berth.model.raw import Json, JsonObject
from berth.model.recording import Arrived
from berth.model.request import DeviceRequest, PodRequest
from berth.model.vendor import Vendor


def pods(file: Path, vendors: Iterable[Vendor]) -> Iterator[JsonObject]:
    """Yield a Pod for each that came, in the words of `vendors`. Raises UsageError."""
    known = {vendor.name: vendor for vendor in vendors}
    try:
        for entry in recording.read(file.read_bytes()):
            if isinstance(entry, Arrived):
                yield _pod(entry.pod, entry.request, known)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None


def _pod(name: str, request: PodRequest, known: Mapping[str, Vendor]) -> JsonObject:
    metadata: JsonObject = {"name": name}
    spec: JsonObject = {"containers": [{"name": "main"}]}
    for kind, wanted in (("initContainers", request.init_devices), ("containers", request.devices)):
        if wanted:
            spec[kind] = [_container(name, one, known) for name, one in wanted]
    chosen: JsonObject = {}
    for _, one in (*request.init_devices, *request.devices):
        if one.vendor in known:
            chosen |= _chosen(one, known[one.vendor])
    if chosen:
        metadata["annotations"] = chosen
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _container(name: str, wanted: DeviceRequest, known: Mapping[str, Vendor]) -> JsonObject:
    vendor = known.get(wanted.vendor)
    limits: JsonObject = {}
    if vendor is not None:
        limits = {vendor.count: str(wanted.count), **_amounts(wanted, vendor)}
    return {"name": name, "resources": {"limits": limits}}


def _amounts(wanted: DeviceRequest, vendor: Vendor) -> JsonObject:
    memory = None if wanted.memory_mib is None else wanted.memory_mib // vendor.unit_mib
    cores = wanted.cores * vendor.core_unit // 100
    found: JsonObject = {}
    for role, amount in (
        ("memory", memory),
        ("memory_percent", wanted.memory_percent),
        ("cores", cores),
    ):
        resource = getattr(vendor, role)
        if resource and amount:
            found[resource] = str(amount * (wanted.count if role in vendor.of_all else 1))
    return found


def _chosen(wanted: DeviceRequest, vendor: Vendor) -> JsonObject:
    by = vendor.selectors
    lists: dict[str, tuple[str, ...]] = {by.models: wanted.models, by.not_models: wanted.models_not}
    lists |= dict.fromkeys(by.uuids, wanted.uuids)
    lists |= dict.fromkeys(by.not_uuids, wanted.uuids_not)
    found: dict[str, Json] = {key: ",".join(listed) for key, listed in lists.items() if listed}
    found |= {by.mode: wanted.mode} if wanted.mode else {}
    found |= {by.numa: "true"} if wanted.same_numa else {}
    return {key: value for key, value in found.items() if key}
