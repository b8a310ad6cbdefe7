"""Fixed partitions of a card (MIG): which profile a request gets, and where on the card it lies.

Profiles lie on slices of the card, at certain starts only, and must not overlap. The choice is
HAMi's: the smallest profile with memory enough that still has a place; those of one and of three
compute slices are put as high as they go, so that the low starts stay for the large ones.
"""

from functools import lru_cache

import numpy as np

from berth.model.device import Profile
from berth.model.snapshot import SLICES, Bools

HIGH = ("1g", "3g")
"""The profiles that are put as high as they go."""


def place(
    profiles: tuple[Profile, ...], memory_mib: int, cores: int, taken: int
) -> tuple[Profile, int] | None:
    """Return the profile that a request gets, and its slices as bits; None if it has no place.

    `taken` are the slices in use, as bits. More than the largest profile has is that profile.
    """
    largest = max(profile.memory_mib for profile in profiles)
    wanted = largest if cores >= 100 else min(memory_mib, largest)
    for profile in sorted(profiles, key=lambda one: (one.memory_mib, one.size)):
        if profile.memory_mib >= wanted:
            high = profile.name.startswith(HIGH)
            for start in sorted(profile.starts, reverse=high):
                bits = ((1 << profile.size) - 1) << start
                if not bits & taken:
                    return profile, bits
    return None


@lru_cache(maxsize=4096)
def placeable(profiles: tuple[Profile, ...], memory_mib: int, cores: int) -> Bools:
    """Say for each set of slices in use whether a request still has a place on the card."""
    states = range(1 << SLICES)
    return np.array([place(profiles, memory_mib, cores, taken) is not None for taken in states])
