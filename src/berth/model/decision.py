"""What admission answers: a verdict, and for a refusal every mistake that was found."""

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice

import msgspec

from berth.model.demand import Demand
from berth.model.edit import Edit
from berth.model.raw import Json, JsonObject, Path, dotted
from berth.model.reason import Reason

__all__ = ["Decision", "Problem", "Reason", "Verdict"]


class Verdict(StrEnum):
    """What happens to the Pod."""

    PATCHED = "patched"
    UNCHANGED = "unchanged"
    IGNORED = "ignored"
    REFUSED = "refused"
    AUDITED = "audited"


class Problem(msgspec.Struct, frozen=True):
    """One mistake: where it stands, what is wrong with it, and what to do."""

    reason: Reason
    path: Path
    what: str
    """What is wrong, without the path: "16Gi is 17179869184, and no card has so many MiB"."""
    fix: str
    """What to do, in the imperative: "write 16384"."""

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.what}; {self.fix}"


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The answer for one Pod. `operations` is RFC 6902 and `pod` their result."""

    verdict: Verdict
    pod: JsonObject
    operations: list[dict[str, Json]] = []
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()
    """Why nothing is done, where nothing is."""
    demand: Demand | None = None
    """What was understood of the Pod's wish, where it came to that."""
    dialect: str = "hami"
    """How the Pod asked."""
    would: "Decision | None" = None
    """What would have been done, where the namespace is in audit."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why, in sentences: what is wrong, why nothing is done, and why each edit is made."""
        return tuple(self._reasons())

    def first_reasons(self, most: int) -> tuple[str, ...]:
        """Return at most so many of the reasons: a Pod of 3 MiB can have fifty thousand."""
        return tuple(islice(self._reasons(), most))

    def _reasons(self) -> Iterator[str]:
        yield from map(str, self.problems)
        yield from self.notes
        for edit in self.edits:
            yield f"{dotted(edit.path)}: {edit.why}"

    def warned(self, warnings: tuple[str, ...]) -> "Decision":
        """Return the same decision with more warnings."""
        return msgspec.structs.replace(self, warnings=(*self.warnings, *warnings))
