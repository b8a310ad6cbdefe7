"""Reads the body of a review, within limits on its size, its time and what all bodies may hold."""

import asyncio
from typing import NoReturn

from aiohttp import HttpVersion11, hdrs, web

from berth.admission.load import Load
from berth.errors import BadReview
from berth.settings import Server

MOST_BYTES = 8 * 2**20
"""kube-apiserver takes objects of 3 MiB, sends two of them on UPDATE, and JSON may be larger."""


class OutOfTimeError(Exception):
    """The caller does not wait any longer."""


class OutOfRoomError(Exception):
    """Other bodies hold all that may be held."""


async def read(request: web.BaseRequest, load: Load, limits: Server, budget: float | None) -> bytes:
    """Return the body, which `load` then holds; where it raises, nothing is held of it.

    Raises BadReview, OutOfTimeError where the caller's time ends first, and OutOfRoomError.
    """
    _check_head(request)
    hurried = budget is not None and budget < limits.body_seconds
    try:
        if request.content.is_eof():  # it came whole with its head, as most do: no timer
            return _held(request.content.read_nowait(), load, limits)
        async with asyncio.timeout(budget if hurried else limits.body_seconds):
            await _let_come(request)
            return await _as_it_comes(request, load, limits)
    except TimeoutError:
        if hurried:
            raise OutOfTimeError from None
        raise BadReview("the body did not come in time", 408) from None
    except (ConnectionError, RuntimeError, web.RequestPayloadError):
        # RuntimeError is how aiohttp says that the caller left before we began to read.
        raise BadReview("the caller went away before the end of the body") from None


async def _as_it_comes(request: web.BaseRequest, load: Load, limits: Server) -> bytes:
    """Hold each part once it is there: who announces much and sends nothing keeps nobody out."""
    body = bytearray()  # parts of a byte each would take forty times what they hold
    try:
        while part := await request.content.readany():
            if len(body) + len(part) > MOST_BYTES:
                _refuse_size()
            body += _held(part, load, limits)
    except BaseException:
        load.give_back(len(body))
        raise
    return bytes(body)


def _held(part: bytes, load: Load, limits: Server) -> bytes:
    if not load.hold(len(part), limits):
        raise OutOfRoomError
    return part


async def _let_come(request: web.BaseRequest) -> None:
    """Tell a caller that waits for it to send the body (RFC 9110, 10.1.1), as curl may do."""
    expected = request.headers.get(hdrs.EXPECT)
    if expected and expected.lower() == "100-continue" and request.version >= HttpVersion11:
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")


def _check_head(request: web.BaseRequest) -> None:
    """Refuse by its head what need not be read. Raises BadReview."""
    # What kube-apiserver sends, and then what others may: with a charset, in capitals.
    kind = request.headers.get(hdrs.CONTENT_TYPE)
    if kind != "application/json" and request.content_type != "application/json":
        raise BadReview("Content-Type is not application/json", 415)
    if request.headers.get(hdrs.CONTENT_ENCODING, "identity") != "identity":
        raise BadReview("Content-Encoding is not supported", 415)
    if (request.content_length or 0) > MOST_BYTES:
        _refuse_size()


def _refuse_size() -> NoReturn:
    raise BadReview("the body is larger than 8 MiB", 413)
