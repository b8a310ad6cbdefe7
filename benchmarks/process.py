"""CPU time and memory of a server, read from the kernel's own counters.

A server is the process group that its first process leads, so gunicorn's workers count.
"""

import os
import time
from pathlib import Path

from benchmarks.failure import BenchmarkError


def members(group: int) -> list[int]:
    """Return the ids of the processes in the process group, ascending."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            status = (entry / "stat").read_text()
        except OSError:  # it ended meanwhile
            continue
        # The command name may hold spaces and brackets; state, parent and group follow it.
        if int(status.rpartition(")")[2].split()[2]) == group:
            found.append(int(entry.name))
    return sorted(found)


def cpu_seconds(pids: list[int]) -> float:
    """Return user plus system seconds of the processes, all threads, to the nanosecond.

    Raises BenchmarkError when one of them has ended.
    """
    try:
        return sum(time.clock_gettime(_cpu_clock(pid)) for pid in pids)
    except OSError as error:
        raise BenchmarkError("a process of the server ended while it was measured") from error


def _cpu_clock(pid: int) -> int:
    """Linux's clock_getcpuclockid(3), which Python offers for threads only."""
    scheduler_clock = 2
    return (~pid << 3) | scheduler_clock


def rss_mb(pids: list[int]) -> float:
    """Return the resident megabytes (10^6 bytes) of the processes; pages they share count in each.

    Raises BenchmarkError when one of them has ended.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    try:
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    except OSError as error:
        raise BenchmarkError("a process of the server ended while it was measured") from error
    return pages * page / 1e6
