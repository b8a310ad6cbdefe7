"""AWS Neuron under HAMi: devices, or cores of them."""

from collections.abc import Mapping

from berth.model.raw import Json
from berth.model.records import Counted, Records
from berth.model.section import Keys, Section
from berth.model.vendor import Amounts, Fault, Selectors, Settled, Vendor

_CORES = 2
"""Cores of a device. HAMi lowers it where a node that it has seen has fewer."""


class AwsNeuron(Keys, frozen=True, kw_only=True):
    """The section `awsneuron`."""

    resource_count_name: str = "aws.amazon.com/neuron"
    resource_core_name: str = "aws.amazon.com/neuroncore"


def _settle(vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]) -> Settled:
    del annotations
    cores = asked.cores or 0
    if asked.count is not None or cores <= vendor.core_unit or cores % vendor.core_unit == 0:
        return Settled(amounts=asked)
    unit = vendor.core_unit
    below = cores - cores % unit
    facts = {"cores": cores, "unit": unit, "below": below, "above": below + unit}
    fault = Fault(code="not-a-multiple.devices", role="cores", facts=facts)
    return Settled(amounts=asked, faults=(fault,))


def _vendors(keys: AwsNeuron) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="awsneuron",
            name="awsneuron",
            domain="aws.amazon.com/",
            count=keys.resource_count_name,
            count_or_size=True,
            cores=keys.resource_core_name,
            core_unit=_CORES,
            implied_cores=_CORES,
            memory_by_cores=True,
            of_all=frozenset({"cores"}),
            nonzero=frozenset({"count", "cores"}),
            settle=_settle,
            records=Records(
                word="AWSNeuron",
                allocated=("hami.io/aws-neuron-devices-allocated",),
                counted=Counted(slots=_CORES),
                cores_are_bits=True,
            ),
            allocations=(
                "hami.io/aws-neuron-devices-allocated",
                "AWS_NEURON_IDS",
                "NEURON_ALLOC_TIME",
                "NEURON_RESOURCE_TYPE",
                "NEURON_ALLOCATED",
                "aws.amazon.com/predicate-node",
            ),
            selectors=Selectors(
                uuids=("aws.amazon.com/use-neuron-uuid",),
                not_uuids=("aws.amazon.com/nouse-neuron-uuid",),
            ),
        ),
    )


SECTION = Section("awsneuron", "awsneuron", AwsNeuron, AwsNeuron(), _vendors)
