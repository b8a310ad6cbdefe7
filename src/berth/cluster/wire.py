"""What the API server answers to a list and to a watch, as values."""

from collections.abc import Sequence
from typing import Generic, Literal, TypeVar

import msgspec

from berth.cluster.projections import Object
from berth.errors import ReadFailed

Kind = TypeVar("Kind", bound=Object)


class Page(msgspec.Struct, Generic[Kind], frozen=True):
    """One page of a list."""

    items: Sequence[Kind]
    version: str
    """The state of the cluster that the whole list shows, page for page."""
    rest: str = ""
    """The token for the next page; empty in the last one."""


class Event(msgspec.Struct, Generic[Kind], frozen=True):
    """One line of a watch."""

    version: str
    """The state of the cluster up to which we have now heard everything."""
    object: Kind | None = None
    """None in a bookmark, which says no more than the version."""
    deleted: bool = False


class _ListMeta(msgspec.Struct, rename={"version": "resourceVersion", "rest": "continue"}):
    version: str = ""
    rest: str = ""


class _List(msgspec.Struct):
    items: list[msgspec.Raw] | None = None  # some servers write an empty list as null
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


class _Line(msgspec.Struct):
    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
    object: msgspec.Raw


class _Bookmark(msgspec.Struct):
    metadata: _ListMeta


class _Details(msgspec.Struct, rename="camel"):
    retry_after_seconds: float = 0


class _Status(msgspec.Struct):
    code: int = 0
    message: str = ""
    details: _Details | None = None


_LIST = msgspec.json.Decoder(_List)
_LINE = msgspec.json.Decoder(_Line)
_BOOKMARK = msgspec.json.Decoder(_Bookmark)
_STATUS = msgspec.json.Decoder(_Status)


class Decoder(Generic[Kind]):
    """Reads answers about one kind of object."""

    def __init__(self, kind: type[Kind]) -> None:
        """Read objects as `kind`, whose fields say what is kept."""
        self._objects = msgspec.json.Decoder(kind)

    def page(self, body: bytes) -> Page[Kind]:
        """Read the answer to a list. Raises ReadFailed."""
        try:
            found = _LIST.decode(body)
            items = [self._objects.decode(raw) for raw in found.items or ()]
        except msgspec.MsgspecError as error:
            raise ReadFailed(f"a list from the API server cannot be read: {error}") from error
        return Page(items=items, version=found.metadata.version, rest=found.metadata.rest)

    def event(self, line: bytes) -> Event[Kind]:
        """Read a line of a watch. Raises ReadFailed, also where the line says that it failed."""
        try:
            found = _LINE.decode(line)
            if found.type == "ERROR":
                raise refusal(0, bytes(found.object))
            if found.type == "BOOKMARK":
                return Event(version=_BOOKMARK.decode(found.object).metadata.version)
            object_ = self._objects.decode(found.object)
        except msgspec.MsgspecError as error:
            raise ReadFailed(f"an event from the API server cannot be read: {error}") from error
        version = object_.metadata.resource_version
        return Event(version=version, object=object_, deleted=found.type == "DELETED")


def refusal(status: int, body: bytes, retry_after: float = 0) -> ReadFailed:
    """Return what an answer that is not 2xx says: a Status, or from a proxy anything."""
    try:
        said = _STATUS.decode(body)
    except msgspec.MsgspecError:
        said = _Status()
    status = said.code or status
    if said.details:
        retry_after = max(retry_after, said.details.retry_after_seconds)
    return ReadFailed(f"HTTP {status}: {said.message or 'no reason given'}", status, retry_after)
