"""The errors that Berth raises; what a Pod's author did wrong is a value (model.decision).

BerthError                 never raised itself
├── UsageError             a person's file, flag or setting cannot be used: exit code 2
├── BadReview              a request that is no AdmissionReview: HTTP 4xx
├── PatchError             an edit that does not fit the document: a fault of ours, HTTP 500
└── ReadFailed             the API server did not give what was asked for: it is asked again
"""

import re

_SLIP = re.compile(r"\S{300,}")


class BerthError(Exception):
    """The root: catch it to catch whatever Berth raises on purpose."""


class UsageError(BerthError):
    """What a person gave us cannot be used; the text says what, where, why and what to do."""

    def __init__(self, text: str) -> None:
        """Keep the text; of a word longer than any name, such as 5,000 digits, the beginning."""
        super().__init__(_SLIP.sub(lambda word: f"{word[0][:40]}…", text))


class BadReview(BerthError):  # noqa: N818  the wire's own term, read at every raise
    """The request body is not an AdmissionReview that can be answered."""

    def __init__(self, message: str, status: int = 400) -> None:
        """Keep `message` (never an echo of the body) and the HTTP `status`."""
        super().__init__(message)
        self.status = status


class PatchError(BerthError):
    """An edit points where the document has no place for it."""


class ReadFailed(BerthError):  # noqa: N818  reads as what happened
    """The API server did not give what a list or a watch asked for; the text says why."""

    def __init__(self, message: str, status: int = 0, retry_after: float = 0) -> None:
        """Keep the HTTP `status`, 0 where no answer came, and the seconds it asks us to wait."""
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
