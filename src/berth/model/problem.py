"""A mistake in a Pod, or what cannot be said of it: a value that refuses the Pod."""

import msgspec

from berth.model.raw import Path, dotted
from berth.model.reason import Reason
from berth.model.said import NO_FACTS, Facts, Said
from berth.words.catalogue import CATALOGUES, Language


class Problem(msgspec.Struct, frozen=True):
    """One mistake: which, where it stands, and the facts of the sentence about it."""

    code: str
    """Such as too-large.mib: its Reason, and which sentence where that has several."""
    path: Path
    facts: Facts = NO_FACTS

    @property
    def reason(self) -> Reason:
        """The class of mistakes that it belongs to."""
        return Reason(self.code.partition(".")[0])

    @property
    def clause(self) -> Said:
        """The sentence without the path."""
        return Said(self.code, self.facts)

    def text(self, language: Language = "en") -> str:
        """Return the whole sentence: where, what, and what to do."""
        return f"{dotted(self.path)}{CATALOGUES[language].colon}{self.clause.text(language)}"

    def __str__(self) -> str:
        return self.text()
