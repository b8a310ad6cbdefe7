"""YAML that keeps its comments, order and looks while values in it change; ruamel.yaml behind.

What ruamel.yaml writes otherwise than it was (the indentation of lists, say) is taken from the
original again (`merging`). What comes out is read and compared before anyone gets it.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from io import StringIO
from itertools import pairwise
from types import MappingProxyType
from typing import Final, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import CommentMark, MantissaNoDotYAML1_1Warning
from ruamel.yaml.tokens import CommentToken

from berth.cli import merging
from berth.cli.merging import CannotKeep, indent
from berth.model.raw import Json, JsonObject

Node: TypeAlias = CommentedMap | CommentedSeq
Place: TypeAlias = tuple[Node, str | int]
Operation: TypeAlias = JsonObject
"""RFC 6902: add, replace or remove."""

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_OPENS = re.compile(r" *[^-\s#][^#]*:\s*(#.*)?")
__all__ = ["CannotKeep", "Operation", "candidates", "split"]
_EVERY = 10**6  # deeper than anything
_NEVER = 10**6  # columns after which a line would be folded


def split(text: str) -> list[str]:
    """Split a stream into its documents, each with the `---` and the directives before it."""
    parts = re.split(r"(?m)^(?=---(?:\s|$))", text)
    if len(parts) > 1 and re.fullmatch(r"(?:\s*[%#].*\n)*\s*%.*\n\s*", parts[0]):
        parts[:2] = ["".join(parts[:2])]
    return parts


def candidates(
    text: str, operations: Sequence[Operation], alike: Mapping[str, str] = NOTHING
) -> Iterator[str]:
    """Yield one document with the operations applied, best first: the caller has to look.

    Of two keys that mean `alike` the same, the new one takes the place, and the comment, of the
    one that goes. Raises CannotKeep.
    """
    head, body = _head(text)
    yaml = _as_in(body)
    try:
        tree = _loaded(yaml, body)
        same = _dumped(yaml, tree)
        folded = _folded(operations)
        renamed = _renamed(folded, alike)
        for operation in folded:
            _apply(tree, operation, renamed.get(str(operation["path"]), ""))
        written = _dumped(yaml, tree)
    except Exception as error:  # the library's own kinds are many
        raise CannotKeep(" ".join(str(error).split())) from error
    yield head + merging.merged(body, same, written)
    yield head + written


def _loaded(yaml: YAML, text: str) -> Node:
    """Read it; that YAML 1.1 would have 1e3 written as 1.0e3 is nothing to say about a manifest."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MantissaNoDotYAML1_1Warning)
        tree: Node = yaml.load(text)
    return tree


def _dumped(yaml: YAML, tree: Node) -> str:
    out = StringIO()
    yaml.dump(tree, out)
    return out.getvalue()


def _folded(operations: Sequence[Operation]) -> list[Operation]:
    """Put what is added below something new into what is added."""
    found: list[Operation] = []
    for one in operations:
        above, _, last = str(one["path"]).rpartition("/")
        new = next((other for other in found if other["path"] == above), None)
        inside = new["value"] if new and new["op"] == one["op"] == "add" else None
        if isinstance(inside, dict):
            inside[_unescaped(last)] = one["value"]
        else:
            found.append(deepcopy(one))
    return found


def _renamed(operations: Sequence[Operation], alike: Mapping[str, str]) -> dict[str, str]:
    """Return for each path that is added the key beside it in whose place it comes."""
    found: dict[str, str] = {}
    for gone in operations:
        above, _, old = str(gone["path"]).rpartition("/")
        role = alike.get(_unescaped(old)) if gone["op"] == "remove" else None
        for one in operations if role else ():
            parent, _, new = str(one["path"]).rpartition("/")
            if one["op"] == "add" and parent == above and alike.get(_unescaped(new)) == role:
                found.setdefault(str(one["path"]), _unescaped(old))
    return found


def _unescaped(key: str) -> str:
    return key.replace("~1", "/").replace("~0", "~")


def _head(text: str) -> tuple[str, str]:
    """Split off `---`, with its line where nothing but a comment is in that."""
    found = re.match(r"---[ \t]*(#.*)?(\n|\Z)|---[ \t]+", text)
    return (found[0], text[found.end() :]) if found else ("", text)


def _as_in(text: str) -> YAML:
    """Return a reader and writer that indents as most of the text does."""
    lines = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
    mappings, lists = [], []
    for line, below in pairwise(lines):
        if _OPENS.fullmatch(line):
            deeper = indent(below) - indent(line)
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


def _apply(tree: Node, operation: Operation, instead: str) -> None:
    *above, last = map(_unescaped, str(operation["path"]).split("/")[1:])
    node, parent = tree, None
    for name in above:
        key = _key(node, name)
        node, parent = node[key], (node, key)
    key = _key(node, last)
    if operation["op"] == "remove":
        if isinstance(node, CommentedSeq) or key in node:  # or an alias has it gone already
            _remove(node, key, parent)
    elif isinstance(node, CommentedMap) and instead in node:
        _put_instead(node, instead, str(key), operation["value"])
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


def _put_instead(node: CommentedMap, old: str, new: str, value: Json) -> None:
    """Put an entry in the place of another, and with its comments."""
    about = node.ca.items.pop(old, None)
    node.insert([*node].index(old), new, value)
    del node[old]
    if about:
        node.ca.items[new] = about


def _remove(node: Node, key: str | int, parent: Place | None) -> None:
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
