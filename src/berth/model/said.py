"""What is said to people, as a value: a code and the facts. The sentence is made where it is read.

Most that could be said is never read, and who reads it chooses the language.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, Union

import msgspec

from berth.model.raw import Path, dotted
from berth.words.catalogue import SENTENCES, Language

Fact: TypeAlias = Union[str, int, Path, "Said"]
"""A name, a number, a place, or a sentence within a sentence."""
Facts: TypeAlias = Mapping[str, Fact]
NO_FACTS: Facts = {}


class Said(msgspec.Struct, frozen=True, dict=True):
    """A warning, the reason for an edit, or why nothing is done. `code` is stable."""

    code: str
    facts: Facts = NO_FACTS

    def text(self, language: Language = "en") -> str:
        """Return the sentence, which is made once: the log has it too, or other Pods' answers."""
        if not self.facts:
            return SENTENCES[language][self.code]
        made = self._made.get(language)
        if made is None:
            sentence = SENTENCES[language][self.code]
            made = self._made[language] = sentence.format_map(_shown(self.facts, language))
        return made

    @cached_property
    def _made(self) -> dict[Language, str]:
        return {}

    def __str__(self) -> str:
        return self.text()


def either(names: Sequence[str]) -> Fact:
    """Join names, of which there is one at least, by "or"."""
    *others, last = names
    return Said("part.or", {"one": ", ".join(others), "other": last}) if others else last


def _shown(facts: Facts, language: Language) -> dict[str, str | int]:
    """Return the facts as they stand in a sentence."""
    return {
        name: fact if isinstance(fact, str | int) else _written(fact, language)
        for name, fact in facts.items()
    }


def _written(fact: Path | Said, language: Language) -> str:
    return fact.text(language) if isinstance(fact, Said) else dotted(fact)
