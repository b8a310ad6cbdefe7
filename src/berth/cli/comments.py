"""Entries of a YAML document put in and taken out with their comments, as ruamel.yaml keeps these.

It has each comment with the entry before it, however far out the next one stands.
"""

from collections.abc import Sequence
from typing import TypeAlias

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark
from ruamel.yaml.tokens import CommentToken

from berth.cli.merging import indent
from berth.model.raw import Json

Node: TypeAlias = CommentedMap | CommentedSeq
Place: TypeAlias = tuple[Node, str | int]
_EVERY = 10**6  # deeper than anything


def add(node: Node, key: str | int, value: object) -> None:
    """Add at the end, before the comment that stands between here and what follows."""
    rest = _cut(*_last(node), node.lc.col or 0) if len(node) else None
    if isinstance(node, CommentedSeq):
        node.insert(int(key), value)
    else:
        node[key] = value
    if rest:
        _put(*_last(node), rest)


def put_instead(node: CommentedMap, old: str, new: str, value: Json) -> None:
    """Put an entry in the place of another, and with its comments."""
    about = node.ca.items.pop(old, None)
    node.insert([*node].index(old), new, value)
    del node[old]
    if about:
        node.ca.items[new] = about


def remove(node: Node, key: str | int, parent: Place | None) -> None:
    """Remove, and keep the comments that stand before it, and between it and what follows."""
    below = node[key]
    block = isinstance(below, Node) and len(below) and not below.fa.flow_style()
    place = _last(below) if block else (node, key)
    opening = _opening(node) if len(node) == 1 else ""
    rest = opening + _before(node, key) + _cut(*place, _EVERY)
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
    return _lines((found[1] or ()) if found and len(found) > 1 else ())


def _opening(node: Node) -> str:
    """Return the comments before the first entry."""
    found = node.ca.comment
    return _lines((found[1] or ()) if found and len(found) > 1 else ())


def _lines(tokens: Sequence[CommentToken]) -> str:
    lines = (f"{' ' * one.start_mark.column}{one.value}" for one in tokens)
    return "".join(line if line.strip() else "\n" for line in lines)


def _put_before(node: Node, key: str | int, rest: str) -> None:
    found = node.ca.items.setdefault(key, [None] * 4)
    lines = rest.splitlines(keepends=True)
    tokens = [CommentToken(one.lstrip(" "), CommentMark(indent(one)), None) for one in lines]
    found[1] = [*tokens, *(found[1] or ())]


def _put_behind(node: Node, parent: Place, rest: str) -> None:
    """Put a comment behind a node in which nothing is left."""
    above, key = parent
    node.fa.set_flow_style()
    token = CommentToken(f"\n{rest}", CommentMark(0), None)
    about = above.ca.items.setdefault(key, [None] * 4)
    about[_slot(above)] = token
    about[3:4] = [None] * len(about[3:4])  # what stood before the first entry is in the token now
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
    outer = (at for at, one in enumerate(lines) if one.strip() and indent(one) < column)
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
