"""Connections byte by byte, for what no HTTP client would send."""

import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from tests.webhook import Answer, Webhook


def dial(webhook: Webhook) -> socket.socket:
    """Return a TCP connection without TLS."""
    return socket.create_connection(("127.0.0.1", webhook.port), timeout=30)


@contextmanager
def opened(
    webhook: Webhook, context: ssl.SSLContext | None = None, name: str | None = "127.0.0.1"
) -> Iterator[ssl.SSLSocket]:
    """Give a TLS connection that asks for the server `name`."""
    with (
        dial(webhook) as plain,
        (context or webhook.tls()).wrap_socket(plain, server_hostname=name) as secure,
    ):
        yield secure


def request(body: bytes, *headers: str, length: int | None = None) -> bytes:
    """Return a POST to /mutate; `length` promises another Content-Length than the body's."""
    lines = [
        "POST /mutate HTTP/1.1",
        "Host: webhook",
        "Content-Type: application/json",
        *(headers or [f"Content-Length: {len(body) if length is None else length}"]),
    ]
    return "\r\n".join(lines).encode(errors="surrogateescape") + b"\r\n\r\n" + body


def answer(stream: BinaryIO) -> Answer:
    """Read one answer, and nothing beyond it."""
    status = int(stream.readline().split()[1])
    headers = {}
    while (line := stream.readline().decode().strip()) != "":
        name, _, value = line.partition(":")
        headers[name.title()] = value.strip()
    return Answer(status, headers, stream.read(int(headers["Content-Length"])))


def peak_mib(webhook: Webhook) -> float:
    """Return the most memory that the process has had resident, in MiB."""
    status = Path(f"/proc/{webhook.process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def open_files(webhook: Webhook) -> int:
    """Count the process' file descriptors."""
    return len(list(Path(f"/proc/{webhook.process.pid}/fd").iterdir()))


def logged(webhook: Webhook, uid: str) -> dict[str, Any]:
    """Return the log line about the review `uid`; by then all lines before it are there too."""

    def lines() -> list[dict[str, Any]]:
        return [line for line in webhook.log if line.get("uid") == uid]

    assert eventually(lambda: bool(lines())), f"{uid} is not logged"
    return lines()[-1]


def eventually(holds: Callable[[], bool], within: float = 10) -> bool:
    """Poll until `holds`, at most `within` seconds; return whether it came to."""
    deadline = time.monotonic() + within
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
