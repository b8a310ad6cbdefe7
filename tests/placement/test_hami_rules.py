"""Which cards carry a request: HAMi's rules one by one, written down apart, on random cards."""

import sys
from random import Random, SystemRandom

import numpy as np

from berth.model.device import Device
from berth.model.node import Node
from berth.model.placement import Allocation, Hold
from berth.model.request import DeviceRequest
from berth.model.snapshot import Snapshot
from berth.placement.cards import suitable
from tests.placement.test_slices import PROFILES

SEED = SystemRandom().getrandbits(32)
NODES = 400
"""Of one card each."""


def card(dice: Random, at: int) -> Device:
    """Return some card: one of four is cut into partitions."""
    cut = dice.random() < 0.25
    return Device(
        uuid=f"d{at}",
        vendor="nvidia",
        model=dice.choice(["NVIDIA-A100-SXM4-40GB", "NVIDIA-Tesla T4"]),
        memory_mib=40_960 if cut else dice.choice([15_360, 40_960, 81_920]),
        cores=100 if cut else dice.choice([100, 100, 200, 50]),
        slots=dice.choice([1, 2, 7, 10]),
        healthy=dice.random() > 0.1,
        mode="mig" if cut else dice.choice(["hami-core", "mps", ""]),
        profiles=PROFILES if cut else (),
    )


def held(dice: Random, snapshot: Snapshot, row: int) -> Hold:
    """Return what somebody holds of a card: of one that is cut, the first place that is free."""
    memory, cores = int(snapshot.mem_left[row, 0]), int(snapshot.cores_left[row, 0])
    if not snapshot.nodes[row].devices[0].profiles:
        return Hold("c", 0, dice.choice([0, memory // 2, memory]), dice.choice([0, 0, 0, cores]))
    profile = dice.choice(PROFILES[:3])
    for start in profile.starts:
        bits = ((1 << profile.size) - 1) << start
        if not bits & int(snapshot.slices[row, 0]):
            return Hold("c", 0, profile.memory_mib, profile.cores, profile.name, bits)
    return Hold("c", 0, 0, 0)


def request(dice: Random) -> DeviceRequest:
    """Return what a container may want of a card."""
    memory = dice.choice([None, 1_000, 4_864, 9_000, 20_000, 41_000])
    return DeviceRequest(
        vendor="nvidia",
        memory_mib=memory,
        memory_percent=dice.choice([1, 50, 100]) if memory is None else None,
        cores=dice.choice([0, 30, 100, 100]),
        models=dice.choice([(), (), ("a100",), ("t4", "x")]),
        models_not=dice.choice([(), ("sxm",)]),
        mode=dice.choice(["", "", "mig", "hami-core", "hami-core,mig", "mps"]),
        idle=dice.random() < 0.3,
        uuids=dice.choice([(), (), ("d0", "d2")]),
        uuids_not=dice.choice([(), ("d1",)]),
    )


def refusing(wanted: DeviceRequest, device: Device, snapshot: Snapshot, row: int) -> list[int]:
    """Return the numbers of HAMi's rules by which a card does not do (its NVIDIA fit)."""
    used, slices = int(snapshot.holders[row, 0]), int(snapshot.slices[row, 0])
    memory, cores = int(snapshot.mem_left[row, 0]), int(snapshot.cores_left[row, 0])
    model, mib = device.model.lower(), wanted.memory_mib
    if mib is None:
        mib = device.memory_mib * (wanted.memory_percent or 100) // 100
    chosen = not wanted.models or any(word in model for word in wanted.models)
    left_out = any(word in model for word in wanted.models_not)
    other_mode = bool(wanted.mode) and device.mode not in wanted.mode
    not_named = bool(wanted.uuids) and device.uuid not in wanted.uuids
    place = any(
        profile.memory_mib >= mib and not (((1 << profile.size) - 1) << start) & slices
        for profile in device.profiles
        for start in profile.starts
    )
    rules = {
        1: not device.healthy,
        3: not chosen or left_out or other_mode,
        5: not_named or device.uuid in wanted.uuids_not,
        6: used >= device.slots,
        7: wanted.idle and used > 0,
        10: memory < mib,
        11: cores < wanted.cores,
        12: device.cores == wanted.cores == 100 and used > 0,
        13: cores <= 0 and wanted.cores == 0,
        14: bool(device.profiles) and not place,
    }
    return [number for number, refuses in rules.items() if refuses]


def test_a_card_is_suitable_where_no_rule_of_hami_refuses_it() -> None:
    """Each rule refuses some card that no other does, and some cards are refused by none."""
    sys.stdout.write(f"seed {SEED}\n")
    dice, alone = Random(SEED), set[int]()
    devices = [card(dice, at % 4) for at in range(NODES)]
    snapshot = Snapshot(
        Node(name=f"n{row}", cpu_milli=1, memory_mib=1, devices=(device,))
        for row, device in enumerate(devices)
    )
    for row, device in enumerate(devices):
        for _ in range(min(device.slots, dice.choice([0, 0, 1, 2]))):
            hold = held(dice, snapshot, row)
            snapshot.place(Allocation(node=f"n{row}", holds=(hold,)))
    for _ in range(100):
        wanted = request(dice)
        found = suitable(wanted, snapshot, np.arange(NODES))[:, 0].tolist()
        for row, device in enumerate(devices):
            rules = refusing(wanted, device, snapshot, row)
            assert found[row] == (not rules), (SEED, device, wanted, rules)
            alone |= set(rules[:1]) if len(rules) < 2 else set()
    assert alone == {1, 3, 5, 6, 7, 10, 11, 12, 13, 14}, SEED
