"""What `berth explain` says of one Pod, whoever found it out, and how it is printed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import click
import orjson

from berth.admission import wire
from berth.cli import demanded, show
from berth.cli.terminal import escaped
from berth.model.decision import Decision, Verdict
from berth.model.raw import Json, JsonObject
from berth.words.catalogue import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Where a Pod could go: lines for people, and an object for scripts."""

    lines: tuple[str, ...]
    learned: tuple[str, ...]
    """What is true of the fleet under a policy, whichever Pod it is: said once."""
    row: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One Pod template and what was decided about it."""

    source: str
    kind: str
    name: str
    where: str
    namespace: str
    before: JsonObject
    decision: Decision
    place: Told | None = None
    """None where no fleet was asked, or the Pod is refused."""


def show_all(found: Iterable[Explained], output: str, language: Language, *, placed: bool) -> None:
    """Print all as `output` says; `placed` where a fleet was asked."""
    explained = list(found)
    if output == "json":
        rows = [_row(one, language, placed=placed) for one in explained]
        click.echo(orjson.dumps(rows))  # bytes: JSON is UTF-8 whatever the terminal is
        return
    for one in explained:
        title = f"{one.source}: {one.kind}/{one.name}{one.where}"
        lines = one.place.lines if one.place else ()
        show.decision(title, one.before, one.decision, language, lines)
    learned = dict.fromkeys(one.place.learned for one in explained if one.place)
    for line in [line for some in learned for line in some]:
        click.echo(escaped(line))
    click.echo(show.summary(one.decision for one in explained))


def refused(found: Iterable[Explained]) -> bool:
    """Whether a Pod among them is refused."""
    return any(one.decision.verdict is Verdict.REFUSED for one in found)


def _row(one: Explained, language: Language, *, placed: bool) -> Mapping[str, Json]:
    decision = one.decision
    row: dict[str, Json] = {
        "source": one.source,
        "kind": one.kind,
        "name": one.name,
        "demand": demanded.row(decision.demand),
        "decision": decision.verdict,
        **({"would": decision.would.verdict} if decision.would else {}),
        "said": list((decision.would or decision).said),
        "reasons": list((decision.would or decision).reasons(language)),
        "warnings": wire.warnings(decision, language),
        "patch": [*decision.operations],
        "pod": decision.pod,
    }
    return row | {"placement": one.place.row if one.place else None} if placed else row
