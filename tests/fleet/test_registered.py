"""What a Node's register annotations say, for every accelerator and both forms."""

from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berth.dialects import allocated, encodings, registered, volcano
from berth.model.device import Device, Profile
from berth.model.vendor import Vendor
from berth.vendors import VENDORS

BY_NAME = {vendor.name: vendor for vendor in VENDORS}
NVIDIA = BY_NAME["nvidia"]
KEY = "hami.io/node-nvidia-register"
JSON = (
    '[{"id":"GPU-1","count":10,"devmem":40960,"devcore":100,"type":"NVIDIA A100",'
    '"mode":"hami-core","health":true},{"id":"GPU-2","index":1,"count":10,"devmem":40960,"devcore":100,'
    '"type":"NVIDIA A100","numa":1,"mode":"hami-core","health":true}]'
)
COLONS = (
    "GPU-1,10,40960,100,NVIDIA A100,0,true,0,hami-core:"
    "GPU-2,10,40960,100,NVIDIA A100,1,true,1,hami-core:"
)
SEVEN = "GPU-1,10,40960,100,NVIDIA A100,0,true:GPU-2,10,40960,100,NVIDIA A100,1,true:"


def read(
    text: str, vendor: Vendor = NVIDIA, more: Mapping[str, str] | None = None
) -> registered.Found:
    """Read one annotation of a node n1, which has it."""
    annotations = {vendor.records.register[0]: text} | dict(more or {})
    found = registered.devices("n1", annotations, vendor)
    assert found is not None
    return found


def a100(uuid: str, numa: int) -> Device:
    """Return the device that the examples list."""
    return Device(
        uuid=uuid,
        vendor="nvidia",
        model="NVIDIA A100",
        memory_mib=40960,
        numa=numa,
        mode="hami-core",
        stack="hami",
    )


@pytest.mark.parametrize("text", [JSON, COLONS, SEVEN])
def test_both_forms_list_the_same_devices(text: str) -> None:
    """JSON since HAMi 2.8, a colon list of 9 or of 7 fields before."""
    assert read(text) == ((a100("GPU-1", 0), a100("GPU-2", 1)), ())


def test_volcano_registers_with_six_fields() -> None:
    """No cores and no NUMA; the key is its own."""
    text = "GPU-1,10,40960,NVIDIA-A100,true,hami-core:"
    found = registered.devices("n1", {"volcano.sh/node-vgpu-register": text}, NVIDIA)
    assert found is not None
    (device,), problems = found
    assert (device.cores, device.numa, device.model, problems) == (100, -1, "NVIDIA-A100", ())


def test_the_stack_is_told_where_each_has_an_annotation_of_its_own() -> None:
    """NVIDIA's are two; Ascend's plugin writes HAMi's, and Volcano's scheduler reads that."""
    for name, key, stack in (
        ("nvidia", "hami.io/node-nvidia-register", "hami"),
        ("nvidia", "volcano.sh/node-vgpu-register", "volcano"),
        ("Ascend910B3", "hami.io/node-register-Ascend910B3", ""),
    ):
        listed = {key: '[{"id": "A", "devmem": 65536}]'}
        found = registered.devices("n1", listed, BY_NAME[name])
        assert found is not None
        assert [device.stack for device in found[0]] == [stack]


def test_volcano_counts_in_blocks() -> None:
    """Its plugin divides by gpuMemoryFactor; HAMi's annotation stays in MiB, and nothing unknown.

    As its scheduler records what Pods hold in the same blocks.
    """
    (vendor,) = volcano.recorded((NVIDIA,), 1024)
    for key, amount, mib in (
        ("volcano.sh/node-vgpu-register", 40, 40960),
        ("volcano.sh/node-vgpu-register", 0, encodings.NO_MEMORY),
        ("hami.io/node-nvidia-register", 40960, 40960),
    ):
        text = f"GPU-1,10,{amount},NVIDIA-A100,true,hami-core:"
        found = registered.devices("n1", {key: text}, vendor)
        assert found is not None
        assert [device.memory_mib for device in found[0]] == [mib]
    owners = allocated.keys((vendor,))
    for key, amount in (("volcano.sh/vgpu-ids-new", 4), ("hami.io/vgpu-devices-allocated", 4096)):
        held = allocated.read({key: f"GPU-1,NVIDIA,{amount},0:;"}, owners, ("main",))
        assert [claim.memory_mib for claim in held.claims] == [4096]


def test_a_node_without_the_annotation_lists_nothing() -> None:
    """Which is not the same as a list of nothing: then its resources are counted."""
    assert registered.devices("n1", {}, NVIDIA) is None
    assert read("[]") == ((), ())


def test_absent_health_means_false() -> None:
    """Go leaves zero values out of JSON."""
    ((device,), _) = read('[{"id":"GPU-1","count":10,"devmem":1,"devcore":100,"type":"T4"}]')
    assert not device.healthy


def test_what_is_illegible_costs_neither_the_others_nor_the_node() -> None:
    """A number in words, a device without an id, another one twice."""
    bad = JSON[:-1] + ',{"id":"GPU-3","devmem":"lots"},{"count":1},7,{"id":"GPU-1"}]'
    devices, problems = read(bad)
    assert [device.uuid for device in devices] == ["GPU-1", "GPU-2"]
    assert problems == (
        f"metadata.annotations[{KEY}]: [2]: devmem is no whole number of 32 bits",
        f"metadata.annotations[{KEY}]: [3]: no id",
        f"metadata.annotations[{KEY}]: [4]: no device",
        f"metadata.annotations[{KEY}]: GPU-1 stands there twice; the first counts",
    )


