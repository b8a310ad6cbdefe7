"""The shape of a catalogue's entries."""

from typing import NamedTuple


class Entry(NamedTuple):
    """A sentence with `{facts}` in braces, by Python's format strings, without its place."""

    what: str
    """What is wrong, or what was done: "{shown} is negative"."""
    fix: str = ""
    """What to do, in the imperative; it ends the sentence."""


class Cause(NamedTuple):
    """What stands behind a class of sentences, for those who look it up."""

    why: str
    remedy: str = ""
    """What to do, where the sentences do not say it."""
