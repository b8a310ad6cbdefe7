"""What is known about the certificates at one moment: plain values, for metrics and probes."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Health(StrEnum):
    """How long the leaf in use will do."""

    GOOD = "good"
    ENDING = "ending"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Times are None where nothing is known yet."""

    leaf_begins: datetime | None = None
    leaf_ends: datetime | None = None
    trusted: bytes = b""
    """The PEM bundle that vouches for us."""

    def health(self, now: datetime) -> Health | None:
        """Judge the leaf; None where there is none.

        It is renewed at two thirds of its life: in the last sixth, something is wrong.
        """
        if self.leaf_begins is None or self.leaf_ends is None:
            return None
        if self.leaf_ends <= now:
            return Health.EXPIRED
        late = self.leaf_ends - (self.leaf_ends - self.leaf_begins) / 6
        return Health.ENDING if now >= late else Health.GOOD
