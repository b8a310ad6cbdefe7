"""The original's own lines, wherever nothing has changed: a merge of three texts.

`same` is what a library writes of the original as it is, and `written` what it writes of it once it
is changed: only where these two differ has anything changed, whatever the library's taste.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise


class CannotKeep(Exception):  # noqa: N818  reads as what happened
    """The text is written in a way in which its values cannot be changed alone."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines of `same`, and the lines of the original that they were."""

    first: int
    last: int
    lines: list[str]


def merged(original: str, same: str, written: str) -> str:
    """Return `written` with the lines of `original` that have not changed.

    Raises CannotKeep where a comment would be lost that stands in the midst of what changes.
    """
    old, new = same.splitlines(keepends=True), written.splitlines(keepends=True)
    place = _places(old, new)
    kept: list[tuple[int, int, list[str]]] = []
    depths: dict[int, int] = {}
    for part in _parts(old, original.splitlines(keepends=True)):
        at = [place[index] for index in range(part.first, part.last) if index in place]
        if len(at) < part.last - part.first:
            _check(old[part.first : part.last], part.lines)
            continue
        first = at[0] if at else kept[-1][1] if kept else 0
        kept.append((first, at[-1] + 1 if at else first, part.lines))
        pairs = zip(at, part.lines, strict=False)
        depths |= {index: indent(line) for index, line in pairs if _is_entry(line)}
    return "".join(_joined(new, kept, depths))


def _joined(
    new: list[str], kept: list[tuple[int, int, list[str]]], depths: Mapping[int, int]
) -> Iterator[str]:
    """Yield what is kept, and between it the new lines, each as deep as it is in the original."""
    done = 0
    for first, last, lines in (*kept, (len(new), len(new), [])):
        for index in range(done, first):
            yield " " * _depth(index, new, depths) + new[index].lstrip(" ")
        yield from lines
        done = last


def indent(line: str) -> int:
    """Return how many spaces a line begins with."""
    return len(line) - len(line.lstrip())


def _places(old: list[str], new: list[str]) -> dict[int, int]:
    """Return where lines that have not changed stand afterwards."""
    anchors = _anchors(old, new)
    found = dict(anchors)
    for (above, over), (below, under) in pairwise([(-1, -1), *anchors, (len(old), len(new))]):
        gap = SequenceMatcher(None, old[above + 1 : below], new[over + 1 : under], autojunk=False)
        for block in gap.get_matching_blocks():
            for one in range(block.size):
                found[above + 1 + block.a + one] = over + 1 + block.b + one
    return found


def _anchors(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return where lines stand in both that are alone in each, in the order that both have.

    Between two of them there is little to compare: a list of a hundred Pods repeats its lines.
    """
    alone = [Counter(old), Counter(new)]
    places = {line: at for at, line in enumerate(new)}
    found: list[tuple[int, int]] = []
    for at, line in enumerate(old):
        if alone[0][line] == alone[1][line] == 1 and (not found or places[line] > found[-1][1]):
            found.append((at, places[line]))
    return found


def _parts(same: list[str], original: list[str]) -> Iterator[_Part]:
    """Yield the lines of `same` in order, each with its own of the original, but for spaces."""
    matched = SequenceMatcher(None, _bare(same), _bare(original), autojunk=False)
    for tag, start, end, first, last in matched.get_opcodes():
        if tag == "equal":
            for one in range(end - start):
                yield _Part(start + one, start + one + 1, [original[first + one]])
        else:
            yield _Part(start, end, original[first:last])


def _bare(lines: list[str]) -> list[str]:
    return ["".join(line.split()) for line in lines]


def _check(same: list[str], original: list[str]) -> None:
    """Hold what the library makes of a part against it: it drops comments within braces."""
    if "".join(original).count("#") > "".join(same).count("#"):
        raise CannotKeep("a comment stands within what has to change")


def _depth(index: int, new: list[str], depths: Mapping[int, int]) -> int:
    """Return how deep a new line is in the original: as its neighbours, else below its parent."""
    mine = indent(new[index])
    for below in range(index + 1, len(new)):
        if _is_entry(new[below]):
            if indent(new[below]) < mine:
                break
            if indent(new[below]) == mine and below in depths:
                return depths[below]
    for above in range(index - 1, -1, -1):
        if above in depths and indent(new[above]) <= mine:
            return mine + depths[above] - indent(new[above])
    return mine


def _is_entry(line: str) -> bool:
    return line.strip()[:1] not in ("", "#")
