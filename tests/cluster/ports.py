"""Loopback ports that nobody listens on."""

import random
import socket
from pathlib import Path

_LOWEST = 10_000
_HANDED_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free(count: int) -> list[int]:
    """Return that many different free ports; ask just before use, as nothing reserves them.

    They are below those that the kernel hands out to whoever connects, or listens on port 0: until
    they are used, only somebody who picks this very number can take them.
    """
    first = int(_HANDED_OUT.read_text().split()[0])
    picked = list(range(_LOWEST, first) or range(_LOWEST, 2**16))
    random.SystemRandom().shuffle(picked)
    unused = (port for port in picked if _is_free(port))
    return [next(unused) for _ in range(count)]


def _is_free(port: int) -> bool:
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
