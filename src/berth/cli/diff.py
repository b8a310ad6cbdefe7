"""`berth diff`: whose Pods another configuration would change, and how; nothing is changed."""

import sys
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path

import click
import orjson

from berth import names
from berth.admission import templates, written, zones
from berth.admission.rules import Rules
from berth.admission.standing import Standing
from berth.admission.templates import Template
from berth.cli import cards, configured, options, show
from berth.cli import found as sources
from berth.cli.found import Found
from berth.cli.supposed import Cluster
from berth.cli.terminal import escaped
from berth.errors import BadReview, UsageError
from berth.model.decision import Decision, Verdict
from berth.model.raw import Json, JsonObject, annotations, child, dotted
from berth.settings import Settings
from berth.words.catalogue import Language

_STAYS = (Verdict.UNCHANGED, Verdict.IGNORED, Verdict.AUDITED)


@click.command()
@click.option(
    "files",
    "-f",
    "--filename",
    multiple=True,
    type=options.NAMED,
    metavar="FILE",
    help="A YAML or JSON file, a folder of them, or - for stdin; else the cluster.",
)
@click.option(
    "--recording",
    type=options.FILE,
    help="A recording of `berth record`, for the Pods that came, as far as it says.",
)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
@click.option(
    "-n", "--namespace", help="Of the cluster, this one alone; in files, of what names none."
)
@click.option(
    "--before-config", type=options.FILE, help="The settings file to compare with, such as today's."
)
@click.option("--before-device-config", type=options.FILE, help="Its device-config.yaml.")
@click.option("--before-set", multiple=True, metavar="KEY=VALUE", help="One setting of it.")
@options.snapshot
@options.configuration
@options.kubeconfig
def command(
    *,
    files: tuple[str, ...],
    recording: Path | None,
    output: str,
    namespace: str | None,
    before_config: Path | None,
    before_device_config: Path | None,
    before_set: tuple[str, ...],
    snapshot: str | None,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
    kubeconfig: Path | None,
) -> None:
    """Say which Pods another configuration would change or refuse, and how.

    Compares the configuration of --before-… with that of --config, --device-config and --set over
    every Pod template of a cluster, of files or of a recording. Without a --before-…, with a
    cluster that has no Berth. Where Pods are translated, the cards are those of the cluster, or of
    --snapshot. Exits with 0 where nothing changes, 1 where something does, 2 where
    something cannot be read.
    """
    if files and recording:
        raise UsageError("--recording: stands for the files; give one of the two")
    before = (before_config, before_device_config, before_set)
    old = configured.read(*before) if any(before) else None
    new = configured.read(config, device_config, settings)
    if recording:
        # It was recorded in the words of the configuration of then.
        _, rules = old or new
        found = sources.in_recording(recording, namespace or "default", rules.vendors)
    elif files:
        found = sources.in_files(files, namespace or "default")
    else:
        translates = any(rules.zones for _, rules in filter(None, (old, new)))
        found = sources.in_cluster(kubeconfig, namespace or "", nodes=translates and not snapshot)
    if snapshot:
        found = replace(found, cards=cards.of_snapshot(snapshot))
    language = new[0].language
    rows = list(_compared(found, _cluster(old, found) if old else None, _cluster(new, found)))
    changed = [row for row in rows if row.changes]
    if output == "json":
        said = [_row(row, language) for row in changed]
        click.echo(orjson.dumps(said))  # bytes: JSON is UTF-8 whatever the terminal is
    else:
        for row in changed:
            _show(row, language)
        click.echo(_summary(rows))
    if changed:
        sys.exit(1)


