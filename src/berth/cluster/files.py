"""Files that are replaced under us: certificates, settings, volumes of Secrets and ConfigMaps."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from watchfiles import awatch

_STEP_MS = 200
"""Rust looks so often whether events have come, and ends: the thread wakes 5 times a second.

A change is seen within two steps, as an event after it may belong to it.
"""
Contents: TypeAlias = Mapping[Path, bytes | None]
"""What each file holds; None where it cannot be read now."""


def read(files: Sequence[Path]) -> Contents:
    """Read the files as they are now."""
    return {file: _bytes(file) for file in files}


async def changes(
    files: Sequence[Path], every: float, known: Contents | None = None
) -> AsyncIterator[Contents]:
    """Yield what the files hold whenever it is another than before: at once, or within `every` s.

    What it was before is `known`, where the caller has read them already.

    The folders are watched, as a file on a Secret's volume is a link through a folder that is
    swapped; and the content is compared every `every` seconds, for where no events come. Raises
    OSError where a folder does not exist.
    """
    last = read(files) if known is None else known
    folders = {file.parent for file in files}
    ticks = awatch(
        *folders,
        recursive=False,
        rust_timeout=int(every * 1000),
        yield_on_timeout=True,
        step=_STEP_MS,
    )
    async for _ in ticks:
        found = read(files)
        if found != last:
            last = found
            yield found


def _bytes(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None
