"""Manifests from files, folders and stdin, as kubectl takes them."""

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from berth import configfile
from berth.cli import scalars
from berth.errors import UsageError
from berth.model.raw import Json, JsonObject

SUFFIXES = (".yaml", ".yml", ".json")


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is a number that JSON cannot hold")


_JSON = json.JSONDecoder(parse_constant=_no_number)


def read(names: Iterable[str]) -> Iterator[tuple[str, JsonObject]]:
    """Yield each document with the name of its source; of a List, each of its items.

    Raises UsageError, naming the source.
    """
    for source, text in texts(names):
        for document in parsed(source, text):
            for single in _unfolded(document):
                yield source, single


def parsed(source: str, text: bytes | str) -> list[JsonObject]:
    """Return the documents of a text, without the empty ones. Raises UsageError."""
    try:
        loaded = _from_json(text) or [*yaml.load_all(text, Loader=scalars.Loader)]
        configfile.check_aliases(loaded, len(text))
        documents = [_as_json(document) for document in loaded]
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        why = f"{configfile.why_no_yaml(error)}{_rendered(text)}"
        raise UsageError(f"{source}: is not valid YAML: {why}") from None
    found = []
    for document in documents:
        if isinstance(document, dict):
            found.append(document)
        elif document is not None:
            held = "a list" if isinstance(document, list) else f"only {document!r:.40}"
            raise UsageError(f"{source}: holds {held}, not a manifest (a mapping with a kind)")
    return found


def _rendered(text: bytes | str) -> str:
    """Say what to do where the text may be a template, such as a chart's."""
    braces = "{{" in text if isinstance(text, str) else b"{{" in text
    return "; if this is a template, render it first (helm template … | …)" if braces else ""


def _from_json(text: bytes | str) -> list[object]:
    """Return the objects of JSON, of which `jq` prints one after another; none where it is none.

    To YAML's rules, the two halves in which Python writes an emoji are no character.
    """
    found: list[object] = []
    with contextlib.suppress(ValueError):
        rest = (text if isinstance(text, str) else text.decode("utf-8-sig")).strip()
        while rest.startswith("{"):
            one, end = _JSON.raw_decode(rest)
            found.append(one)
            rest = rest[end:].lstrip()
        return [] if rest else found
    return []


def _unfolded(document: JsonObject) -> Iterator[JsonObject]:
    """Yield what a List such as `kubectl get -o yaml` prints holds; else the document itself."""
    kind, items = str(document.get("kind") or ""), document.get("items")
    if not kind.endswith("List") or not isinstance(items, list):
        yield document
        return
    objects = [item for item in items if isinstance(item, dict)]
    if len(objects) < len(items):  # a kind of somebody's own that is only named like a list
        yield document
        return
    # Within a PodList as the API server sends it, the items do not repeat what they are.
    shared = {"apiVersion": document.get("apiVersion"), "kind": kind.removesuffix("List")}
    for item in objects:
        yield from _unfolded(item if kind == "List" else {**shared, **item})


def texts(names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each file with its name, those of folders too; - is stdin. Raises UsageError."""
    for name in names:
        if name == "-":
            yield "-", _stdin()
            continue
        files = [Path(name)]
        if files[0].is_dir():
            files = sorted(_within(files[0]))
            if not files:
                raise UsageError(f"{name}: holds no {', '.join(SUFFIXES)} file")
        for file in files:
            try:
                yield str(file), file.read_bytes()
            except OSError as error:
                raise UsageError(f"{file}: cannot be read: {error.strerror}") from None


def _within(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, but for what hidden folders hold: .git, .venv, .github."""
    for file in folder.rglob("*"):
        above = file.relative_to(folder).parts[:-1]
        if file.suffix in SUFFIXES and file.is_file() and not any(n[0] == "." for n in above):
            yield file


def _stdin() -> bytes:
    if sys.stdin is None:  # so it is where the caller has closed it
        raise UsageError("-: stdin is closed; pipe a manifest into it, or name a file")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise UsageError(f"-: cannot be read: {error.strerror}") from None


def _as_json(value: object) -> Json:
    """Return what JSON, and so Kubernetes, has for it: keys are text, huge numbers are floats.

    Raises ValueError for what JSON cannot hold, RecursionError for a loop of YAML aliases.
    """
    if isinstance(value, dict):
        return {
            _whole(key) if isinstance(key, str) else str(key).lower(): _as_json(below)
            for key, below in value.items()
        }
    if isinstance(value, list):
        return [_as_json(below) for below in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value)
    if isinstance(value, str):
        return _whole(value)
    if value is None or isinstance(value, int | float):
        return value
    raise ValueError(f"a {type(value).__name__} is nothing that Kubernetes reads")


def _whole(text: str) -> str:
    r"""Return text with \ufffd for half a character, which JSON can escape, as Kubernetes reads it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
