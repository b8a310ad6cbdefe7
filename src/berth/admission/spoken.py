"""Texts and sentences as CEL, with facts that only the API server knows once it evaluates them."""

import orjson

from berth.model.said import Said
from berth.words.catalogue import Language

_MARK = "\0"  # in no name, and in none of our sentences


def literal(value: object) -> str:
    """Write text, or lists of it, as CEL does: as JSON."""
    return orjson.dumps(value).decode()


def later(expression: str) -> str:
    """Return a fact that is what a CEL expression, of text, comes to."""
    return f"{_MARK}{expression}{_MARK}"


def expression(said: Said, language: Language) -> str:
    """Return a sentence as a CEL expression, so that it is made there."""
    parts = said.text(language).split(_MARK)
    return " + ".join(
        part if index % 2 else literal(part) for index, part in enumerate(parts) if part
    )
