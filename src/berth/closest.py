"""The suggestion beside an unknown word."""

from collections.abc import Iterable
from difflib import get_close_matches


def near(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is nearest, whatever the case, or None where none is near."""
    lowered = {candidate.lower(): candidate for candidate in sorted(known)}
    found = get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def hint(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` where a known word is near, else the known words, if few."""
    words = sorted(known)
    meant = near(word, words)
    if meant is not None:
        return f"; did you mean {meant}?"
    if len(words) <= 12:
        return f"; known are {', '.join(words)}"
    return ""
