"""A run against a server: warm up, note its memory, send, and say what was not as it must be."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from tests import webhook
from tests.fuzz import checks, load
from tests.fuzz.case import Case
from tests.fuzz.load import Outcome, Target

INJECTION = {
    "name": "fuzz",
    "env": [{"name": "LD_PRELOAD", "value": "/ours.so", "joinedBy": ":"}],
    "volumes": [{"name": "ours", "hostPath": {"path": "/opt/ours"}}],
    "volumeMounts": [{"name": "ours", "mountPath": "/opt/ours"}],
    "annotations": {"example.com/note": "ours"},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
}
MOST_MIB = 384
"""Three quarters of the memory that `berth manifests` gives a replica: never more, at any time."""
_SHOWN = 10


@dataclass(frozen=True)
class Plan:
    """What to send, and what it may cost."""

    make: Callable[[int, int], Case]
    seed: int
    numbers: range
    warm_up: Sequence[Case]
    """Sent first, so that memory that is needed once and kept is no growth."""
    most_growth_mib: float = 8
    """How much the floor of the memory may rise; see `floors`.

    What the process remembers of requests fills meanwhile, 2 MiB in a run of 200,000. A leak of a
    hundred bytes in each of them is 10 MiB.
    """
    last: Sequence[Case] = ()
    """Sent last, and judged by `MOST_MIB` alone: what large bodies leave scattered in the
    allocator, 60 to 130 MiB that come and go, would hide a leak and look like one.
    """


@dataclass(frozen=True)
class Report:
    """What came of it."""

    outcome: Outcome
    warm_mib: float
    """Memory after the warm-up."""
    floors: tuple[float, float]
    """The least memory in the second quarter and in the last, in MiB."""
    peak_mib: float
    """The most memory at any time."""
    seconds: float
    faults: list[str]
    """What was not as it must be; none in a good run."""

    def __str__(self) -> str:
        outcome = self.outcome
        took, number, kind = outcome.slowest
        statuses = ", ".join(f"{status}: {n}" for status, n in sorted(outcome.statuses.items()))
        return (
            f"{outcome.done} bodies in {self.seconds:.0f} s; {statuses}\n"
            f"memory {self.warm_mib:.0f} MiB when warm, at least {self.floors[0]:.0f} MiB in the "
            f"second quarter, {self.floors[1]:.0f} MiB in the last, {self.peak_mib:.0f} at most\n"
            f"slowest answer {took:.2f} s (number {number}, {kind})"
        )


@contextmanager
def server(folder: Path) -> Iterator[tuple[webhook.Webhook, Target]]:
    """Start the webhook with an injection, and with all else as shipped."""
    settings = folder / "settings.yaml"
    settings.write_bytes(msgspec.json.encode({"injections": [INJECTION]}))
    flags = ("--config", str(settings), "--set", "log.flushSeconds=1")
    with webhook.running(folder, *flags) as running:
        yield running, Target(running.port, running.tls(), running.process.pid)


def run(
    plan: Plan,
    target: Target,
    log: list[dict[str, Any]],
    say: Callable[[str], object] = lambda _: None,
) -> Report:
    """Carry a plan out; `log` is read and emptied meanwhile, `say` hears how far it is."""
    started = perf_counter()
    audit: list[str] = []

    def watch(outcome: Outcome) -> None:
        audit.extend(_audited(log))
        found = len(outcome.findings) + len(audit)
        rss = f"{target.rss_mib():.0f} MiB"
        say(f"{outcome.done} of {len(plan.numbers)}, {rss}, {found} faults")

    warm = load.run(target, plan.warm_up.__getitem__, range(len(plan.warm_up)))
    memory = target.rss_mib()
    outcome = load.run(target, lambda number: plan.make(plan.seed, number), plan.numbers, watch)
    found = floors(outcome.memory, plan.numbers)
    last = load.run(target, plan.last.__getitem__, range(len(plan.last)))
    outcome.slowest = max(outcome.slowest, last.slowest)
    peak = target.peak_mib()
    audit.extend(_audited(log))
    every = (*warm.findings, *outcome.findings, *last.findings)
    faults = [f"seed {plan.seed}, {finding}" for finding in every]
    faults += [f"seed {plan.seed}, {line}" for line in audit]
    if found[1] > found[0] + plan.most_growth_mib:
        faults.append(f"memory has grown from {found[0]:.0f} to {found[1]:.0f} MiB")
    if peak > MOST_MIB:
        faults.append(f"memory was {peak:.0f} MiB at a time")
    return Report(outcome, memory, found, peak, perf_counter() - started, faults)


def floors(memory: Mapping[int, float], numbers: range) -> tuple[float, float]:
    """Return the least memory in the second quarter of a run and in the last one, in MiB.

    What large bodies leave scattered in the allocator comes and goes on top of the floor; a leak
    raises the floor.
    """
    quarter = len(numbers) / 4
    spans = ((quarter, 2 * quarter), (3 * quarter, 4 * quarter))
    first, last = (
        [mib for number, mib in memory.items() if low <= number - numbers.start < high]
        for low, high in spans
    )
    return (min(first), min(last)) if first and last else (0.0, 0.0)


def _audited(log: list[dict[str, Any]]) -> list[str]:
    """Take the lines out of the log that are there, and return what is wrong with them."""
    lines = log[:]
    del log[: len(lines)]
    return [wrong for line in lines if (wrong := checks.logged(line))]


def shown(faults: Sequence[str]) -> str:
    """Return the first of many faults."""
    return "\n".join([*faults[:_SHOWN], f"{len(faults)} faults"])
