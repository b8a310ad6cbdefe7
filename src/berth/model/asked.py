"""From what a Pod wants in its dialect's words to what placement counts in."""

import msgspec

from berth.model.demand import Demand, Share
from berth.model.request import WHOLE, DeviceRequest, Named, PodRequest

ORDERING = ("binpack", "spread", "numa")
"""The words of a device policy that say which of several cards comes first."""
NO_CARD = ("",)
"""The UUIDs of a request that excludes every card: no card has this one."""


def pod_request(demand: Demand, of_node: PodRequest, stack: str = "") -> PodRequest:
    """Return a Pod's whole request: `of_node` with what each container wants of a stack's cards.

    A sidecar holds its cards beside the containers; an init container before them, and beside
    the sidecars that stand before it.
    """
    devices, before = list[Named](), list[Named]()
    sidecars = list[tuple[str, tuple[str, ...]]]()
    for one in demand.containers:
        if one.share is None:
            continue
        wanted = (one.container.name, device_request(one.share, stack))
        if one.container.init:
            before.append(wanted)
            if devices:
                sidecars.append((wanted[0], tuple(name for name, _ in devices)))
        else:
            devices.append(wanted)
    return msgspec.structs.replace(
        of_node,
        devices=tuple(devices),
        init_devices=tuple(before),
        sidecars=tuple(sidecars),
    )


def device_request(share: Share, stack: str = "") -> DeviceRequest:
    """Return what a share wants of each card.

    The words of HAMi's `gpu-scheduler-policy`: mutex and topology-aware leave cards out, binpack,
    spread and numa order them.
    """
    wishes, words = share.wishes, share.wishes.device_policy
    uuids = None if wishes.uuids is None else tuple(sorted(wishes.uuids)) or NO_CARD
    slots, cores, memory = (wishes.weights.get(part, 1) for part in ("slot", "core", "memory"))
    return DeviceRequest(
        vendor=share.vendor.name,
        count=share.count,
        memory_mib=0 if share.vendor.memory_by_cores else share.taken_mib,
        memory_percent=share.memory_percent,
        cores=-(-(share.taken_cores or 0) * WHOLE // share.vendor.core_unit),
        slices=share.slices or 0,
        models=wishes.models,
        models_not=wishes.not_models,
        uuids=uuids or (),
        uuids_not=tuple(sorted(wishes.not_uuids)),
        mode=wishes.mode,
        stack=stack,
        same_numa=wishes.numa,
        linked="topology-aware" in words,
        idle="mutex" in words,
        order=tuple(word for word in words if word in ORDERING),
        weights=(slots, cores, memory),
    )