@pytest.mark.parametrize(
    "text",
    ["nothing", "{}", "[", "GPU-1,10", '{"devices":[]}', "a,b:", "GPU-1,-1,1,1,T4,0,true:", "[[[["],
)
def test_a_broken_annotation_is_reported(text: str) -> None:
    """With its key, and no device."""
    devices, problems = read(text)
    assert devices == ()
    assert len(problems) == 1
    assert problems[0].startswith(f"metadata.annotations[{KEY}]: ")


def test_an_unknown_numa_node_is_not_node_0() -> None:
    """Bug report 26: `N/A` in the text form broke the whole registration."""
    (one, other), _ = read("a,1,1,100,T4,N/A,true:b,1,1,100,T4,-1,true:")
    assert (one.numa, other.numa) == (-1, -1)


def test_a_cordoned_card_gets_nothing_new() -> None:
    """hami.io/device-cordon, read whenever the Node changes (weakness 23 of HAMi)."""
    (one, other), _ = read(JSON, more={"hami.io/device-cordon": "GPU-9, GPU-2"})
    assert (one.healthy, other.healthy) == (True, False)


def test_pairs_are_linked_as_scored() -> None:
    """In the order of the node's cards; NV18 between two and nothing to itself."""
    scores = '[{"uuid":"GPU-1","score":{"GPU-2":1820}},{"uuid":"GPU-2","score":{"GPU-1":1820}}]'
    (one, other), problems = read(JSON, more={"hami.io/node-nvidia-score": scores})
    assert (one.links, other.links, problems) == ((0, 1820), (1820, 0), ())
    (one, _), problems = read(JSON, more={"hami.io/node-nvidia-score": "{"})
    assert one.links == ()
    assert problems[0].startswith("metadata.annotations[hami.io/node-nvidia-score]: ")


def test_a_card_in_mig_mode_says_how_it_can_be_cut() -> None:
    """Slices of memory count, not the compute slices of `sliceCount`."""
    text = (
        '[{"id":"GPU-1","count":7,"devmem":40960,"devcore":100,"type":"A100","mode":"mig",'
        '"health":true,"migProfiles":[{"name":"3g.20gb","memoryMB":19968,"core":42,'
        '"sliceCount":3,"placements":[{"start":0,"size":4},{"start":4,"size":4}]}]}]'
    )
    (device,), problems = read(text)
    assert device.profiles == (Profile("3g.20gb", 19968, 42, 4, (0, 4)),)
    assert problems == ()
    _, problems = read(text.replace('"start":4', '"start":5'))
    assert problems == (f"metadata.annotations[{KEY}]: [0]: a partition does not lie on 8 slices",)


LISTED = [vendor for vendor in VENDORS if vendor.records.register]


@pytest.mark.parametrize("vendor", LISTED, ids=[vendor.name for vendor in LISTED])
def test_every_accelerator_that_registers_is_read(vendor: Vendor) -> None:
    """In its own words for the parts of a device."""
    fields = vendor.records.fields
    parts = {
        fields.id: "3",
        fields.model: "M",
        fields.memory: 32768,
        fields.cores: 100,
        fields.slots: 8,
        fields.healthy: True,
    }
    one = {key: value for key, value in parts.items() if key}
    text = msgspec.json.encode({fields.inside: [one]} if fields.inside else [one]).decode()
    ((device,), problems) = read(text, vendor)
    assert problems == ()
    assert device.vendor == vendor.name
    assert device.uuid == (f"n1-{fields.word}-3" if fields.word else "3")
    assert device.healthy
    assert device.cores == 100
    assert device.slots == 8


def test_enflame_lists_slices_in_an_object() -> None:
    """As its plugin writes it: ids are numbers, capacity is a number of slices.

    Its memory is that of the largest shape; what is no shape, or too large a one, is none.
    """
    shapes = '{"1g.6gb":"0","3g.20gb":"1","9g.60gb":"2","7g.1gb":"3","g":"4","0g.1gb":"5"}'
    text = f'{{"devices":[{{"index":"0","minor":"0","capacity":6}}],"profiles":{shapes}}}'
    ((device,), problems) = read(text, BY_NAME["enflame-drs"])
    assert (device.uuid, device.memory_mib, device.slots) == ("n1-enflame-drs-0", 20_480, 6)
    assert [(one.memory_mib, one.size, one.starts) for one in device.profiles] == [
        (6_144, 1, (0, 1, 2, 3, 4, 5)),
        (20_480, 3, (0, 1, 2, 3)),
    ]
    assert problems == ()
    ((device,), problems) = read(text.replace(shapes, "[]"), BY_NAME["enflame-drs"])
    assert (device.memory_mib, device.profiles, problems) == (1, (), ())


def test_deep_nesting_is_reported() -> None:
    """256 KiB of brackets are an annotation too."""
    deep = "[" * 100_000
    assert len(read(deep)[1]) == 1
    score = {"hami.io/node-nvidia-score": '[{"uuid":"a","x":' + deep}
    assert len(read(JSON, more=score)[1]) == 1


@given(st.one_of(st.text(), st.text('[]{}",:0123456789idevmcount-GPU.e'), st.from_regex(r"\[\{.*")))
def test_nothing_written_there_raises(text: str) -> None:
    """Whatever an agent, or a person, writes into the annotation."""
    found = registered.devices("n1", {KEY: text}, NVIDIA)
    if found is not None:
        devices, problems = found
        assert len({device.uuid for device in devices}) == len(devices)
        assert all(isinstance(problem, str) for problem in problems)
