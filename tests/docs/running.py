"""The shell blocks of a page, run as a reader runs them: in order, in one shell."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.docs import fences

_MARK = "==== the next block ===="
_SECONDS = 90
_HEAD = """
trap 'echo "a command failed: $BASH_COMMAND" >> failures' ERR
"""
_TAIL = f"echo '{_MARK}'; touch failures; cat failures; rm failures; echo '{_MARK}'\n"


def check(page: Path, folder: Path, environment: Mapping[str, str], **instead: str) -> None:
    """Run the `sh` blocks of a page in `folder`, and hold what each says against what follows it.

    A command may fail only where the page shows what it says then. `instead` replaces words of the
    page, such as a port.
    """
    blocks = fences.scripts(page)
    script = _HEAD + "".join(f"{{\n{fence.text}}} 2>&1\n{_TAIL}" for fence, _ in blocks)
    script = _replaced(script, instead)
    (folder / "examples").symlink_to(fences.ROOT / "examples")
    path = f"{_commands(folder)}:{os.environ['PATH']}"
    said, complained = _run(script, folder, {**os.environ, **environment, "PATH": path})
    *parts, _end = said.split(f"{_MARK}\n")
    assert len(parts) == 2 * len(blocks), f"{said}\n{complained}"
    for (fence, promised), said, failed in zip(blocks, parts[::2], parts[1::2], strict=True):
        if promised is None:
            assert not failed, f"{fence}: {failed}\n{complained}"
        else:
            wanted = _replaced(promised, instead)
            assert fences.matches(wanted, said), f"{fence} said:\n{said}\n{complained}"


def _replaced(text: str, instead: Mapping[str, str]) -> str:
    for word, other in instead.items():
        text = text.replace(word, other)
    return text


def _run(script: str, folder: Path, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return what a script wrote to stdout and stderr; whatever it started ends with it."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        ["bash"],
        cwd=folder,
        env=environment,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            return shell.communicate(script, timeout=_SECONDS)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)


def _commands(folder: Path) -> Path:
    """Return a folder with `berth`, this checkout's, as scripts/setup would install it."""
    here = folder / "bin"
    here.mkdir(exist_ok=True)
    berth = here / "berth"
    berth.write_text(f'#!/bin/sh\nexec {sys.executable} -m berth "$@"\n')
    berth.chmod(0o755)
    return here
