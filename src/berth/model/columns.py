"""Columns and grids of numbers, one line for each row, that grow."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
N = TypeVar("N", bound=np.generic)


def empty() -> Ints:
    """Return a column without rows."""
    return np.zeros(0, dtype=np.int64)


def empty_grid() -> Ints:
    """Return a grid without rows and without places."""
    return np.zeros((0, 0), dtype=np.int64)


def longer(lines: NDArray[N], more: int) -> NDArray[N]:
    """Return the same with so many more rows of zeros."""
    return np.concatenate([lines, np.zeros((more, *lines.shape[1:]), dtype=lines.dtype)])


def wider(lines: NDArray[N], more: int, filler: int) -> NDArray[N]:
    """Return a grid with so many more places in each row."""
    edges = ((0, 0), (0, more), *((0, 0),) * (lines.ndim - 2))
    found: NDArray[N] = np.pad(lines, edges, constant_values=filler)
    return found
