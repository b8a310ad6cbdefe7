"""LimitRanges that hold a Pod to names which a translation takes out of it.

Nothing in a Pod tells of them: they are watched, where the settings say so.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

import msgspec

from berth.model.edit import Change, Drop, Put
from berth.model.raw import Path
from berth.model.said import Said

_LIMITED = Said("why.ceiling")
_SHOWN = 20
"""Characters of the name of a LimitRange."""


class Ranges(msgspec.Struct, frozen=True):
    """What the LimitRanges of a namespace are for, as far as it is known."""

    most: Mapping[str, str] = {}
    """Resources with a `max`, each with the name of the LimitRange."""
    least: Mapping[str, str] = {}
    """Those of which each Pod or container has to ask for some."""


def named(changes: Iterable[Change], ranges: Ranges, again: AbstractSet[Path]) -> Iterator[Change]:
    """Yield the changes, with a 0 where they take out a name that a LimitRange has a `max` for.

    One of type Pod refuses each Pod that does not name it; one of type Container gives it again. A
    `min` refuses the Pod whatever stands there. What is to be given `again` is a size, and limits.
    """
    for one in changes:
        if type(one) is Drop and "resources" in one.path and one.path not in again:
            yield from _dropped(one, ranges)
        else:
            yield one


def _dropped(one: Drop, ranges: Ranges) -> Iterator[Change]:
    name, of = str(one.path[-1]), one.path[:-3]
    yield Put(one.path, "0", _LIMITED) if name in ranges.most else one
    if one.path[-2] != "limits":
        return
    if name in ranges.most:
        about = {"name": name, "range": ranges.most[name][:_SHOWN]}
        yield Said("ceiling", {"path": of, **about})
    if name in ranges.least:
        about = {"name": name, "range": ranges.least[name][:_SHOWN]}
        yield Said("floor", {"path": of, **about})
