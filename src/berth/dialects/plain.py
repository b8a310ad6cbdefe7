"""Whole cards, as a vendor's own device plugin gives them: nvidia.com/gpu and nothing beside."""

from dataclasses import replace

from berth.dialects import convert, reading
from berth.dialects.dialect import Dialect, only, worded
from berth.dialects.options import Options
from berth.model.decided import Decided
from berth.model.demand import Demand
from berth.model.edit import Change
from berth.model.pod import Pod
from berth.model.said import Said
from berth.model.vendor import Vendor

NAME = "plain"
_SCHEDULER = Said("why.plain-scheduler")


def words(nvidia: Vendor, resource: str) -> Vendor:
    """Return NVIDIA's cards, whole ones."""
    return replace(
        worded(nvidia, NAME),
        count=resource,
        memory="",
        cores="",
        implied_cores=nvidia.core_unit,
        default_count=0,
    )


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> list[Change]:
    """Return what makes Kubernetes itself give the Pod whole cards; it chooses which."""
    del placed
    return convert.whole(demand, pod, options, _SCHEDULER)


DIALECT = Dialect(name=NAME, read=only(NAME, reading.read), write=write)
