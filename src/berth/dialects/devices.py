"""Devices that a placement has chosen, in the words in which a stack is told of them."""

from collections.abc import Iterator, Mapping

from berth.dialects import variables
from berth.model.decided import Decided
from berth.model.demand import Demand
from berth.model.edit import Change, Put
from berth.model.pod import Pod
from berth.model.said import Said
from berth.model.vendor import Vendor

_WHY = Said("why.decided")


def listed(
    demand: Demand, placed: Decided, pod: Pod, words: Mapping[str, Vendor]
) -> Iterator[Change]:
    """Yield the annotations that list devices: a scheduler then gives out no others.

    `words` are those of the written dialect, by the accelerator's name.
    """
    chosen: dict[str, list[str]] = {}
    for container, uuids in _of(demand, placed).items():
        for share in (one.share for one in demand.containers if one.container.name == container):
            vendor = words.get(share.vendor.name, share.vendor) if share else None
            for key in vendor.selectors.uuids[:1] if vendor else ():
                chosen.setdefault(key, []).extend(uuids)
    for key, uuids in chosen.items():
        text = ",".join(dict.fromkeys(uuids))
        if pod.annotations.get(key) != text:
            yield Put(("metadata", "annotations", key), text, _WHY)


def variables_of(demand: Demand, placed: Decided, named: tuple[str, ...]) -> Iterator[Change]:
    """Yield variables that tell each container its own devices."""
    chosen = _of(demand, placed)
    for wanted in demand.containers:
        uuids = chosen.get(wanted.container.name)
        if wanted.share and uuids:
            for name in named:
                yield from variables.put(wanted.container, name, ",".join(uuids), _WHY)


def _of(demand: Demand, placed: Decided) -> dict[str, list[str]]:
    """Return the UUIDs of each container that has a share, each once."""
    found: dict[str, list[str]] = {one.container.name: [] for one in demand.containers if one.share}
    for device in placed.devices:
        if device.container in found and device.uuid not in found[device.container]:
            found[device.container].append(device.uuid)
    return found
