"""Why Pods are refused, as codes."""

from enum import Enum


class Reason(Enum):
    """Why a Pod is refused; the value is the code that logs and metrics carry."""

    NOT_A_QUANTITY = "not-a-quantity"
    NOT_WHOLE = "not-whole"
    NEGATIVE = "negative"
    TOO_LARGE = "too-large"
    REQUEST_WITHOUT_LIMIT = "request-without-limit"
    REQUEST_NOT_LIMIT = "request-not-limit"
    MEMORY_TWICE = "memory-twice"
    SHARE_OF_NOTHING = "share-of-nothing"
    ZERO = "zero"
    NOT_A_SLICE = "not-a-slice"
    NOT_A_MULTIPLE = "not-a-multiple"
    NOT_SHARED = "not-shared"
    ANNOTATION = "annotation"
    SEVERAL_VENDORS = "several-vendors"
    POD_LEVEL = "pod-level"
    NODE_NAME = "node-name"
    PRIVILEGED = "privileged"
    DEVICE_ENV = "device-env"
    CLASH = "clash"
    QUOTA = "quota"
    CONTRADICTION = "contradiction"
    ALLOCATION = "allocation"
    UNDONE = "undone"
    SEVERAL_DIALECTS = "several-dialects"
    LOSS = "loss"
    UNKNOWN_SIZE = "unknown-size"
    NO_SUCH_CARD = "no-such-card"
    NO_ROOM = "no-room"
    NEVER_FITS = "never-fits"
    TOO_MANY = "too-many"

    @property
    def is_policy(self) -> bool:
        """Whether the cluster's rules forbid it (403), or it is malformed in itself (422)."""
        return self in _POLICY


_POLICY = frozenset(
    {
        Reason.NODE_NAME,
        Reason.PRIVILEGED,
        Reason.DEVICE_ENV,
        Reason.ALLOCATION,
        Reason.UNDONE,
        Reason.LOSS,
        Reason.UNKNOWN_SIZE,
        Reason.NO_SUCH_CARD,
        Reason.QUOTA,
        Reason.NO_ROOM,
        Reason.NEVER_FITS,
    }
)
