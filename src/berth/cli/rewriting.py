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
from typing import Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MantissaNoDotYAML1_1Warning

from berth.cli import comments, merging
from berth.cli.comments import Node
from berth.cli.merging import CannotKeep, indent
from berth.model.raw import Json
from berth.model.rfc6902 import Operation, unescaped

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_OPENS = re.compile(r" *[^-\s#][^#]*:\s*(#.*)?")
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
            inside[unescaped(last)] = one["value"]
        else:
            found.append(deepcopy(one))
    return found


def _renamed(operations: Sequence[Operation], alike: Mapping[str, str]) -> dict[str, str]:
    """Return for each path that is added the key beside it in whose place it comes."""
    found: dict[str, str] = {}
    for gone in operations:
        above, _, old = str(gone["path"]).rpartition("/")
        role = alike.get(unescaped(old)) if gone["op"] == "remove" else None
        for one in operations if role else ():
            parent, _, new = str(one["path"]).rpartition("/")
            if one["op"] == "add" and parent == above and alike.get(unescaped(new)) == role:
                found.setdefault(str(one["path"]), unescaped(old))
    return found


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
    *above, last = map(unescaped, str(operation["path"]).split("/")[1:])
    node, parent = tree, None
    for name in above:
        key = _key(node, name)
        node, parent = node[key], (node, key)
    key = _key(node, last)
    if operation["op"] == "remove":
        if isinstance(node, CommentedSeq) or key in node:  # or an alias has it gone already
            comments.remove(node, key, parent)
    elif isinstance(node, CommentedMap) and instead in node:
        comments.put_instead(node, instead, str(key), operation["value"])
    elif operation["op"] == "replace" or (isinstance(node, CommentedMap) and key in node):
        node[key] = operation["value"]
    else:
        comments.add(node, key, _commentable(operation["value"]))


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
