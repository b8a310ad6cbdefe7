"""`berth convert`: manifests as a sharing stack needs them, in the looks that they have."""

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from berth import names
from berth.admission import conversions, mutate, patch, templates
from berth.admission.rules import Rules
from berth.admission.standing import Standing
from berth.cli import cards, configured, documents, merging, options, rewriting
from berth.cli.terminal import escaped
from berth.dialects import translate
from berth.errors import BadReview, UsageError
from berth.model import rfc6902
from berth.model.decision import Verdict
from berth.model.edit import Edit, Put
from berth.model.problem import Problem
from berth.model.raw import Json, JsonObject, child, dotted
from berth.model.raw import Path as Place
from berth.model.said import Said

_KNOWN = Standing(decision="")
"""Cards that were asked for may refuse a Pod, as at the server (`placement.never`); none do so."""


@click.command()
@click.option(
    "files",
    "-f",
    "--filename",
    multiple=True,
    required=True,
    type=options.NAMED,
    metavar="FILE",
    help="A YAML or JSON file, a folder of them, or - for stdin.",
)
@click.option(
    "target", "--to", type=click.Choice(sorted(translate.WRITES)), required=True, help="The stack."
)
@click.option("--in-place", is_flag=True, help="Write the files themselves instead of stdout.")
@click.option("--cluster", "live", is_flag=True, help="Know the cards of the cluster.")
@options.snapshot
@options.configuration
@options.kubeconfig
def command(
    *,
    files: tuple[str, ...],
    target: str,
    in_place: bool,
    live: bool,
    snapshot: str | None,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
    kubeconfig: Path | None,
) -> None:
    """Rewrite manifests for a sharing stack, comments and order kept.

    Takes any kind with a Pod template. What the stack cannot express is said on stderr. A share in
    percent becomes MiB by the cards of --cluster or --snapshot, where the stack needs that. Exits
    with 0, with 1 when a Pod is refused, whose file stays as it is, with 2 when something
    cannot be read.
    """
    if in_place and "-" in files:
        raise UsageError("--in-place: stdin is no file; leave one of the two out")
    loaded, rules = configured.read(config, device_config, settings)
    rules, language = conversions.into(loaded, rules, target), loaded.language
    known = cards.asked(kubeconfig, snapshot, rules.vendors, live=live)
    rules = rules.knowing(known)
    converted = [_converted(source, text, rules) for source, text in documents.texts(files)]
    for one in converted:
        for name, said in one.said:
            click.echo(escaped(f"{one.source}: {name}: {said.text(language)}"), err=True)
        if in_place and one.after != one.before:
            _write(Path(one.source), one.after)
    if not in_place:
        click.echo(_joined(one.after for one in converted).encode(), nl=False)
    if any(one.refused for one in converted):
        sys.exit(1)


@dataclass(slots=True)
class Converted:
    """A file before and after, and what is to be said of it."""

    source: str
    before: str
    after: str = ""
    refused: bool = False
    said: list[tuple[str, Problem | Said]] = field(default_factory=list)
    """What about which Pod."""


