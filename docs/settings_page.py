#!/usr/bin/env python3
"""Writes docs/reference/settings.md from the settings' own types, defaults and docstrings."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import yaml

from berth import configfile, layered, settings
from berth.admission import live
from berth.layered import Keys
from berth.settings import Fragment, Settings

PAGE = Path(__file__).parent / "reference/settings.md"
KINDS: dict[object, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Fragment: "Kubernetes object",
    dict[str, str]: "texts by name",
    dict[str, Literal["warn", "refuse", "drop"]]: "`warn`, `refuse`, `drop` by name",
    tuple[str, ...]: "list of texts",
    tuple[Fragment, ...]: "list of Kubernetes objects",
}
HEAD = """\
# Settings

<!-- scripts/generate writes this page from src/berth/settings.py: change it there. -->

A setting has the same name everywhere. There are three places to set it; if several set it, the
last of this list wins:

1. the settings file, YAML: `--config settings.yaml`;
2. an environment variable: `BERTH_SERVER_PORT=9443`;
3. a flag: `--set server.port=9443`. `berth webhook` also has `--host`, `--port`, `--cert-file`,
   `--key-file` and `--url`; these win over `--set`.

In a variable or a flag, write a list with commas between its items. Settings whose name contains
`[]` are lists of objects, and only the file can set them.

If a setting does not exist, or if its value has the wrong type, Berth does not start: a sentence
says where the mistake is and, if it can, what was probably meant. HAMi's `device-config.yaml`,
which names the resources, is a file of its own: `--device-config`.

If the file changes while Berth runs, Berth takes the new settings without a restart. Only these are
read once, at the start; a change of theirs waits for a new process, and `/readyz` says so:
{at_start}.

This file sets everything to its default:

```yaml
"""
INJECTION = """\
injections:
  - name: cuda-compat
    namespaceSelector: {matchLabels: {team: vision}}
    env:
      - {name: LD_PRELOAD, value: /opt/compat/libcompat.so, joinedBy: ":"}
    volumes:
      - {name: compat, hostPath: {path: /opt/compat}}
    volumeMounts:
      - {name: compat, mountPath: /opt/compat, readOnly: true}
"""
FILTERS = """\
placement:
  filters:
    - name: large-a100
      namespaces: [research-*]
      expression: >-
        device.memory.free.isGreaterThan(quantity("10Gi")) && device.model.contains("A100")
"""
CONVERSION = """\
conversions:
  - name: volcano
    namespaces: [team-a, team-b]
    reads: [hami, plain]
    writes: volcano
    memory: 16Gi
    queue: shared
    defaults: {cpuRequest: "4", memoryRequest: 16Gi}
"""
EXAMPLES = {
    "injections[]": INJECTION,
    "placement.filters[]": FILTERS,
    "conversions[]": CONVERSION,
}

Docstrings = dict[tuple[str, str], str]
"""The text below each field, by the names of its class and its own."""


def main() -> None:
    """Write the page."""
    for example in EXAMPLES.values():
        msgspec.convert(yaml.safe_load(example), Settings)  # raises where what we print is wrong
    defaults = yaml.safe_dump(msgspec.to_builtins(Settings()), sort_keys=False)
    head = HEAD.format(at_start=_at_start())
    lines = [f"{head}{defaults}```", *_group(Settings, (), _docstrings())]
    PAGE.write_text("\n".join(lines) + "\n")


def _at_start() -> str:
    names = [f"`{name}`" if "." in name else f"all of `{name}`" for name in live.AT_START]
    return textwrap.fill(", ".join(names), 100, break_on_hyphens=False)


def _docstrings() -> Docstrings:
    found = {}
    for owner in ast.parse(inspect.getsource(settings)).body:
        if isinstance(owner, ast.ClassDef):
            for field, below in zip(owner.body, owner.body[1:], strict=False):
                text = _text(below)
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and text:
                    found[owner.name, field.target.id] = text
    return found


def _text(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).split())
    return ""


def _group(struct: type[msgspec.Struct], above: Keys, docs: Docstrings) -> Iterator[str]:
    """Yield the lines of a group of settings, then those of the groups within it."""
    title = ".".join(above)
    if title:
        yield f"\n## `{title}`\n\n{inspect.getdoc(struct)}\n"
    if title in EXAMPLES:
        yield f"```yaml\n{EXAMPLES[title]}```\n"
    fields = msgspec.structs.fields(struct)
    rows = [field for field in fields if configfile.struct_of(field.type) is None]
    has_variables = "[]" not in title
    if rows:
        if not title:
            yield ""
        yield _row("Name", "Kind", "Default", *["Variable"] * has_variables, "What it is")
        yield _row(*["---"] * (4 + has_variables))
    for field in rows:
        name = f"`{layered.variable((*above, field.encode_name))}`"
        yield _row(
            f"`{field.encode_name}`",
            _kind(field.type),
            _default(field),
            *[name] * has_variables,
            _about(struct, field.name, docs),
        )
    for field in fields:
        inner = configfile.struct_of(field.type)
        if inner is not None:
            name = field.encode_name + "[]" * (get_origin(field.type) is tuple)
            yield from _group(inner, (*above, name), docs)


def _about(struct: type[msgspec.Struct], field: str, docs: Docstrings) -> str:
    """Return the text below a field, in the class that declares it: some groups extend another."""
    owner = next(one for one in struct.__mro__ if field in inspect.get_annotations(one))
    return re.sub(r"docs/reference/(\w+)\.md", r"[\1](\1.md)", docs[owner.__name__, field])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _kind(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        return str(get_args(kind)[1].description)
    if get_origin(kind) is tuple and get_origin(get_args(kind)[0]) in (Annotated, Literal):
        return f"list, each {_kind(get_args(kind)[0])}"
    if get_origin(kind) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(kind))
    return KINDS[kind]


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    made = field.default_factory is not msgspec.NODEFAULT
    value = field.default_factory() if made else field.default
    return f"`{msgspec.json.encode(value).decode()}`"


if __name__ == "__main__":
    main()
