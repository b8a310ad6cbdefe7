"""YAML that keeps its comments, order and looks while values in it change; ruamel.yaml behind.

What ruamel.yaml writes otherwise than it was (the indentation of lists, say) is taken from the
original again, line by line. What comes out is read and compared before anyone gets it.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from io import StringIO
from itertools import pairwise
from typing import TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark
from ruamel.yaml.tokens import CommentToken

from berth.model.raw import Json, JsonObject

Node: TypeAlias = CommentedMap | CommentedSeq
Place: TypeAlias = tuple[Node, str | int]
Operation: TypeAlias = JsonObject
"""RFC 6902: add, replace or remove."""

_OPENS = re.compile(r" *[^-\s#][^#]*:\s*(#.*)?")
_EVERY = 10**6  # deeper than anything
_NEVER = 10**6  # columns after which a line would be folded


class CannotKeep(Exception):  # noqa: N818  reads as what happened
    """The text is written in a way in which its values cannot be changed alone."""


def split(text: str) -> list[str]:
    """Split a stream into its documents, each with the `---` before it."""
    return re.split(r"(?m)^(?=---(?:\s|$))", text)


def candidates(text: str, operations: Sequence[Operation]) -> Iterator[str]:
    """Yield one document with the operations applied, best first: the caller has to look.

    Raises CannotKeep.
    """
    head, body = _head(text)
    yaml = _as_in(body)
    try:
        tree = yaml.load(body)
        for operation in operations:
            _apply(tree, operation)
        out = StringIO()
        yaml.dump(tree, out)
    except Exception as error:  # the library's own kinds are many
        raise CannotKeep(" ".join(str(error).split())) from error
    written = out.getvalue()
    yield head + _merged(body, written)
    yield head + written


def _head(text: str) -> tuple[str, str]:
    """Split off the line of `---`, where nothing but a comment is in it."""
    found = re.match(r"---[ \t]*(#.*)?(\n|\Z)", text)
    return (found[0], text[found.end() :]) if found else ("", text)


def _as_in(text: str) -> YAML:
    """Return a reader and writer that indents as most of the text does."""
    lines = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
    mappings, lists = [], []
    for line, below in pairwise(lines):
        if _OPENS.fullmatch(line):
            deeper = _indent(below) - _indent(line)
            if below.lstrip().startswith("- "):
                lists.append(deeper)
            elif deeper > 0:
                mappings.append(deeper)
    offset = max(0, _most(lists, 0))
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = _NEVER
    yaml.indent(mapping=_most(mappings, 2), sequence=offset + 2, offset=offset)
    return yaml


def _most(numbers: list[int], otherwise: int) -> int:
    return max(set(numbers), key=numbers.count, default=otherwise)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _merged(before: str, after: str) -> str:
    """Return `after`, with the lines of `before` where only the spaces differ."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    same = SequenceMatcher(None, _bare(old), _bare(new), autojunk=False)
    merged: list[str] = []
    seen: list[tuple[int, int]] = []
    for tag, start, end, first, last in same.get_opcodes():
        kept = (
            old[start:end] if tag == "equal" else [_moved(line, seen) for line in new[first:last]]
        )
        merged += kept
        pairs = zip(new[first:last], kept, strict=True)
        seen += [(_indent(line), _indent(own)) for line, own in pairs if line.strip()]
    return "".join(merged)


def _bare(lines: list[str]) -> list[str]:
    return ["".join(line.split()) for line in lines]


def _moved(line: str, seen: list[tuple[int, int]]) -> str:
    """Indent a line as deep as its neighbours or its parent are in the original.

    `seen` has the indentation of the lines above, in the library's text and in the original.
    """
    mine = _indent(line)
    shift = next((own - theirs for theirs, own in reversed(seen) if theirs <= mine), 0)
    return " " * (mine + shift) + line.lstrip(" ")


def _apply(tree: Node, operation: Operation) -> None:
    pointer = str(operation["path"]).split("/")[1:]
    *above, last = [name.replace("~1", "/").replace("~0", "~") for name in pointer]
    node, parent = tree, None
    for name in above:
        key = _key(node, name)
        node, parent = node[key], (node, key)
    key = _key(node, last)
    if operation["op"] == "remove":
        _remove(node, key, parent)
    elif operation["op"] == "replace" or (isinstance(node, CommentedMap) and key in node):
        node[key] = operation["value"]
    else:
        _add(node, key, _commentable(operation["value"]))


