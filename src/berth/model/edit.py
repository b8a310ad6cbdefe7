"""Changes to a document, said by what should hold afterwards; admission.patch makes operations.

All paths mean places in the document as it was given, whatever other edits do.
"""

from dataclasses import dataclass
from typing import TypeAlias

from berth.model.raw import Json, Path


@dataclass(frozen=True, slots=True)
class Put:
    """`value` stands at `path`; parents that lack are made. `why` is a sentence for people."""

    path: Path
    value: Json
    why: str


@dataclass(frozen=True, slots=True)
class Append:
    """`value` is the last entry of the list at `path`, which is made if it lacks."""

    path: Path
    value: Json
    why: str


@dataclass(frozen=True, slots=True)
class Drop:
    """Nothing stands at `path`."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Warn:
    """Nothing changes, but the Pod's author should know."""

    text: str


Edit: TypeAlias = Put | Append | Drop
Change: TypeAlias = Edit | Warn
