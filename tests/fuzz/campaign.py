"""A run against a server: warm up, note its memory, send, and say what was not as it must be."""

from collections.abc import Callable, Iterator, Sequence
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
from tests.wire import raw

INJECTION = {
    "name": "fuzz",
    "env": [{"name": "LD_PRELOAD", "value": "/ours.so", "joinedBy": ":"}],
    "volumes": [{"name": "ours", "hostPath": {"path": "/opt/ours"}}],
    "volumeMounts": [{"name": "ours", "mountPath": "/opt/ours"}],
    "annotations": {"example.com/note": "ours"},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
}
_SHOWN = 10


@dataclass(frozen=True)
class Plan:
    """What to send, and what it may cost."""

    make: Callable[[int, int], Case]
    seed: int
    numbers: range
    warm_up: Sequence[Case]
    """Sent first, so that memory that is needed once and kept is no growth."""
    most_growth_mib: float = 32
    settle_seconds: float = 10
    """Memory is given so long to come back."""


@dataclass(frozen=True)
class Report:
    """What came of it."""

    outcome: Outcome
    before_mib: float
    after_mib: float
    seconds: float
    faults: list[str]
    """What was not as it must be; none in a good run."""

    def __str__(self) -> str:
        outcome = self.outcome
        took, number, kind = outcome.slowest
        statuses = ", ".join(f"{status}: {n}" for status, n in sorted(outcome.statuses.items()))
        return (
            f"{outcome.done} bodies in {self.seconds:.0f} s; {statuses}\n"
            f"memory {self.before_mib:.0f} MiB before, {self.after_mib:.0f} MiB after; "
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
    before = target.rss_mib()
    outcome = load.run(target, lambda number: plan.make(plan.seed, number), plan.numbers, watch)
    most = before + plan.most_growth_mib
    # Memory comes back with the last answers, or it does not.
    raw.eventually(lambda: target.rss_mib() <= most, plan.settle_seconds)
    after = target.rss_mib()
    audit.extend(_audited(log))
    faults = [f"seed {plan.seed}, {finding}" for finding in warm.findings + outcome.findings]
    faults += [f"seed {plan.seed}, {line}" for line in audit]
    if after > most:
        faults.append(f"memory has grown from {before:.0f} to {after:.0f} MiB")
    return Report(outcome, before, after, perf_counter() - started, faults)


def _audited(log: list[dict[str, Any]]) -> list[str]:
    """Take the lines out of the log that are there, and return what is wrong with them."""
    lines = log[:]
    del log[: len(lines)]
    return [wrong for line in lines if (wrong := checks.logged(line))]


def shown(faults: Sequence[str]) -> str:
    """Return the first of many faults."""
    return "\n".join([*faults[:_SHOWN], f"{len(faults)} faults"])
