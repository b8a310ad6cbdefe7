"""The suggestion beside an unknown word."""

from collections.abc import Iterable
from difflib import get_close_matches


def hint(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` where a known word is near, else the known words, if few."""
    words = sorted(known)
    lowered = {candidate.lower(): candidate for candidate in words}
    near = get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {lowered[near[0]]}?"
    if len(words) <= 12:
        return f"; known are {', '.join(words)}"
    return ""
