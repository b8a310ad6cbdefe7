"""What the log says of requests that are no HTTP."""

import logging

from aiohttp.http_exceptions import HttpProcessingError


def without_bytes(record: logging.LogRecord) -> bool:
    """Make one plain line of a complaint of aiohttp's; a filter of its logger.

    aiohttp complains at level error, with its stack and the bytes that came: after a broken head,
    those may be a token, or the Pod that followed.
    """
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HttpProcessingError):
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.msg, record.args, record.exc_info = "admission.unreadable", (), None
        record.status, record.why = error.code, "the request is not HTTP/1.1"
    return True
