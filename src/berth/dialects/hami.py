"""The HAMi dialect: resources such as nvidia.com/gpu, gpumem and gpucores in a container's limits.

`read` finds the demand, `write` completes the Pod as HAMi's scheduler and device plugins expect it,
for whatever accelerator (HAMi 2.10, the MutateAdmission of each); where we differ on purpose is in
docs/reference/differences.md.
"""

from collections.abc import Iterator, Mapping

from berth.dialects import amounts, choices, convert, devices, shares
from berth.dialects.completion import classed, complete, hide, scheduled
from berth.dialects.dialect import Dialect, only
from berth.dialects.options import Options
from berth.dialects.reading import read
from berth.model.decided import Decided
from berth.model.demand import Demand, Share
from berth.model.edit import Change, Put
from berth.model.pod import Container, Pod
from berth.model.raw import Json
from berth.model.said import Said
from berth.model.vendor import Vendor

_SCHEDULER = Said("why.scheduler")
_VENDOR_ANNOTATION = Said("why.vendor-annotation")


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> list[Change]:
    """Return what completes `pod` for HAMi, and warnings about what that replaces."""
    changes: list[Change] = []
    shares = demand.shares
    if options.conversion:
        changes += convert.containers(demand, pod, options)
        changes += choices.chosen(shares, pod, options.conversion)
    else:
        for wanted in demand.containers:
            if wanted.share:
                changes += complete(wanted.container, wanted.share, options)
            for hidden in options.hidden:
                changes += hide(wanted, hidden)
    if shares:
        changes += classed(shares, pod)
        if any(share.annotations for share in shares):
            changes += _annotations(pod, shares)
        changes += scheduled(pod, options, _SCHEDULER)
    if placed is not None and placed.devices:
        targets = options.conversion.targets if options.conversion else {}
        changes += devices.listed(demand, placed, pod, targets)
    return changes


def completed(
    container: Container, vendor: Vendor, annotations: Mapping[str, Json]
) -> dict[str, Json] | None:
    """Return `vendor`'s limits of `container` as `write` leaves them, None without a share."""
    asked, wrong = amounts.read(container, vendor)
    share = None if wrong else shares.size(container, vendor, asked, annotations).share
    if share is None:
        return None
    limits = {name: container.limits[name] for name in vendor.resources if name in container.limits}
    return limits | {one.name: str(one.value) for one in share.completion}


def _annotations(pod: Pod, sharing: tuple[Share, ...]) -> Iterator[Change]:
    """Later containers win, as in HAMi: an annotation can speak of one of them only."""
    wanted = {key: value for share in sharing for key, value in share.annotations.items()}
    for key, value in wanted.items():
        path, there = ("metadata", "annotations", key), pod.annotations.get(key)
        if there not in (None, value):
            yield Said("replaced.annotation", {"path": path, "value": value})
        if there != value:
            yield Put(path, value, _VENDOR_ANNOTATION)


DIALECT = Dialect(name="hami", read=only("hami", read), write=write)
