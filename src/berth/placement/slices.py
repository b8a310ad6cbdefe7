"""Fixed partitions of a card (MIG): which profile a request gets, and where on the card it lies.

Profiles lie on slices of the card, at certain starts only, and must not overlap. The choice is
HAMi's: the smallest profile with memory enough that still has a place; those of one and of three
compute slices are put as high as they go, so that the low starts stay for the large ones.
"""

from functools import lru_cache
from typing import Self

import msgspec
import numpy as np

from berth.model.device import SLICES, Profile
from berth.model.snapshot import Ints

HIGH = ("1g", "3g")
"""The profiles that are put as high as they go."""
STATES = range(1 << SLICES)
"""All sets of slices in use."""


def place(profiles: tuple[Profile, ...], memory_mib: int, taken: int) -> tuple[Profile, int] | None:
    """Return the profile that a request gets, and its slices as bits; None if it has no place.

    `taken` are the slices in use, as bits.
    """
    for profile in sorted(profiles, key=lambda one: (one.memory_mib, one.size)):
        if profile.memory_mib >= memory_mib:
            high = profile.name.startswith(HIGH)
            for start in sorted(profile.starts, reverse=high):
                bits = ((1 << profile.size) - 1) << start
                if not bits & taken:
                    return profile, bits
    return None


class Cut(msgspec.Struct, frozen=True):
    """What a request gets of a cut card, by the slices in use; for many kinds, by kind before."""

    slices: Ints
    """Those that its partition lies on, as bits: 0 for no place, -1 where cards are not cut."""
    memory: Ints
    cores: Ints
    profile: Ints
    """Which of the kind's profiles it is, -1 for none."""
    instances: Ints
    """How many such requests get a place one after another; 1 where cards are not cut."""

    def at(self, kinds: Ints, taken: Ints) -> Self:
        """Return the same for these cards in this state."""
        return type(self)(*(table[kinds, taken] for table in msgspec.structs.astuple(self)))


@lru_cache(maxsize=4096)
def cut(profiles: tuple[Profile, ...], memory_mib: int) -> Cut:
    """Return what a request gets in each state of a card with these profiles."""
    found = [place(profiles, memory_mib, taken) for taken in STATES]
    slices = np.array([0 if one is None else one[1] for one in found])
    instances = np.zeros_like(slices)
    for taken in reversed(STATES):  # one partition more is a larger number
        if slices[taken]:
            instances[taken] = 1 + instances[taken | slices[taken]]
    return Cut(
        slices=slices,
        memory=np.array([0 if one is None else one[0].memory_mib for one in found]),
        cores=np.array([0 if one is None else one[0].cores for one in found]),
        profile=np.array([-1 if one is None else profiles.index(one[0]) for one in found]),
        instances=instances,
    )


def uncut(memory_mib: int, cores: int) -> Cut:
    """Return what a request gets of a card that is not cut."""
    each = [np.full(len(STATES), number) for number in (-1, memory_mib, cores, -1, 1)]
    return Cut(*each)
