"""Whole cards, as a vendor's own device plugin gives them: nvidia.com/gpu and nothing beside."""

from collections.abc import Iterator
from dataclasses import replace

from berth.dialects import completion, convert, reading
from berth.dialects.dialect import Dialect, only
from berth.dialects.options import Options
from berth.model.decided import Decided
from berth.model.demand import Demand
from berth.model.edit import Change, Put
from berth.model.pod import Pod
from berth.model.records import NO_RECORDS
from berth.model.said import Said
from berth.model.vendor import Selectors, Vendor

NAME = "plain"
RESOURCE = "nvidia.com/gpu"
_SCHEDULER = Said("why.plain-scheduler")


def words(nvidia: Vendor, resource: str = RESOURCE) -> Vendor:
    """Return NVIDIA's cards, whole ones."""
    return replace(
        nvidia,
        dialect=NAME,
        count=resource,
        memory="",
        memory_percent="",
        cores="",
        priority="",
        memory_factor=1,
        whole_is_named=False,
        implied_cores=nvidia.core_unit,
        default_count=0,
        default_memory=0,
        default_cores=0,
        settle=None,
        core_policy="default",
        profiles=(),
        records=NO_RECORDS,
        allocations=(),
        counts_as=nvidia,
        selectors=Selectors(),
    )


def write(demand: Demand, placed: Decided | None, pod: Pod, options: Options) -> Iterator[Change]:
    """Yield what makes Kubernetes itself give the Pod whole cards; it chooses which."""
    del placed
    by = options.conversion
    if by is None:
        return
    yield from convert.containers(demand, pod, options)
    if demand.any:
        yield from completion.classed(demand, pod)
        yield from convert.chosen(demand, pod, by)
        if options.scheduler_name and pod.scheduler_name != options.scheduler_name:
            yield Put(("spec", "schedulerName"), options.scheduler_name, _SCHEDULER)


DIALECT = Dialect(name=NAME, read=only(NAME, reading.read), write=write)
