"""Devices that are cut into equal slices, of which a container gets some side by side (Enflame).

Their node names the shapes that there are: 3g.20gb is three slices with 20 GiB in all.
"""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from berth.model.device import SLICED, SLICES, Device, Profile

_SHAPE = re.compile(r"(\d{1,2})g\.(\d{1,4})gb", re.ASCII)
_GIB = 1024


def cut(device: Device, shapes: Iterable[str]) -> Device:
    """Return a device of so many slots as it has slices; without a shape, nobody gets any of it."""
    named = [(text, _SHAPE.fullmatch(text.strip().lower())) for text in shapes]
    sizes = [(text, int(one[1]), int(one[2]) * _GIB) for text, one in named if one]
    slices, most = min(device.slots, SLICES), max((size for _, size, _ in sizes), default=1)
    profiles = tuple(
        Profile(text, mib, size * 100 // most, size, tuple(range(slices - size + 1)))
        for text, size, mib in sizes
        if 0 < size <= slices
    )
    memory = max((one.memory_mib for one in profiles), default=device.memory_mib)
    return replace(device, memory_mib=memory, mode=SLICED, profiles=profiles)
