"""Small clusters and requests for the tests of placement, and random ones."""

import msgspec
from hypothesis import strategies as st

from berth.model.device import Device
from berth.model.node import Node
from berth.model.request import DeviceRequest, PodRequest

A100 = ("NVIDIA-A100-80GB", 81_920)
T4 = ("NVIDIA-T4", 15_360)


def node(  # noqa: PLR0913  a node of the tests has this many sides
    name: str,
    cards: int = 1,
    kind: tuple[str, int] = A100,
    *,
    cpu: int = 32_000,
    memory: int = 131_072,
    pods: int = 110,
    slots: int = 10,
    rank: int | None = None,
    links: tuple[tuple[int, ...], ...] = (),
    numa: tuple[int, ...] = (),
) -> Node:
    """Return a node with so many NVIDIA cards of one kind."""
    devices = tuple(
        Device(
            uuid=f"{name}-{card}",
            vendor="nvidia",
            model=kind[0],
            memory_mib=kind[1],
            slots=slots,
            links=links[card] if links else (),
            numa=numa[card] if numa else -1,
        )
        for card in range(cards)
    )
    return Node(name=name, cpu_milli=cpu, memory_mib=memory, pods=pods, devices=devices, rank=rank)


def share(memory: int, cores: int = 0, count: int = 1) -> DeviceRequest:
    """Want so much of each of `count` cards."""
    return DeviceRequest(vendor="nvidia", memory_mib=memory, cores=cores, count=count)


def whole(count: int = 1) -> DeviceRequest:
    """Want cards alone."""
    return DeviceRequest(vendor="nvidia", cores=100, count=count)


def pod(*devices: DeviceRequest, cpu: int = 1_000, memory: int = 1_024) -> PodRequest:
    """Return a Pod whose containers want these, one each."""
    named = tuple((f"c{at}", device) for at, device in enumerate(devices))
    return PodRequest(cpu_milli=cpu, memory_mib=memory, devices=named)


LINKS = ((0, 1, 9, 1), (1, 0, 1, 9), (9, 1, 0, 1), (1, 9, 1, 0))
NODES = st.lists(
    st.builds(
        lambda cards, kind, cpu, slots: (cards, kind, cpu, slots),
        st.integers(0, 4),
        st.sampled_from([A100, T4]),
        st.sampled_from([4_000, 16_000, 64_000]),
        st.sampled_from([2, 10]),
    ),
    min_size=1,
    max_size=6,
).map(
    lambda made: [
        node(f"n{at}", cards, kind, cpu=cpu, slots=slots, numa=(0, 1, 1, 0), links=LINKS)
        for at, (cards, kind, cpu, slots) in enumerate(made)
    ]
)
DEVICES = st.one_of(
    st.builds(
        share,
        st.sampled_from([1_000, 5_000, 8_192, 15_360, 40_960]),
        st.sampled_from([0, 10, 50]),
        st.sampled_from([1, 1, 1, 2]),
    ),
    st.builds(whole, st.sampled_from([1, 1, 2, 4])),
    st.builds(
        lambda percent: DeviceRequest(vendor="nvidia", memory_percent=percent),
        st.sampled_from([25, 50, 100]),
    ),
    st.just(DeviceRequest(vendor="nvidia", memory_mib=4_096, models=("T4",))),
    st.builds(
        DeviceRequest,
        vendor=st.just("nvidia"),
        count=st.sampled_from([1, 2, 3]),
        memory_mib=st.just(2_048),
        linked=st.booleans(),
        same_numa=st.booleans(),
        idle=st.booleans(),
        order=st.sampled_from([(), ("binpack",), ("numa", "spread")]),
    ),
)


def _pod(
    devices: list[DeviceRequest], init: list[DeviceRequest], cpu: int, beside: int
) -> PodRequest:
    """Return a Pod whose first containers are sidecars beside all its init containers."""
    made = pod(*devices, cpu=cpu)
    names = tuple(name for name, _ in made.devices[:beside])
    before = tuple((f"i{at}", one) for at, one in enumerate(init))
    sidecars = tuple((name, names) for name, _ in before if names)
    return msgspec.structs.replace(made, init_devices=before, sidecars=sidecars)


PODS = st.builds(
    _pod,
    st.lists(DEVICES, max_size=2),
    st.one_of(st.just([]), st.lists(DEVICES, max_size=2)),
    st.sampled_from([0, 500, 2_000, 8_000]),
    st.integers(0, 2),
)
