"""Decisions on a terminal: a line, the reasons, and the change as a coloured diff."""

from collections import Counter
from collections.abc import Iterable
from difflib import unified_diff

import click
import yaml

from berth.cli import demanded
from berth.model.decision import Decision, Verdict
from berth.model.raw import JsonObject
from berth.words.catalogue import Language

COLOURS = {
    Verdict.PATCHED: "green",
    Verdict.UNCHANGED: "white",
    Verdict.IGNORED: "yellow",
    Verdict.REFUSED: "red",
    Verdict.AUDITED: "magenta",
}


def decision(title: str, before: JsonObject, decided: Decision, language: Language) -> None:
    """Print what was understood of one Pod, what happens to it, and why."""
    verdict = click.style(decided.verdict, fg=COLOURS[decided.verdict], bold=True)
    click.echo(f"{click.style(title, bold=True)}  {verdict}")
    for line in demanded.said(decided.demand, language) if decided.demand else ():
        click.echo(f"  {click.style('?', fg='cyan')} {line}")
    mark = click.style("x", fg="red") if decided.verdict is Verdict.REFUSED else "-"
    for reason in decided.reasons(language):
        click.echo(f"  {mark} {reason}")
    for warning in decided.warnings:
        click.echo(f"  {click.style('!', fg='yellow')} {warning.text(language)}")
    for line in diff(before, decided.pod):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.echo("    " + click.style(line, fg=colour))
    click.echo()


def diff(before: JsonObject, after: JsonObject) -> Iterable[str]:
    """Yield the lines of a unified diff of both as YAML, without its head."""
    if before == after:
        return
    old, new = (yaml.dump(pod, sort_keys=False).splitlines() for pod in (before, after))
    for number, line in enumerate(unified_diff(old, new, lineterm="", n=2)):
        if number > 1:
            yield line


def summary(decisions: Iterable[Decision]) -> str:
    """Return one line such as "5 Pods: 3 patched, 1 ignored, 1 refused"."""
    counts = Counter(decided.verdict for decided in decisions)
    total = counts.total()
    parts = [f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict]]
    return f"{total} Pod{'' if total == 1 else 's'}" + (f": {', '.join(parts)}" if parts else "")
