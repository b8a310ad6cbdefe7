"""The devices of nodes that list none: by resources, and by the labels of feature discovery."""

import pytest

from berth.dialects import counted
from berth.dialects.registered import Found
from berth.vendors import VENDORS

BY_NAME = {vendor.name: vendor for vendor in VENDORS}
GPU = "nvidia.com/gpu"


def nvidia(announced: int, **labels: str) -> Found:
    """Return the devices of a node with a plain device plugin."""
    named = {f"{GPU}.{key}": value for key, value in labels.items()}
    return counted.devices("n1", {GPU: announced}, named, BY_NAME["nvidia"])


def test_a_plain_node_has_as_many_cards_as_it_announces() -> None:
    """Of the product and memory that the labels say, each for one Pod."""
    found, problems = nvidia(2, product="NVIDIA-A100-SXM4-80GB", memory="81920", count="2")
    assert [(one.uuid, one.model, one.memory_mib, one.slots) for one in found] == [
        ("n1-nvidia-0", "NVIDIA-A100-SXM4-80GB", 81920, 1),
        ("n1-nvidia-1", "NVIDIA-A100-SXM4-80GB", 81920, 1),
    ]
    assert problems == ()


def test_replicas_of_time_slicing_are_devices_with_their_part_of_the_memory() -> None:
    """8 announced, with 4 replicas of each of 2 cards, are for 8 Pods that ask for one each."""
    found, _ = nvidia(8, product="NVIDIA-A10-SHARED", memory="23028", count="2", replicas="4")
    assert [one.uuid for one in found[3:5]] == ["n1-nvidia-0::3", "n1-nvidia-1::0"]
    assert {(one.memory_mib, one.slots) for one in found} == {(5757, 1)}
    assert len(found) == 8
    fewer, _ = nvidia(4, memory="23028", count="2", replicas="4")
    assert len(fewer) == 4, "a card fell ill"


def test_a_card_that_fell_ill_is_no_longer_announced() -> None:
    """Allocatable falls first; the label still says how many there are (bug report 52)."""
    assert len(nvidia(7, count="8")[0]) == 7


def test_partitions_of_the_strategy_single_are_devices() -> None:
    """The product says which; all are alike."""
    found, _ = nvidia(7, product="NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", memory="4864", count="7")
    assert {(one.mode, one.memory_mib) for one in found} == {("mig", 4864)}
    assert len(found) == 7


def test_partitions_of_the_strategy_mixed_are_no_cards() -> None:
    """They have resources of their own, that Kubernetes counts."""
    resources = {GPU: 0, "nvidia.com/mig-1g.5gb": 7}
    assert counted.devices("n1", resources, {}, BY_NAME["nvidia"]) == ((), ())


def test_a_label_that_is_no_number_is_reported() -> None:
    """And the cards are there all the same."""
    found, problems = nvidia(1, memory="much")
    assert [one.memory_mib for one in found] == [1]
    assert problems == (f"metadata.labels[{GPU}.memory]: much is no number",)


@pytest.mark.parametrize(
    ("name", "resources", "cards", "memory", "slots"),
    [
        ("metax-gpu", {"metax-tech.com/gpu": 8}, 8, 65536, 1),
        ("enflame-gcu", {"enflame.com/gcu": 2}, 2, 100, 1),
        ("kunlun-xpu", {"kunlunxin.com/xpu": 8}, 8, 98304, 1),
        ("awsneuron", {"aws.amazon.com/neuron": 16, "aws.amazon.com/neuroncore": 32}, 16, 1, 2),
        (
            "cambricon",
            {
                "cambricon.com/vmlu": 20,
                "cambricon.com/mlu.smlu.vcore": 200,
                "cambricon.com/mlu.smlu.vmemory": 320,
            },
            2,
            40960,
            100,
        ),
        (
            "mthreads",
            {
                "mthreads.com/vgpu": 32,
                "mthreads.com/sgpu-core": 32,
                "mthreads.com/sgpu-memory": 192,
            },
            2,
            49152,
            100,
        ),
    ],
)
def test_accelerators_without_an_annotation_are_counted(
    name: str, resources: dict[str, int], cards: int, memory: int, slots: int
) -> None:
    """As HAMi's GetNodeDevices of each."""
    found, problems = counted.devices("n1", resources, {}, BY_NAME[name])
    assert len(found) == cards
    assert {(one.memory_mib, one.slots, one.cores) for one in found} == {(memory, slots, 100)}
    assert len({one.uuid for one in found}) == cards
    assert problems == ()


def test_a_count_beyond_reason_is_reported() -> None:
    """A million cards would cost memory, and no node has them."""
    found, problems = counted.devices("n1", {"metax-tech.com/gpu": 10**6}, {}, BY_NAME["metax-gpu"])
    assert found == ()
    assert problems == (
        "status.allocatable[metax-tech.com/gpu]: 1000000 are more cards than a node has",
    )
