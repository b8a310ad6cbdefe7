"""Folders outside the checkout, made once however many processes ask for them."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.cluster.errors import ClusterError

Say = Callable[[str], None]
"""Where a line of progress goes."""


def root() -> Path:
    """Return the folder that holds everything kept between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "berth"


@contextlib.contextmanager
def lock(folder: Path, *, say: Say) -> Iterator[None]:
    """Hold the only right to change `folder`; the kernel frees it when the holder dies.

    Raises ClusterError where nothing can be kept there.
    """
    held = Path(f"{folder}.lock")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        held.touch()
    except OSError as error:
        raise ClusterError(
            f"{folder.parent} cannot be written: {error.strerror}; set XDG_CACHE_HOME to a folder "
            "that can"
        ) from None
    with held.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for the process that is busy with {folder}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def busy(folder: Path) -> bool:
    """Say whether some process holds the right to change `folder`."""
    try:
        with Path(f"{folder}.lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # nobody has asked for it yet
        pass
    return False


def once(folder: Path, make: Callable[[Path], None], *, say: Say) -> Path:
    """Return `folder`, filled by `make` unless some earlier call did it.

    `make` gets an empty folder beside it, which takes the final name when `make` returns: one
    that was killed leaves nothing under that name, and the next call sweeps up what it left.
    """
    if folder.is_dir():
        return folder
    with lock(folder, say=say):
        if not folder.is_dir():  # else whoever held the lock made it
            unfinished = f"{folder.name}.unfinished-"
            for left_behind in folder.parent.glob(f"{unfinished}*"):
                shutil.rmtree(left_behind)
            with tempfile.TemporaryDirectory(prefix=unfinished, dir=folder.parent) as temporary:
                made = Path(temporary) / folder.name
                made.mkdir()
                make(made)
                made.rename(folder)
    return folder
