"""Decisions on a terminal: a line, the reasons, and the change as a coloured diff."""

from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from difflib import unified_diff

import click
import yaml

from berth.cli import demanded
from berth.cli.terminal import escaped
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


def decision(
    title: str,
    before: JsonObject,
    decided: Decision,
    language: Language,
    place: Iterable[str] = (),
) -> None:
    """Print what was understood of one Pod, what happens to it and why, and where it could go."""
    click.echo(f"{click.style(escaped(title), bold=True)}  {verdict(decided.verdict)}")
    for line in demanded.said(decided.demand, language) if decided.demand else ():
        click.echo(f"  {click.style('?', fg='cyan')} {escaped(line)}")
    reasons(decided, language)
    for warning in decided.warnings:
        click.echo(f"  {click.style('!', fg='yellow')} {escaped(warning.text(language))}")
    changes(before, decided.pod)
    for line in place:
        click.echo(f"  {click.style('@', fg='cyan')} {escaped(line)}")
    click.echo()


def verdict(found: Verdict) -> str:
    """Return a verdict in its colour."""
    return click.style(found, fg=COLOURS[found], bold=True)


def reasons(decided: Decision, language: Language, known: AbstractSet[str] = frozenset()) -> None:
    """Print why, a line each, but for what is known."""
    mark = click.style("x", fg="red") if decided.verdict is Verdict.REFUSED else "-"
    for reason in decided.reasons(language):
        if reason not in known:
            click.echo(f"  {mark} {escaped(reason)}")


def changes(before: JsonObject, after: JsonObject) -> None:
    """Print what differs, as a coloured diff."""
    for line in diff(before, after):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.echo("    " + click.style(line, fg=colour))


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
