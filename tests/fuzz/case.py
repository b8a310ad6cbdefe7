"""One hostile request, and how it goes on the wire."""

from typing import NamedTuple

JSON_HEAD = "Content-Type: application/json"
MIB = 2**20
MOST = 8 * MIB


class Case(NamedTuple):
    """What is sent; `seed/number` makes it again."""

    kind: str
    body: bytes
    path: str = "/mutate"
    head: tuple[str, ...] = (JSON_HEAD,)
    method: str = "POST"
    raw: bytes = b""
    """The whole request, head and all, where HTTP itself is wrong; on a connection of its own."""
    ends: bool = False
    """Whether the caller goes away after it, and wants no answer."""

    @property
    def wire(self) -> bytes:
        """The bytes to send."""
        lines = (f"{self.method} {self.path} HTTP/1.1", "Host: webhook", *self.head)
        length = f"Content-Length: {len(self.body)}\r\n\r\n"
        return self.raw or "\r\n".join((*lines, length)).encode("latin-1") + self.body
