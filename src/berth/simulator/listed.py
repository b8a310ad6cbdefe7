"""The lines of a published list, each with its columns; what is wrong is said with its place."""

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from berth.errors import UsageError

MOST = 2**52
"""More than anything has: sums of many still are whole numbers of 64 bits."""


class Row(msgspec.Struct, frozen=True):
    """One line."""

    place: str
    columns: dict[str, str | None]

    def text(self, name: str) -> str:
        """Return what stands in a column; empty where it has none."""
        return self.columns.get(name) or ""

    def number(self, name: str, default: int | None = None) -> int:
        """Return a whole number. Raises UsageError."""
        text = self.text(name)
        if not text and default is not None:
            return default
        try:
            return whole(text)
        except ValueError:
            raise UsageError(f"{self.place}: {name}: {text[:40]!r} is no whole number") from None

    def seconds(self, name: str) -> float | None:
        """Return a time, None where there is none. Raises UsageError."""
        try:
            return float(self.text(name)) if self.text(name) else None
        except ValueError:
            raise UsageError(f"{self.place}: {name}: {self.text(name)[:40]!r} is no time") from None


def whole(text: str) -> int:
    """Return a whole number of some size. Raises ValueError."""
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MOST):
        raise ValueError(text)
    return int(text)


def rows(file: Path) -> Iterator[Row]:
    """Yield the lines of a list, under the names in its first line. Raises UsageError."""
    try:
        read = csv.DictReader(lines(file))
        for one in read:
            yield Row(f"{file}, line {read.line_num}", dict(one))
    except csv.Error as error:
        raise UsageError(f"{file}: cannot be read: {error}") from None


def lines(file: Path) -> list[str]:
    """Return the lines of a file, compressed or not. Raises UsageError."""
    try:
        opened = gzip.open if file.suffix == ".gz" else Path.open
        with opened(file, "rt", encoding="utf-8") as text:
            return text.read().splitlines()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise UsageError(f"{file}: cannot be read: it ends too early, or is damaged") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: is no text: {error.reason}") from None
