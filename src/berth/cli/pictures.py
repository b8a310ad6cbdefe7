"""A snapshot that `berth snapshot` wrote, or that a webhook shows, for commands that ask it."""

from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from berth.errors import UsageError
from berth.model import picture
from berth.model.picture import Picture

WEB = ("http://", "https://")
_SECONDS = 30


def read(where: str) -> Picture:
    """Read a snapshot from a file, or from the operator's port of a webhook. Raises UsageError."""
    try:
        if where.startswith(WEB):
            with urlopen(where, timeout=_SECONDS) as answer:  # noqa: S310  of these two schemes
                return picture.read(answer.read())
        return picture.read(Path(where).read_bytes())
    except URLError as error:
        raise UsageError(f"{where}: cannot be read: {error.reason}") from None
    except OSError as error:
        raise UsageError(f"{where}: cannot be read: {error.strerror or error}") from None
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    except (HTTPException, ValueError) as error:  # no address, or an answer that was cut short
        raise UsageError(f"{where}: cannot be read: {error}") from None
