"""`berth explain`: what would happen to these Pods, and why; nothing is changed anywhere."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
import orjson

from berth import settings as configured
from berth.admission import configuration, mutate, templates, wire
from berth.admission.rules import Rules
from berth.cli import documents, options, show
from berth.errors import BadReview, UsageError
from berth.model.decision import Decision, Verdict
from berth.model.raw import Json, JsonObject, dotted


@click.command()
@click.option(
    "files",
    "-f",
    "--filename",
    multiple=True,
    required=True,
    metavar="FILE",
    help="A YAML or JSON file, a folder of them, or - for stdin.",
)
@click.option(
    "output",
    "-o",
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
)
@click.option("-n", "--namespace", default="default", help="For Pods that name none.")
@click.option(
    "labels",
    "--namespace-label",
    multiple=True,
    metavar="KEY=VALUE",
    help="Label of the namespaces, for injections that select by it.",
)
@options.configuration
def command(
    *,
    files: tuple[str, ...],
    output: str,
    namespace: str,
    labels: tuple[str, ...],
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Say what would happen to the Pods in some files, and why.

    Takes any kind with a Pod template. Exits with 0, with 1 when a Pod is refused, with 2 when
    something cannot be read.
    """
    rules, heard = configuration.rules(configured.load(config, settings), device_config)
    for warning in heard:
        click.echo(f"berth: {warning}", err=True)
    explained = list(_explain(files, namespace, dict(_pair(label) for label in labels), rules))
    if output == "json":
        sys.stdout.write(orjson.dumps([_row(one) for one in explained]).decode() + "\n")
    else:
        for one in explained:
            show.decision(
                f"{one.source}: {one.kind}/{one.name}{one.where}", one.before, one.decision
            )
        click.echo(show.summary(one.decision for one in explained))
    if any(one.decision.verdict is Verdict.REFUSED for one in explained):
        sys.exit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One Pod template and what was decided about it."""

    source: str
    kind: str
    name: str
    where: str
    before: JsonObject
    decision: Decision


def _pair(label: str) -> tuple[str, str]:
    key, sign, value = label.partition("=")
    if not sign:
        raise UsageError(f"--namespace-label {label}: write it as key=value")
    return key, value


def _explain(
    files: Iterable[str], namespace: str, labels: Mapping[str, str], rules: Rules
) -> Iterator[Explained]:
    for source, document in documents.read(files):
        metadata = document.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        name = metadata.get("name") or metadata.get("generateName") or ""
        space = str(metadata.get("namespace") or namespace)
        for template in templates.find(document):
            try:
                decision = mutate.decide_all(template.pod, space, labels, rules)
            except BadReview as error:
                raise UsageError(f"{source}: {error}; Kubernetes would not take it") from None
            yield Explained(
                source=source,
                kind=str(document.get("kind") or ""),
                name=str(name),
                where=f" ({dotted(template.path)})" if template.path else "",
                before=template.pod,
                decision=_with(decision, _misplaced(document, template, rules)),
            )


def _misplaced(document: JsonObject, template: templates.Template, rules: Rules) -> tuple[str, ...]:
    """Say so where a key that steers a Pod stands on the workload around it, without effect."""
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not template.path or not isinstance(annotations, dict):
        return ()
    where = dotted((*template.path, "metadata", "annotations"))
    return tuple(
        f"metadata.annotations[{name}] has no effect on {document.get('kind')}; move it to {where}"
        for name in annotations
        if name in rules.steering
    )


def _with(decision: Decision, warnings: tuple[str, ...]) -> Decision:
    return decision.warned(warnings) if warnings else decision


def _row(one: Explained) -> Mapping[str, Json]:
    decision = one.decision
    return {
        "source": one.source,
        "kind": one.kind,
        "name": one.name,
        "decision": decision.verdict.value,
        "reasons": list(decision.reasons),
        "warnings": list(wire.clean(decision.warnings)),
        "patch": [*decision.operations],
        "pod": decision.pod,
    }
