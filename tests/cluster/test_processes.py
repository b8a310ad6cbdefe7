import contextlib
import dataclasses
import os
import select
import subprocess
import sys
from pathlib import Path

from tests.cluster import processes

DEADLINE_SECONDS = 30
SLEEP = ("/bin/sleep", "600")
START_AND_DIE = f"""
import os, pathlib, sys
from tests.cluster import processes
processes.start("sleep", {SLEEP}, folder=pathlib.Path(sys.argv[1]), environment={{}}, tied=True)
os._exit(0)
"""


def test_a_tied_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    """Whatever kills a test run leaves no server behind."""
    checkout = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", START_AND_DIE, str(tmp_path)], cwd=checkout, check=True)
    (process,) = processes.recorded(tmp_path)
    with contextlib.suppress(ProcessLookupError):
        handle = os.pidfd_open(process.pid)
        ended, _, _ = select.select([handle], [], [], DEADLINE_SECONDS)
        os.close(handle)
        assert ended


def test_only_the_process_that_was_started_is_stopped(tmp_path: Path) -> None:
    """Another that happens to have the recorded pid is left alone."""
    process = processes.start("sleep", SLEEP, folder=tmp_path, environment={}, tied=True)
    assert processes.recorded(tmp_path) == [process]
    processes.stop(dataclasses.replace(process, identity="of an earlier boot"))
    assert processes.alive(process)
    processes.stop(process)
    assert not processes.alive(process)
