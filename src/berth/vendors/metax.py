"""MetaX under HAMi: whole GPUs, and shares of them (sGPU) with a class and a quality of service."""

from collections.abc import Iterator, Mapping

from berth.model.raw import Json
from berth.model.records import Counted, Fields, Records
from berth.model.section import Keys, Section
from berth.model.vendor import Amounts, Fault, Selectors, Settled, Vendor, recorded

CLASS = "metax-tech.com/sgpu-app-class"
QOS = "metax-tech.com/sgpu-qos-policy"
_TOPOLOGY = "metax-tech.com/sgpu-topology-aware"
_CLASSES = ("online", "offline")
_POLICIES = ("best-effort", "fixed-share", "burst-share")


class Metax(Keys, frozen=True, kw_only=True):
    """The section `metax`."""

    resource_count_name: str = "metax-tech.com/gpu"
    resource_v_count_name: str = "metax-tech.com/sgpu"
    resource_v_memory_name: str = "metax-tech.com/vmemory"
    resource_v_core_name: str = "metax-tech.com/vcore"
    sgpu_topology_aware: bool = False
    """How HAMi's scheduler orders sGPUs; it and the node side act on it."""


def _settle(vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]) -> Settled:
    faults = tuple(_faults(vendor, asked, annotations))
    lacks = annotations.get(CLASS) != "online" and QOS not in annotations
    return Settled(amounts=asked, annotations={QOS: _POLICIES[0]} if lacks else {}, faults=faults)


def _faults(vendor: Vendor, asked: Amounts, annotations: Mapping[str, Json]) -> Iterator[Fault]:
    app = annotations.get(CLASS)
    if app is not None and app not in _CLASSES:
        yield _unknown(CLASS, app, _CLASSES)
    if app is not None and asked.count != 1:
        yield Fault(
            code="not-shared.class",
            role="count",
            facts={"count": asked.count or 0, "key": CLASS, "name": vendor.count},
        )
    policy = annotations.get(QOS)
    if app != "online" and policy is not None and policy not in _POLICIES:
        yield _unknown(QOS, policy, _POLICIES)


def _unknown(key: str, value: Json, known: tuple[str, ...]) -> Fault:
    facts = {"shown": str(value)[:40], "known": ", ".join(known)}
    return Fault(code="annotation.metax", annotation=key, facts=facts)


def _vendors(keys: Metax) -> tuple[Vendor, ...]:
    return (
        Vendor(
            family="metax",
            name="metax-gpu",
            domain="metax-tech.com/",
            count=keys.resource_count_name,
            implied_cores=100,
            records=Records(
                word="metax",
                allocated=("hami.io/metax-gpu-devices-allocated",),
                counted=Counted(memory_mib=65536),
            ),
            allocations=(
                *recorded("metax-gpu"),
                "metax-tech.com/gpu-devices-allocated",
                "metax-tech.com/predicate-time",
            ),
        ),
        Vendor(
            family="metax",
            name="metax-sgpu",
            domain="metax-tech.com/",
            count=keys.resource_v_count_name,
            memory=keys.resource_v_memory_name,
            memory_unit=1024,
            memory_in_bytes=True,
            cores=keys.resource_v_core_name,
            implied_cores=100,
            settle=_settle,
            records=Records(
                register=("metax-tech.com/node-gpu-devices",),
                fields=Fields(
                    id="uuid",
                    model="model",
                    memory="totalVRam",
                    cores="totalCompute",
                    slots="totalDevCount",
                    healthy="healthy",
                ),
                allocated=("hami.io/metax-sgpu-devices-allocated",),
            ),
            allocations=recorded("metax-sgpu"),
            selectors=Selectors(
                uuids=("metax-tech.com/use-gpuuuid",),
                not_uuids=("metax-tech.com/nouse-gpuuuid",),
                other=(QOS, CLASS),
                switches=(_TOPOLOGY,),
            ),
        ),
    )


SECTION = Section("metax", "metax", Metax, Metax(), _vendors)
