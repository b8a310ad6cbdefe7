"""The event loop's pulse: how late it runs, and an end to a process whose loop hangs."""

import asyncio
import faulthandler
from collections.abc import Callable

_PULSE = 0.5  # seconds


async def watched(most: float, lag: Callable[[float], object]) -> None:
    """Tell `lag` at each pulse how many seconds late it came; 0 for `most` tells no more.

    Where no pulse comes for `most` seconds, the process writes every thread's stack to stderr and
    exits with 1, so that kubelet starts it anew. This works while the interpreter itself is held,
    as the timer is a thread of faulthandler's without Python code.
    """
    loop = asyncio.get_running_loop()
    due = loop.time()
    try:
        while True:
            if most:
                faulthandler.dump_traceback_later(most, exit=True)
            lag(max(0.0, loop.time() - due))
            due = loop.time() + _PULSE
            await asyncio.sleep(_PULSE)
    finally:
        faulthandler.cancel_dump_traceback_later()