def _cluster(by: tuple[Settings, Rules], found: Found) -> Cluster:
    loaded, rules = by
    known = found.cards or cards.of_nodes(found.nodes, rules.vendors)
    rules = rules.knowing(known)
    return Cluster(
        rules=rules,
        standing=Standing(decision="") if known else None,
        selector=zones.anywhere(rules, loaded.registration),
        default=found.default,
        labels={},
        labels_by_namespace=found.labels,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One Pod template under both configurations."""

    source: str
    kind: str
    namespace: str
    name: str
    template: Template
    before: Decision
    after: Decision

    @property
    def changes(self) -> bool:
        """Whether a Pod of it would fare otherwise: what is stored, or why it is not."""
        return _outcome(self.before) != _outcome(self.after)


def _outcome(decision: Decision) -> tuple[object, ...]:
    if decision.verdict is Verdict.REFUSED:
        return tuple(str(problem) for problem in decision.problems)
    return (written.left_out(decision.pod),)


def _compared(found: Found, old: Cluster | None, new: Cluster) -> Iterator[Compared]:
    records = new.rules.allocations | (old.rules.allocations if old else frozenset())
    records |= {names.DECISION}
    for source, given in found.documents:
        document = _as_created(given, records) if found.scheduled else given
        kind, namespace, name = _identity(document, found.default)
        for template in templates.find(document):
            try:
                yield Compared(
                    source=source,
                    kind=kind,
                    namespace=namespace,
                    name=name,
                    template=template,
                    before=_decided(old, document, template, namespace),
                    after=_decided(new, document, template, namespace),
                )
            except BadReview as error:
                where = f"{source}: {kind}/{name}"
                raise UsageError(f"{where}: {error}; Kubernetes would not take it") from None


def _decided(
    by: Cluster | None, document: JsonObject, template: Template, namespace: str
) -> Decision:
    if by is None:
        return Decision(verdict=Verdict.UNCHANGED, pod=template.pod)
    return by.of(document).decide(template.pod, namespace)


def _as_created(document: JsonObject, records: AbstractSet[str]) -> JsonObject:
    """Return an object without what a scheduler wrote: a Pod's node, and the devices it got."""
    metadata, spec = document.get("metadata"), document.get("spec")
    if document.get("kind") != "Pod" or not isinstance(metadata, dict):
        return document
    there = annotations(document)
    kept: JsonObject = {key: value for key, value in there.items() if key not in records}
    unbound: Json = (
        {key: value for key, value in spec.items() if key != "nodeName"}
        if isinstance(spec, dict)
        else spec
    )
    return {**document, "metadata": {**metadata, "annotations": kept}, "spec": unbound}


def _identity(document: JsonObject, default: str) -> tuple[str, str, str]:
    metadata = child(document, "metadata")
    name = metadata.get("name") or metadata.get("generateName") or ""
    return str(document.get("kind") or ""), str(metadata.get("namespace") or default), str(name)


def _show(row: Compared, language: Language) -> None:
    title = f"{row.kind}/{row.name} in {row.namespace}"
    if row.template.path:
        title += f" ({dotted(row.template.path)})"
    fates = (show.verdict(_fate(one)) for one in (row.before, row.after))
    click.echo(f"{click.style(escaped(title), bold=True)}  {' → '.join(fates)}")
    show.reasons(row.after, language, {*row.before.reasons(language)})
    if row.after.verdict is not Verdict.REFUSED:
        show.changes(*(written.left_out(one.pod) for one in (row.before, row.after)))
    click.echo()


def _fate(decision: Decision) -> Verdict:
    """Return what happens to the Pod itself."""
    return Verdict.UNCHANGED if decision.verdict in _STAYS else decision.verdict


def _summary(rows: list[Compared]) -> str:
    changed = [row for row in rows if row.changes]
    refused = sum(row.after.verdict is Verdict.REFUSED for row in changed)
    more = f", {refused} of them refused" if refused else ""
    templates = f"{len(rows)} Pod template{'' if len(rows) == 1 else 's'}"
    return f"{templates}: {len(changed)} would fare otherwise{more}"


def _row(row: Compared, language: Language) -> dict[str, Json]:
    return {
        "source": row.source,
        "kind": row.kind,
        "namespace": row.namespace,
        "name": row.name,
        "path": dotted(row.template.path),
        "before": _said(row.before, language),
        "after": _said(row.after, language),
    }


def _said(decision: Decision, language: Language) -> JsonObject:
    return {
        "decision": decision.verdict,
        "reasons": list(decision.reasons(language)),
        "patch": [*decision.operations],
    }