def _key(node: Node, key: str) -> str | int:
    if isinstance(node, CommentedSeq):
        return len(node) if key == "-" else int(key)
    return key


def _commentable(value: Json) -> object:
    """Return a value as the library has it, so that comments can be put to it."""
    if isinstance(value, dict):
        return CommentedMap((key, _commentable(below)) for key, below in value.items())
    if isinstance(value, list):
        return CommentedSeq(_commentable(below) for below in value)
    return value


def _add(node: Node, key: str | int, value: object) -> None:
    """Add at the end, before the comment that stands between here and what follows."""
    rest = _cut(*_last(node), node.lc.col or 0) if len(node) else None
    if isinstance(node, CommentedSeq):
        node.insert(int(key), value)
    else:
        node[key] = value
    if rest:
        _put(*_last(node), rest)


def _remove(node: Node, key: str | int, parent: Place | None) -> None:
    """Remove, and keep the comments that stand before it, and between it and what follows."""
    below = node[key]
    place = _last(below) if isinstance(below, Node) and len(below) else (node, key)
    rest = _before(node, key) + _cut(*place, _EVERY)
    at, keys = _keys(node).index(key), _keys(node)
    if rest and at + 1 < len(keys):
        _put_before(node, keys[at + 1], rest)
    del node[key]
    if rest and len(node) and at + 1 == len(keys):
        _put(*_last(node), rest)
    elif rest and not len(node) and parent:
        _put_behind(node, parent, rest)


def _keys(node: Node) -> list[str | int]:
    return [*range(len(node))] if isinstance(node, CommentedSeq) else [*node]


def _before(node: Node, key: str | int) -> str:
    """Return the comments of ours before an entry."""
    found = node.ca.items.get(key)
    tokens = (found[1] or ()) if found and len(found) > 1 else ()
    lines = (f"{' ' * one.start_mark.column}{one.value}" for one in tokens)
    return "".join(line if line.strip() else "\n" for line in lines)


def _put_before(node: Node, key: str | int, rest: str) -> None:
    found = node.ca.items.setdefault(key, [None] * 4)
    lines = rest.splitlines(keepends=True)
    tokens = [CommentToken(one.lstrip(" "), CommentMark(_indent(one)), None) for one in lines]
    found[1] = [*tokens, *(found[1] or ())]


def _put_behind(node: Node, parent: Place, rest: str) -> None:
    """Put a comment behind a node in which nothing is left."""
    above, key = parent
    node.fa.set_flow_style()
    token = CommentToken(f"\n{rest}", CommentMark(0), None)
    above.ca.items.setdefault(key, [None] * 4)[_slot(above)] = token
    node.ca.comment = [token, None]


def _last(node: Node) -> tuple[Node, str | int]:
    """Return where the library keeps a comment that follows a node."""
    while True:
        key = len(node) - 1 if isinstance(node, CommentedSeq) else list(node)[-1]
        below = node[key]
        if not isinstance(below, Node) or not len(below) or below.fa.flow_style():
            return node, key
        node = below


def _slot(node: Node) -> int:
    return 0 if isinstance(node, CommentedSeq) else 2


def _cut(node: Node, key: str | int, column: int) -> str:
    """Take off what follows an entry and belongs to something further out than `column`."""
    found = node.ca.items.get(key)
    token = found[_slot(node)] if found else None
    if not isinstance(token, CommentToken):
        return ""
    line, end, below = token.value.partition("\n")
    lines = below.splitlines(keepends=True)
    outer = (at for at, one in enumerate(lines) if one.strip() and _indent(one) < column)
    start = next(outer, len(lines))
    while start and not lines[start - 1].strip():
        start -= 1
    token.value = line + end + "".join(lines[:start])
    if not token.value.strip():
        found[_slot(node)] = None
    return "".join(lines[start:])


def _put(node: Node, key: str | int, rest: str) -> None:
    found = node.ca.items.setdefault(key, [None] * 4)
    token = found[_slot(node)]
    if isinstance(token, CommentToken):
        token.value += rest
    else:
        found[_slot(node)] = CommentToken(f"\n{rest}", CommentMark(0), None)
