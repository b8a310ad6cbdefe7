"""What a Pod's allocation annotations say that it holds."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berth.dialects import allocated
from berth.model.charge import Claim
from berth.model.vendor import Vendor
from berth.vendors import VENDORS

KEY = "hami.io/vgpu-devices-allocated"
KEYS = allocated.keys(VENDORS)
FOUR = ("init", "a", "b", "c")


def read(text: str, *containers: str, **more: str) -> allocated.Recorded:
    """Read HAMi's annotation for NVIDIA."""
    return allocated.read({KEY: text} | more, KEYS, containers)


def claim(container: str, uuid: str, memory: int, cores: int) -> Claim:
    """Return what a container holds."""
    return Claim(container=container, uuid=uuid, memory_mib=memory, cores=cores)


@pytest.mark.parametrize("more", ["", ";", ";;"])
def test_places_are_containers_and_empty_ones_count(more: str) -> None:
    """HAMi's own example; re-encoding adds a `;` each time."""
    text = ";GPU-1,NVIDIA,4096,30:GPU-2,NVIDIA,4096,30:;;GPU-1,NVIDIA,8192,0:;" + more
    found = read(text, *FOUR)
    assert found.claims == (
        claim("a", "GPU-1", 4096, 30),
        claim("a", "GPU-2", 4096, 30),
        claim("c", "GPU-1", 8192, 0),
    )
    assert found.problems == ()


def test_a_record_with_fewer_places_than_containers_is_not_believed_about_them() -> None:
    """HAMi 2.10.0 drops empty ones in front: all count side by side, which is the most."""
    found = read("GPU-1,NVIDIA,4096,30:;", "init", "main")
    assert found.claims == (claim("", "GPU-1", 4096, 30),)
    assert found.problems == (
        f"metadata.annotations[{KEY}]: 1 places for 2 containers: all count together",
    )


def test_a_device_with_illegible_amounts_is_held_whole() -> None:
    """Bug report 16: counted as nothing, it would be given twice."""
    found = read("GPU-1,NVIDIA,-5,x:GPU-2,NVIDIA:;", "main")
    assert found.claims == (
        Claim(container="main", uuid="GPU-1"),
        Claim(container="main", uuid="GPU-2"),
    )
    assert len(found.problems) == 2


def test_more_places_than_containers_are_counted_and_reported() -> None:
    """A Pod may not hide what it holds behind a container that it does not have."""
    found = read("GPU-1,NVIDIA,1,1:;GPU-2,NVIDIA,1,1:;", "main")
    assert [one.uuid for one in found.claims] == ["GPU-1", "GPU-2"]
    assert found.problems == (f"metadata.annotations[{KEY}]: container 1: the Pod has 1",)


def test_garbage_is_reported_and_claims_nothing() -> None:
    """Whoever reads it then asks elsewhere."""
    found = read("garbage", "main")
    assert found.claims == ()
    assert found.problems == (f"metadata.annotations[{KEY}]: container 0: garbage names no device",)


def test_an_old_partition_names_the_card_before_the_bracket() -> None:
    """HAMi 2.5 to 2.9 and Volcano: GPU-1[template-place]."""
    assert read("GPU-1[0-2],NVIDIA,4864,14:;", "main").claims == (claim("main", "GPU-1", 4864, 14),)


def test_volcano_writes_the_same_under_another_key() -> None:
    """Without a last `;`, too."""
    text = {"volcano.sh/vgpu-ids-new": "GPU-1,NVIDIA,4096,30:"}
    found = allocated.read(text, KEYS, ["main"])
    assert found == allocated.Recorded((claim("main", "GPU-1", 4096, 30),))


def test_partitions_lie_where_the_second_annotation_says() -> None:
    """Two on one card, in the order in which they stand."""
    places = (
        '[{"containerIndex":0,"deviceIndex":0,"gpuUUID":"GPU-1","profile":"2g.10gb",'
        '"placement":{"start":2,"size":2}},{"containerIndex":0,"deviceIndex":1,'
        '"gpuUUID":"GPU-1","profile":"1g.5gb","placement":{"start":6,"size":1},"migUUID":"MIG-1"}]'
    )
    more = {"hami.io/vgpu-mig-allocations": places}
    found = read("GPU-1,NVIDIA,9856,29:GPU-1,NVIDIA,4864,14:;", "main", **more)
    assert [(one.profile, one.slices) for one in found.claims] == [
        ("2g.10gb", 0b1100),
        ("1g.5gb", 0b1000000),
    ]
    more = {"hami.io/vgpu-mig-allocations": places.replace('"size":1', '"size":3')}
    found = read("GPU-1,NVIDIA,9856,29:;", "main", **more)
    assert [one.slices for one in found.claims] == [0]
    assert len(found.problems) == 1


@pytest.mark.parametrize("vendor", VENDORS, ids=[vendor.name for vendor in VENDORS])
def test_every_accelerator_has_a_record(vendor: Vendor) -> None:
    """Under its own key, or HAMi's word for it."""
    for key in vendor.records.allocated:
        found = allocated.read({key: f"D,{vendor.name},64,1:;"}, allocated.keys([vendor]), ["main"])
        assert [one.uuid for one in found.claims] == ["D"]
        assert found.claims[0].memory_mib == 64
        assert found.problems == ()
    assert vendor.records.allocated


def test_what_is_counted_is_guarded() -> None:
    """Of HAMi's records: whoever could write one could take cards, or hold them from others."""
    for vendor in VENDORS:
        own = {key for key in vendor.records.allocated if key.startswith("hami.io/")}
        assert own <= set(vendor.allocations)
        assert not vendor.records.partitions or vendor.records.partitions in vendor.allocations


def test_no_two_accelerators_share_a_key() -> None:
    """Or one would be charged for the other."""
    keys = [key for vendor in VENDORS for key in vendor.records.allocated]
    keys += [key for vendor in VENDORS for key in vendor.records.register]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("key", "cores", "percent"),
    [
        ("hami.io/aws-neuron-devices-allocated", 0b10, 50),
        ("hami.io/aws-neuron-devices-allocated", 0b11, 100),
        ("hami.io/mthreads-vgpu-devices-allocated", 16, 100),
        ("hami.io/mthreads-vgpu-devices-allocated", 4, 25),
        ("hami.io/cambricon-mlu-devices-allocated", 30, 30),
    ],
)
def test_cores_become_percent(key: str, cores: int, percent: int) -> None:
    """Neuron writes a set of bits, Moore Threads sixteenths, the others percent."""
    found = allocated.read({key: f"D,W,1,{cores}:;"}, KEYS, ["main"])
    assert [one.cores for one in found.claims] == [percent]


def test_deep_nesting_is_reported() -> None:
    """In the annotation of partitions."""
    more = {"hami.io/vgpu-mig-allocations": '[{"x":' + "[" * 100_000}
    assert len(read("GPU-1,NVIDIA,1,1:;", "main", **more).problems) == 1


@given(st.text("GPU-1,:;[]0NVIDIA \n"), st.text('[]{}:,"containerIndex0gpuUUIDplacement'))
def test_nothing_written_there_raises_or_hides(text: str, places: str) -> None:
    """What claims nothing though it is no mere row of empty places is reported."""
    found = read(text, "main", **{"hami.io/vgpu-mig-allocations": places})
    if text.replace(";", "").replace(":", "").strip():
        assert found.claims or found.problems
    assert (
        msgspec.json.decode(msgspec.json.encode(found.claims), type=tuple[Claim, ...])
        == found.claims
    )
