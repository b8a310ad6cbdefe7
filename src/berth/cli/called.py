"""How `berth` was called, so that what we tell people to type works where they typed that."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


def as_typed(words: str) -> str:
    """Return a command of ours as it can be typed here: `.venv/bin/berth explain`, in backticks."""
    return f"`{name(sys.argv[0], sys.orig_argv)} {words}`"


def name(program: str, line: Sequence[str]) -> str:
    """Return `berth` where the PATH leads to this program, else the way that was typed.

    `program` is the file that runs, and `line` the whole command line with its interpreter.
    """
    if Path(program).name == "__main__.py":
        return f"{line[0]} -m berth"
    known = shutil.which("berth")
    same = known is not None and Path(known).resolve() == Path(program).resolve()
    return "berth" if same else program
