"""What admission answers: a verdict, and for a refusal every mistake that was found."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import islice

import msgspec

from berth.model.demand import Demand
from berth.model.edit import Edit
from berth.model.placed import Placed
from berth.model.problem import Problem
from berth.model.raw import JsonObject, Path, dotted
from berth.model.rfc6902 import Operation
from berth.model.said import Said
from berth.words.catalogue import CATALOGUES, Language


class Verdict(StrEnum):
    """What happens to the Pod."""

    PATCHED = "patched"
    UNCHANGED = "unchanged"
    IGNORED = "ignored"
    REFUSED = "refused"
    AUDITED = "audited"


MOST_REASONS = 32
"""What a person reads; a Pod of 3 MiB can have fifty thousand."""


class Decision(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The answer for one Pod. `operations` is RFC 6902 and `pod` their result."""

    verdict: Verdict
    pod: JsonObject
    operations: list[Operation] = []
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Said, ...] = ()
    edits: tuple[Edit, ...] = ()
    notes: tuple[Said, ...] = ()
    """Why nothing is done, where nothing is."""
    demand: Demand | None = None
    """What was understood of the Pod's wish, where it came to that."""
    placed: Placed | None = None
    """Where it goes, where that was decided."""
    dialect: str = "hami"
    """How the Pod asked."""
    would: "Decision | None" = None
    """What would have been done, where the namespace is in audit."""

    @property
    def said(self) -> tuple[str, ...]:
        """The codes of all that is wrong or warned of, each once."""
        if not (self.problems or self.warnings):
            return ()
        codes = [problem.code for problem in self.problems]
        codes += [warning.code for warning in self.warnings]
        return tuple(dict.fromkeys(codes))

    def reasons(self, language: Language = "en") -> Iterator[str]:
        """Yield why, in sentences: what is wrong, why nothing is done, and why each edit is made.

        Take no more than are shown: a Pod of 3 MiB can have fifty thousand.
        """
        for problem in self.problems:
            yield problem.text(language)
        for note in self.notes:
            yield note.text(language)
        for edit in self.edits:
            yield because(edit.path, edit.why.text(language), language)

    @cached_property
    def first_reasons(self) -> tuple[str, ...]:
        """The first reasons in English, for the log and for the API server's audit log."""
        if self.notes and not (self.problems or self.edits):  # most Pods
            return tuple([note.text() for note in self.notes])
        return tuple(islice(self.reasons(), MOST_REASONS))

    def warned(self, warnings: tuple[Said, ...]) -> "Decision":
        """Return the same decision with more warnings."""
        return msgspec.structs.replace(self, warnings=(*self.warnings, *warnings))


@lru_cache(maxsize=1024)
def because(path: Path, why: str, language: Language) -> str:
    """Return a reason with the place before it."""
    return f"{dotted(path)}{CATALOGUES[language].colon}{why}"
