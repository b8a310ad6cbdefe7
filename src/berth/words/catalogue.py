"""All sentences by language and code."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from berth.words import (
    chinese_amounts,
    chinese_demand,
    chinese_places,
    chinese_pods,
    chinese_reasons,
    chinese_warnings,
    english_amounts,
    english_demand,
    english_places,
    english_pods,
    english_reasons,
    english_warnings,
)
from berth.words.entry import Entry

Language: TypeAlias = Literal["en", "zh"]
"""By its code of ISO 639: English, or Chinese in simplified characters."""


class Catalogue(NamedTuple):
    """The sentences of one language, and what stands between clauses."""

    refusals: Mapping[str, Entry]
    warnings: Mapping[str, Entry]
    reasons: Mapping[str, Entry]
    """Why something is done or not, what was understood, and parts of other sentences."""
    comma: str
    semicolon: str
    colon: str
    stop: str

    @property
    def entries(self) -> dict[str, Entry]:
        """All of them."""
        return {**self.refusals, **self.warnings, **self.reasons}


CATALOGUES: Mapping[Language, Catalogue] = {
    "en": Catalogue(
        {**english_amounts.AMOUNTS, **english_pods.PODS},
        english_warnings.WARNINGS,
        {**english_reasons.REASONS, **english_demand.DEMAND, **english_places.PLACES},
        *(", ", "; ", ": ", ". "),
    ),
    "zh": Catalogue(
        {**chinese_amounts.AMOUNTS, **chinese_pods.PODS},
        chinese_warnings.WARNINGS,
        {**chinese_reasons.REASONS, **chinese_demand.DEMAND, **chinese_places.PLACES},
        *("，", "；", "：", "。"),
    ),
}
ENTRIES: Mapping[Language, Mapping[str, Entry]] = {
    language: catalogue.entries for language, catalogue in CATALOGUES.items()
}
SENTENCES: Mapping[Language, Mapping[str, str]] = {
    language: {
        code: f"{what}{CATALOGUES[language].semicolon}{fix}" if fix else what
        for code, (what, fix) in entries.items()
    }
    for language, entries in ENTRIES.items()
}
"""The same with both clauses joined, as every request needs some."""
