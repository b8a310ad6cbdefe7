"""A recording of a cluster: what came, where it was bound and when it left, a line of JSON each.

docs/reference/recording.md says what stands in it. Names are hashed before they come here.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import msgspec

from berth.errors import UsageError
from berth.model import version
from berth.model.charge import Claim
from berth.model.node import Node
from berth.model.request import PodRequest


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", rename="camel"):
    """What each line has."""

    at: float
    """Seconds since the recording began, when it was seen; 0 for what was there then."""


class Begin(Line, frozen=True, kw_only=True, tag="begin"):
    """The first line."""

    version: Literal[1] = 1
    time: str
    """When it began, in UTC."""
    berth: str
    """The version that recorded."""


class Shown(Line, frozen=True, kw_only=True, tag="node"):
    """A node that has come, or has changed."""

    node: Node


class Withdrawn(Line, frozen=True, kw_only=True, tag="nodeLeft"):
    """A node that is gone."""

    node: str


class Arrived(Line, frozen=True, kw_only=True, tag="arrived"):
    """A Pod that asks for a place."""

    pod: str
    request: PodRequest


class Bound(Line, frozen=True, kw_only=True, tag="bound"):
    """A Pod that has got a node, or of which it is now known which cards it holds there."""

    pod: str
    node: str
    claims: tuple[Claim, ...] = ()


class Left(Line, frozen=True, kw_only=True, tag="left"):
    """A Pod that has ended or is deleted."""

    pod: str


class End(Line, frozen=True, kw_only=True, tag="end"):
    """The last line, unless the recorder was killed."""


Entry: TypeAlias = Begin | Shown | Withdrawn | Arrived | Bound | Left | End
_DECODER: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)


def write(line: Entry) -> bytes:
    """Write one line, with its end."""
    return msgspec.json.encode(line) + b"\n"


def read(text: bytes) -> Iterator[Entry]:
    """Read all lines; a last one without an end was cut off, and is left out.

    Raises UsageError, with the number of the line.
    """
    *lines, _cut = text.split(b"\n")
    return _checked(lines)


def _checked(lines: Iterable[bytes]) -> Iterator[Entry]:
    before = 0.0
    for number, line in enumerate(lines, 1):
        try:
            found = _DECODER.decode(line)
        except (msgspec.MsgspecError, RecursionError) as error:
            other = version.another(line, 1, "record")
            raise UsageError(other or f"line {number} is none of a recording: {error}") from error
        if isinstance(found, Begin) is not (number == 1):
            raise UsageError(f"line {number}: a recording has one line of type begin, its first")
        if found.at < before:
            raise UsageError(f"line {number}: at is {found.at}, less than in the line before")
        before = found.at
        yield found
