"""What a scenario found, and the table of all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.soak.load import Outcome

_HEAD = ("scenario", "offered", "answered", "failed", "p50 ms", "p99 ms", "promise")


@dataclass(frozen=True, kw_only=True)
class Result:
    """The outcome of a load, what was counted besides, and the promises that were broken."""

    name: str
    outcome: Outcome | None
    """None where it is not creations that are counted."""
    counted: Mapping[str, object] = field(default_factory=dict)
    broken: Sequence[str] = ()

    def lines(self) -> list[str]:
        """Return what the table has no column for."""
        counted = "; ".join(f"{what}: {value}" for what, value in self.counted.items())
        found = self.outcome.failures if self.outcome else {}
        failures = [f"{count} times: {text}" for text, count in found.items()]
        broken = [f"BROKEN: {text}" for text in self.broken]
        return [f"  {line}" for line in (counted, *failures[:5], *broken) if line]


def table(results: Sequence[Result]) -> str:
    """Return the table of all results."""
    rows = [_HEAD, *(_row(result) for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in (0, len(_HEAD) - 1) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _row(result: Result) -> tuple[str, ...]:
    kept = "broken" if result.broken else "kept"
    if result.outcome is None:
        return (result.name, *[""] * 5, kept)
    outcome = result.outcome
    counts = (outcome.offered, outcome.answered, outcome.failed)
    times = (f"{outcome.p50_ms:.1f}", f"{outcome.p99_ms:.1f}")
    return (result.name, *map(str, counts), *times, kept)
