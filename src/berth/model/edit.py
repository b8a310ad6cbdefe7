"""Changes to a document, said by what should hold afterwards; admission.patch makes operations.

All paths mean places in the document as it was given, whatever other edits do.
"""

from typing import TypeAlias

import msgspec

from berth.model.raw import Json, Path
from berth.model.reason import Reason


class Put(msgspec.Struct, frozen=True):
    """`value` stands at `path`; parents that lack are made. `why` is a sentence for people."""

    path: Path
    value: Json
    why: str


class Append(msgspec.Struct, frozen=True):
    """`value` is the last entry of the list at `path`, which is made if it lacks."""

    path: Path
    value: Json
    why: str


class Drop(msgspec.Struct, frozen=True):
    """Nothing stands at `path`."""

    path: Path
    why: str


class Warn(msgspec.Struct, frozen=True):
    """Nothing changes, but the Pod's author should know."""

    text: str


class Refuse(msgspec.Struct, frozen=True):
    """Nothing changes, as the Pod cannot be written; the fields are those of a Problem."""

    reason: Reason
    path: Path
    what: str
    fix: str


Edit: TypeAlias = Put | Append | Drop
Change: TypeAlias = Edit | Warn | Refuse
