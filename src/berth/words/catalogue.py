"""All sentences by language and code."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from berth.words.english_amounts import AMOUNTS
from berth.words.english_pods import PODS
from berth.words.english_reasons import REASONS
from berth.words.english_warnings import WARNINGS
from berth.words.entry import Entry

Language: TypeAlias = Literal["en"]


class Catalogue(NamedTuple):
    """The sentences of one language, and how its clauses are joined."""

    refusals: Mapping[str, Entry]
    warnings: Mapping[str, Entry]
    reasons: Mapping[str, Entry]
    colon: str
    semicolon: str
    stop: str
    """Between sentences."""

    @property
    def entries(self) -> dict[str, Entry]:
        """All of them."""
        return {**self.refusals, **self.warnings, **self.reasons}


CATALOGUES: Mapping[Language, Catalogue] = {
    "en": Catalogue({**AMOUNTS, **PODS}, WARNINGS, REASONS, ": ", "; ", ". "),
}
ENTRIES: Mapping[Language, Mapping[str, Entry]] = {
    language: catalogue.entries for language, catalogue in CATALOGUES.items()
}
