"""`berth snapshot`: the fleet of a cluster as a document, and whether a ledger of it is right."""

import asyncio
import sys
from pathlib import Path

import click
import msgspec

from berth.admission.placer import guess
from berth.admission.rules import Rules
from berth.cli import clustered, configured, options, pictures
from berth.cli.terminal import escaped
from berth.cluster import verify
from berth.cluster.fleet import Fleet, Guess
from berth.cluster.mirror import Mirror
from berth.cluster.watch import Source
from berth.errors import UsageError
from berth.model import picture

SHOWN = 10
"""Differences that are printed."""


@click.command()
@click.argument("file", type=options.FILE, default=Path("-"))
@click.option("--verify", "checked", is_flag=True, help="Count anew and compare, instead.")
@click.option(
    "seconds",
    "--for",
    type=options.DURATION,
    default="10s",
    show_default=True,
    help="With --verify: follow the cluster for so long before.",
)
@click.option(
    "--ledger",
    type=options.NAMED,
    metavar="FILE|URL",
    help="With --verify: a snapshot, or a webhook's /debug/fleet, instead of a ledger of our own.",
)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the document, no more.")
@options.configuration
@options.kubeconfig
def command(
    *,
    file: Path,
    checked: bool,
    seconds: float,
    ledger: str | None,
    schema: bool,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
    kubeconfig: Path | None,
) -> None:
    """Write the fleet of a cluster to a file, or verify a ledger of it.

    Its nodes, their cards, and who holds what; without FILE, or with -, to stdout. --verify keeps
    a ledger by the cluster's events for a while, then counts everything anew and says whether both
    agree: exit code 0, or 1.
    """
    if schema:
        click.echo(document_schema(), nl=False)
        return
    _, rules = configured.read(config, device_config, settings)
    source = clustered.source(kubeconfig)
    if not checked:
        _write(file, asyncio.run(_taken(source, rules)))
        return
    work = _compared(ledger, source, rules) if ledger else _followed(seconds, source, rules)
    verdict = asyncio.run(work)
    click.echo("\n".join(map(escaped, said(verdict))))
    sys.exit(1 if verdict.differences else 0)


def document_schema() -> str:
    """Return the JSON Schema of a snapshot."""
    text = msgspec.json.encode(msgspec.json.schema(picture.Picture))
    return msgspec.json.format(text, indent=1).decode() + "\n"


def said(verdict: verify.Verdict) -> list[str]:
    """Return lines for a person."""
    counted = f"{verdict.nodes} nodes and {verdict.pods} Pods counted anew"
    if not verdict.differences:
        return [f"{counted}: the ledger agrees"]
    lines = [f"{counted}: the ledger differs (its number, then the counted one)"]
    lines += [f"  {one}" for one in verdict.differences[:SHOWN]]
    more = len(verdict.differences) - SHOWN
    return [*lines, f"  and {more} more"] if more > 0 else lines


def _guess(rules: Rules) -> Guess:
    return lambda pod, snapshot: guess(pod, snapshot, rules)


async def _taken(source: Source, rules: Rules) -> bytes:
    mirror = Mirror(source)
    async with mirror.following():
        return picture.write(
            Fleet.counted(
                rules.vendors, mirror.nodes, mirror.pods, _guess(rules), rules.terms
            ).picture()
        )


async def _followed(seconds: float, source: Source, rules: Rules) -> verify.Verdict:
    fleet, mirror = Fleet(rules.vendors, _guess(rules), rules.terms), Mirror(source)
    mirror.nodes.listen(fleet.node)
    mirror.pods.listen(fleet.pod)

    async def ledger() -> verify.Ledger:
        return verify.Ledger(fleet.snapshot, fleet.guessed)

    async with mirror.following():
        await asyncio.sleep(seconds)
        return await verify.agree(ledger, source, rules.vendors, rules.terms)


async def _compared(where: str, source: Source, rules: Rules) -> verify.Verdict:
    async def ledger() -> verify.Ledger:
        return verify.of_picture(await asyncio.to_thread(pictures.read, where))

    return await verify.agree(ledger, source, rules.vendors, rules.terms)


def _write(file: Path, text: bytes) -> None:
    if str(file) == "-":
        sys.stdout.buffer.write(text)
        return
    try:
        file.write_bytes(text)
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {error.strerror}") from None
