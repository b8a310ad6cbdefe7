"""Nodes and Pods as the API server sends them, for the tests of the ledger."""

from collections.abc import Mapping, Sequence

from berth.cluster.projections import (
    Amounts,
    Condition,
    Container,
    Metadata,
    Node,
    NodeSpec,
    NodeStatus,
    Pod,
    PodSpec,
    PodStatus,
)

READY = (Condition("Ready", "True"),)
REGISTER = "hami.io/node-nvidia-register"
ALLOCATED = "hami.io/vgpu-devices-allocated"


def registration(uuids: Sequence[str], memory: int = 1000) -> str:
    """Return what HAMi's agent writes of such cards."""
    return "".join(f"{uuid},10,{memory},100,NVIDIA-T4,0,true,0,hami-core:" for uuid in uuids)


def node(  # noqa: PLR0913  a node of the tests has this many sides
    name: str,
    uuids: Sequence[str] | None = (),
    uid: str = "1",
    *,
    cpu: str = "8",
    allocatable: Mapping[str, str] | None = None,
    spec: NodeSpec | None = None,
    register: str = "",
) -> Node:
    """Return a node that registers these cards; with None it has no annotation."""
    annotations = {} if uuids is None else {REGISTER: register or registration(uuids)}
    given = {"cpu": cpu, "memory": "16Gi", "pods": "110"} | dict(allocatable or {})
    return Node(
        metadata=Metadata(name=name, uid=uid, annotations=annotations),
        spec=spec or NodeSpec(),
        status=NodeStatus(allocatable=given, conditions=READY),
    )


def container(name: str, *, sidecar: bool = False, **amounts: str) -> Container:
    """Return a container with requests such as `cpu="1"`, and a GPU as limit where named."""
    limits = {"nvidia.com/gpu": amounts.pop("gpu")} if "gpu" in amounts else {}
    return Container(
        name=name,
        resources=Amounts(limits=limits, requests={**limits, **amounts}),
        restart_policy="Always" if sidecar else None,
    )


def pod(  # noqa: PLR0913  so has a Pod
    name: str,
    on: str = "",
    annotations: Mapping[str, str] | None = None,
    *,
    uid: str = "1",
    containers: Sequence[Container] = (),
    init: Sequence[Container] = (),
    phase: str = "Running",
) -> Pod:
    """Return a Pod of one container with 1 CPU and 1 GiB, unless others are given."""
    own = tuple(containers) or (container("main", cpu="1", memory="1Gi"),)
    return Pod(
        metadata=Metadata(namespace="a", name=name, uid=uid, annotations=annotations or {}),
        spec=PodSpec(containers=own, init_containers=tuple(init), node_name=on),
        status=PodStatus(phase=phase),
    )


def holding(*devices: tuple[str, int, int]) -> dict[str, str]:
    """Return the allocation annotation of a Pod of one container."""
    each = "".join(f"{uuid},NVIDIA,{memory},{cores}:" for uuid, memory, cores in devices)
    return {ALLOCATED: f"{each};"}
