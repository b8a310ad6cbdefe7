"""From what a Pod wants in its dialect's words to what placement counts in."""

import msgspec

from berth.model.demand import Demand, Share
from berth.model.request import WHOLE, DeviceRequest, PodRequest

NO_CARD = ("",)
"""The UUIDs of a request that excludes every card: no card has this one."""


def pod_request(demand: Demand, of_node: PodRequest) -> PodRequest:
    """Return a Pod's whole request: `of_node` with what each container wants of cards.

    A sidecar holds its cards beside the containers; an init container before them.
    """
    wanted = [(one.container, one.share) for one in demand.containers if one.share]
    return msgspec.structs.replace(
        of_node,
        devices=tuple((one.name, device_request(of)) for one, of in wanted if not one.init),
        init_devices=tuple((one.name, device_request(of)) for one, of in wanted if one.init),
    )


def device_request(share: Share) -> DeviceRequest:
    """Return what a share wants of each card. Slices of a vendor's own are not counted in yet."""
    wishes = share.wishes
    uuids = None if wishes.uuids is None else tuple(sorted(wishes.uuids)) or NO_CARD
    return DeviceRequest(
        vendor=share.vendor.name,
        count=share.count,
        memory_mib=share.memory_mib,
        memory_percent=share.memory_percent,
        cores=-(-(share.cores or 0) * WHOLE // share.vendor.core_unit),
        models=wishes.models,
        models_not=wishes.not_models,
        uuids=uuids or (),
        uuids_not=tuple(sorted(wishes.not_uuids)),
        mode=wishes.mode,
        same_numa=wishes.numa,
    )
