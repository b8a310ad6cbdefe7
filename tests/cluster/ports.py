"""Loopback ports that nobody listens on."""

import contextlib
import socket


def free(count: int) -> list[int]:
    """Return that many different free ports; ask just before use, as nothing reserves them."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
