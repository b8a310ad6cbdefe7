"""Processes on record in a folder: NAME.pid says who runs, NAME.log what it says.

Whoever has the folder can stop them, also after the process that started them is gone.
"""

import contextlib
import os
import select
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TIED = Path(__file__).with_name("tied.py")
_STOP_SECONDS = 20
_KILL_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A program that was started."""

    name: str
    pid: int
    identity: str
    """What no other process with this pid has: the boot and the tick in which it started."""
    log: Path


def start(
    name: str,
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    tied: bool,
) -> Process:
    """Start `command` and record it; `tied` ends it with the thread that calls this."""
    log = folder / f"{name}.log"
    pid = os.posix_spawn(
        sys.executable,
        session(command, tied=tied),
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
    )
    identity = _identity(pid) or "ended"
    (folder / f"{name}.pid").write_text(f"{pid} {identity}")
    return Process(name=name, pid=pid, identity=identity, log=log)


def session(command: Sequence[str], *, tied: bool) -> list[str]:
    """Return the command that runs `command` as a session; the caller ends it where `tied`."""
    parent = str(os.getpid() if tied else 0)
    return [sys.executable, "-I", "-S", str(_TIED), parent, *command]


def recorded(folder: Path) -> list[Process]:
    """Return every process that was started in `folder`, the last first."""
    files = sorted(folder.glob("*.pid"), key=lambda file: file.stat().st_mtime_ns, reverse=True)
    return [_read(file) for file in files]


def alive(process: Process) -> bool:
    """Say whether the process runs, and is the one that was started."""
    return _identity(process.pid) == process.identity


def stop(process: Process) -> None:
    """Ask the process to end, make it end where that takes too long, and see it gone."""
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(process.pid)  # from here on no other process can be meant
        try:
            if alive(process):
                signal.pidfd_send_signal(handle, signal.SIGTERM)
                if not _ended(handle, _STOP_SECONDS):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    _ended(handle, _KILL_SECONDS)
        finally:
            os.close(handle)
    with contextlib.suppress(ChildProcessError):  # not ours to collect, if we did not start it
        os.waitpid(process.pid, os.WNOHANG)


def last_lines(process: Process) -> str:
    """Return the end of what the process said."""
    return "\n".join(process.log.read_text(errors="replace").splitlines()[-10:])


def _read(file: Path) -> Process:
    pid, _, identity = file.read_text().partition(" ")
    return Process(name=file.stem, pid=int(pid), identity=identity, log=file.with_suffix(".log"))


def _identity(pid: int) -> str | None:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # After the name, which may itself hold spaces and brackets: the state, … the start (proc(5)).
    state, *fields = status.rpartition(")")[2].split()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return None if state in "ZX" else f"{boot}/{fields[18]}"


def _ended(handle: int, seconds: float) -> bool:
    return bool(select.select([handle], [], [], seconds)[0])
