"""Changes to a document, said by what should hold afterwards; admission.patch makes operations.

All paths mean places in the document as it was given, whatever other edits do.
"""

from typing import TypeAlias

import msgspec

from berth.model.problem import Problem
from berth.model.raw import Json, Path
from berth.model.said import Said


class Put(msgspec.Struct, frozen=True):
    """`value` stands at `path`; parents that lack are made. `why` is for people."""

    path: Path
    value: Json
    why: Said


class Append(msgspec.Struct, frozen=True):
    """`value` is the last entry of the list at `path`, which is made if it lacks."""

    path: Path
    value: Json
    why: Said


class Drop(msgspec.Struct, frozen=True):
    """Nothing stands at `path`."""

    path: Path
    why: Said


Edit: TypeAlias = Put | Append | Drop
Change: TypeAlias = Edit | Said | Problem
"""An edit, a warning, or why the Pod cannot be written at all."""