def _converted(source: str, read: bytes, rules: Rules) -> Converted:
    """Convert one file. Raises UsageError."""
    try:
        found = Converted(source, read.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UsageError(f"{source}: is not text in UTF-8") from None
    text, ends = found.before, "\n"
    if 0 < text.count("\r\n") == text.count("\n"):
        text, ends = text.replace("\r\n", "\n"), "\r\n"
    parts = [_part(found, part, rules) for part in rewriting.split(text)]
    found.after = found.before if found.refused else "".join(parts).replace("\n", ends)
    return found


def _part(found: Converted, text: str, rules: Rules) -> str:
    """Return a document as the stack needs it. Raises UsageError."""
    held = documents.parsed(found.source, text)
    if len(held) > 1:
        raise UsageError(
            f"{found.source}: several JSON objects stand in a row; give each a file of its own"
        )
    if not held:  # nothing, or comments
        return text
    operations = list(_operations(found, held[0], rules))
    if not operations:
        return text
    wanted = held[0]
    for operation in operations:
        wanted = _object(rfc6902.apply(wanted, operation))
    if _is_json(text):
        return f"{json.dumps(wanted, indent=2, ensure_ascii=False)}\n"
    with contextlib.suppress(merging.CannotKeep):
        for candidate in rewriting.candidates(text, operations, _alike(rules)):
            if _says(candidate, wanted):
                return candidate
    raise UsageError(
        f"{found.source}: what has to change is shared by an anchor, or written so that it cannot "
        "change alone; write it out where it stands"
    )


def _alike(rules: Rules) -> dict[str, str]:
    """Return what a resource is a number of, in whichever words."""
    named = (pair for one in rules.options.words for pair in one.named_roles)
    return {name: role.removesuffix("_percent") for role, name in named}


def _says(text: str, wanted: JsonObject) -> bool:
    try:
        return documents.parsed("", text) == [wanted]
    except UsageError:
        return False


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _operations(found: Converted, document: JsonObject, rules: Rules) -> Iterator[JsonObject]:
    """Yield the changes of a document, RFC 6902, and note what is to be said. Raises UsageError."""
    for template in templates.find(document):
        one, inside = _single(document, template.path)
        by = rules.without_queue() if templates.has_queue(one) else rules
        try:
            decision = mutate.decide(template.pod, _namespace(one), by, standing=_KNOWN)
        except BadReview as error:
            raise UsageError(f"{found.source}: {error}; Kubernetes would not take it") from None
        name = _named(one, inside)
        found.refused |= decision.verdict is Verdict.REFUSED
        heard = decision.notes if decision.verdict is Verdict.IGNORED else ()
        said: tuple[Problem | Said, ...] = (*decision.problems, *heard, *decision.warnings)
        # What was asked for before, the file's own history tells.
        found.said += [(name, one) for one in said if not one.code.startswith("renamed")]
        edits = [edit for edit in decision.edits if not _is_idle(edit, template.pod)]
        prefix = rfc6902.pointer(template.path)
        for operation in patch.record(template.pod, edits)[0]:
            yield {**operation, "path": f"{prefix}{operation['path']}"}


def _is_idle(edit: Edit, pod: JsonObject) -> bool:
    """Whether a file is as good without: 1 is '1', and its own history keeps what it said."""
    if edit.path == ("metadata", "annotations", names.ORIGINAL_REQUEST):
        return True
    there: Json = pod
    for key in edit.path:
        if isinstance(there, dict):
            there = there.get(str(key))
        else:
            inside = isinstance(there, list) and isinstance(key, int) and key < len(there)
            there = there[key] if inside else None  # type: ignore[index]  # inside
    return isinstance(edit, Put) and type(there) is int and str(there) == edit.value


def _single(document: JsonObject, path: Place) -> tuple[JsonObject, Place]:
    """Return the object in which a template stands, and where: of a List, the item."""
    items = document.get("items")
    item = items[int(path[1])] if isinstance(items, list) and path[:1] == ("items",) else None
    return (item, path[2:]) if isinstance(item, dict) else (document, path)


def _namespace(document: JsonObject) -> str:
    """Return the namespace that a manifest names; "" is any."""
    name = child(document, "metadata").get("namespace")
    return name if isinstance(name, str) else ""


def _named(document: JsonObject, path: Place) -> str:
    name = child(document, "metadata").get("name")
    where = f" ({dotted(path)})" if path else ""
    return f"{document.get('kind')}/{name or ''}{where}"


def _object(value: object) -> JsonObject:
    assert isinstance(value, dict)  # noqa: S101  a patch changes what is in it
    return value


def _joined(texts: Iterable[str]) -> str:
    """Join files into one stream."""
    stream = ""
    for text in texts:
        if stream and not text.startswith("---"):
            stream += "---\n"
        stream += text if text.endswith("\n") or not text else f"{text}\n"
    return stream


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None
