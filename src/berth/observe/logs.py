"""Log lines: JSON, one object a line, or text on a terminal; an event name and its fields.

Lines may be gathered and written together, but at once from `warning` on: a write to the kernel
for every request would cost a tenth of the request.
"""

import atexit
import contextlib
import json
import logging
import sys
from collections.abc import Callable, Mapping
from typing import Literal, TextIO

import orjson

from berth import clock

_MOST_GATHERED = 1000
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
        try:
            return orjson.dumps(line, default=str).decode()
        except TypeError:  # bytes of a header that are no UTF-8: half characters, for orjson
            return json.dumps(line, default=str)


class TextFormatter(logging.Formatter):
    """`12:00:01 info event key=value …`, and the stack below it."""

    def format(self, record: logging.LogRecord) -> str:
        """Render one record."""
        fields = " ".join(f"{key}={_on_a_line(value)}" for key, value in _fields(record).items())
        time = self.formatTime(record, "%H:%M:%S")
        line = f"{time} {record.levelname.lower():7} {record.getMessage()} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _on_a_line(value: object) -> str:
    """Write a value so that no name with a line break in it looks like a line of ours."""
    text = str(value)
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}


class GatheringHandler(logging.Handler):
    """Writes lines to a stream, many at a time once `later` is given to call its flush."""

    def __init__(self, stream: TextIO) -> None:
        """Write to `stream`, line by line until `gather`."""
        super().__init__()
        self._stream = stream
        self._lines: list[str] = []
        self._later: Callable[[Callable[[], None]], object] | None = None

    def gather(self, later: Callable[[Callable[[], None]], object] | None) -> None:
        """From now on leave the writing to `later`, which calls what it is given in a while."""
        self.flush()
        self._later = later

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record."""
        try:
            self._take(self.format(record), urgent=record.levelno >= logging.WARNING)
        except Exception:  # noqa: BLE001  logging's own way with what goes wrong in a handler
            self.handleError(record)

    def event(self, name: str, fields: Mapping[str, object]) -> None:
        """Take what happens once a request, at level info, past the cost of a log record."""
        if logging.root.level > logging.INFO:
            return
        if isinstance(self.formatter, JsonFormatter):
            line = {"time": clock.timestamp(), "level": "info", "event": name, **fields}
            self._take(orjson.dumps(line).decode(), urgent=False)
        else:
            level = {"levelno": logging.INFO, "levelname": "INFO"}
            self.handle(logging.makeLogRecord({"msg": name, **level, **fields}))

    def _take(self, line: str, *, urgent: bool) -> None:
        self._lines.append(line)
        if self._later is None or urgent or len(self._lines) >= _MOST_GATHERED:
            self.flush()
        elif len(self._lines) == 1:
            self._later(self.flush)

    def flush(self) -> None:
        """Write what was gathered."""
        lines, self._lines = self._lines, []
        if lines:
            # A log that cannot be written must not cost a Pod: the lines are lost, no more.
            with contextlib.suppress(OSError, ValueError):
                self._stream.write("\n".join(lines) + "\n")
                self._stream.flush()


def start(
    level: str, form: Literal["auto", "json", "text"], stream: TextIO | None = None
) -> GatheringHandler:
    """Send the log of the whole process to `stream` (stderr) in `form`."""
    stream = stream or sys.stderr
    text = form == "text" or (form == "auto" and stream.isatty())
    handler = GatheringHandler(stream)
    handler.setFormatter(TextFormatter() if text else JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # What no line of ours shows need not be found out for each (docs: logging, Optimization).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001  as the documentation has it
    for below in ("httpx2", "httpcore2", "watchfiles"):  # lines for each call, and each change
        logging.getLogger(below).setLevel(logging.WARNING)
    atexit.register(handler.flush)
    return handler
