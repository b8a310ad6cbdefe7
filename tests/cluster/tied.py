"""Becomes a command in a session of its own that cannot outlive the process that started it.

Run as `python tied.py PARENT COMMAND…`; PARENT is a process id, or 0 for a command that may
outlive everybody. A program of its own, as Python code between fork and exec may deadlock.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Tie, then replace this program by the command."""
    parent, *command = sys.argv[1:]
    os.setsid()  # so that Ctrl-C reaches only the process that stops things in order
    if parent != "0":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):
            sys.exit("the process that started this one has ended already")
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
