"""`berth explain`: what would happen to these Pods, and why; nothing is changed anywhere."""

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import click

from berth.admission import (
    templates,
    workloads,
    zones,
)
from berth.admission.standing import Standing
from berth.cli import configured, documents, explained, options
from berth.cli.explained import Explained
from berth.cli.supposed import Cluster, namespaces
from berth.cli.terminal import warn
from berth.errors import BadReview, UsageError
from berth.model.raw import JsonObject, child, dotted


@click.command()
@click.argument("pod", required=False)
@click.option(
    "files",
    "-f",
    "--filename",
    multiple=True,
    type=options.NAMED,
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
    help="Label of the namespaces, beside those of the Namespaces in the files.",
)
@click.option("--cluster", "live", is_flag=True, help="Ask the cluster where a Pod could go.")
@click.option(
    "--snapshot",
    type=options.NAMED,
    metavar="FILE|URL",
    help="Ask what `berth snapshot` wrote, or a webhook's /debug/fleet, instead.",
)
@click.option("--policy", help="Place by this policy, not by the one that is the Pod's.")
@options.configuration
@options.kubeconfig
def command(
    *,
    pod: str | None,
    files: tuple[str, ...],
    output: str,
    namespace: str,
    labels: tuple[str, ...],
    live: bool,
    snapshot: str | None,
    policy: str | None,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
    kubeconfig: Path | None,
) -> None:
    """Say what would happen to the Pods in some files, and why.

    Takes any kind with a Pod template. With --cluster or --snapshot also where each could go, and
    why not elsewhere; with --cluster the same of a POD that is there, as NAMESPACE/NAME or NAME.
    Exits with 0, with 1 when a Pod is refused, with 2 when something cannot be read.
    """
    _check(pod, files, live=live, snapshot=snapshot)
    loaded, rules = configured.read(config, device_config, settings)
    read, fleet, standing, refusing = list(documents.read(files)), None, None, None
    if (live or snapshot) and not pod:
        from berth.cli import asking  # noqa: PLC0415  numpy is for those who place

        fleet = asking.fleet_of(kubeconfig, snapshot, rules)
        rules, standing = rules.knowing(fleet.cards), Standing(decision="")
        refusing = partial(asking.refusing, snapshot=fleet.snapshot)
    cluster = Cluster(
        rules=rules,
        selector=zones.anywhere(rules, loaded.registration),
        default=namespace,
        labels=dict(_pair(label) for label in labels),
        labels_by_namespace=dict(namespaces(document for _, document in read)),
        standing=standing,
        refusing=refusing,
    )
    found = list(_explain(read, cluster))
    if live or snapshot:
        from berth.cli import asking  # noqa: PLC0415  likewise

        asked = asking.Asked(
            rules=rules, zone=cluster.zone, language=loaded.language, policy=policy
        )
        if pod:
            found = [asked.live(pod, namespace, kubeconfig)]
        elif fleet:
            found = [asked.add(one, fleet) for one in found]
    placing = live or snapshot is not None
    explained.show_all(found, output, loaded.language, placed=placing)
    if explained.refused(found):
        sys.exit(1)


def _check(pod: str | None, files: tuple[str, ...], *, live: bool, snapshot: str | None) -> None:
    """Raise UsageError for options that do not go together."""
    if not pod and not files:
        raise click.UsageError("Missing option '-f' / '--filename', or a POD with --cluster.")
    if pod and files:
        raise UsageError(
            f"{pod}: a Pod of the cluster is explained alone; leave -f out, or write -f before "
            "each file, or before their folder"
        )
    if pod and (snapshot or not live):
        raise UsageError(
            f"{pod}: a Pod is asked of the cluster; add --cluster, or -f before a file"
        )
    if live and snapshot:
        raise UsageError("--cluster and --snapshot: ask one of them")


def _pair(label: str) -> tuple[str, str]:
    key, sign, value = label.partition("=")
    if not sign:
        raise UsageError(f"--namespace-label {label}: write it as key=value")
    return key, value


def _explain(read: Iterable[tuple[str, JsonObject]], cluster: Cluster) -> Iterator[Explained]:
    for source, document in read:
        metadata = child(document, "metadata")
        name = metadata.get("name") or metadata.get("generateName") or ""
        space = str(metadata.get("namespace") or cluster.default)
        found = list(templates.find(document))
        if not found and document.get("kind") in templates.RUN_PODS:
            raise UsageError(
                f"{source}: {document['kind']}/{name} has no spec.containers with a container in "
                "it; Kubernetes would not take it"
            )
        if not found and (asked := templates.asked_elsewhere(document, cluster.rules.known)):
            _unheard(f"{source}: {document.get('kind') or 'a document'}/{name}", asked)
        for template in found:
            try:
                decision = cluster.of(document).decide(template.pod, space)
            except BadReview as error:
                raise UsageError(f"{source}: {error}; Kubernetes would not take it") from None
            yield Explained(
                source=source,
                kind=str(document.get("kind") or ""),
                name=str(name),
                where=f" ({dotted(template.path)})" if template.path else "",
                namespace=space,
                before=template.pod,
                decision=decision.warned(
                    tuple(workloads.misplaced(document, template, cluster.rules))
                ),
            )


def _unheard(what: str, asked: str) -> None:
    """Say what a reader could take for looked at."""
    why = f"asks for {asked} outside of a Pod template (spec.containers), so nothing is said of it"
    warn(f"{what.rstrip('/')} {why}")
