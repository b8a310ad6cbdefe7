"""Log lines: JSON, one object a line, or text on a terminal; an event name and its fields."""

import logging
import sys
from typing import Literal, TextIO

import orjson

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """{"time": seconds since 1970, "level", "event", …the fields of `extra`, "error"}."""

    def format(self, record: logging.LogRecord) -> str:
        """Render one record."""
        line: dict[str, object] = {
            "time": record.created,
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


class TextFormatter(logging.Formatter):
    """`12:00:01 info event key=value …`, and the stack below it."""

    def format(self, record: logging.LogRecord) -> str:
        """Render one record."""
        fields = " ".join(f"{key}={value}" for key, value in _fields(record).items())
        time = self.formatTime(record, "%H:%M:%S")
        line = f"{time} {record.levelname.lower():7} {record.getMessage()} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


def start(level: str, form: Literal["auto", "json", "text"], stream: TextIO | None = None) -> None:
    """Send the log of the whole process to `stream` (stderr) in `form`."""
    stream = stream or sys.stderr
    text = form == "text" or (form == "auto" and stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter() if text else JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
