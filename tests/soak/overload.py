"""More than the webhook can do: a slow decision, the largest bodies, and the cost of a refusal."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import process
from tests import webhook
from tests.soak import load
from tests.soak.callers import Answered, Flood, Probes, flood, probed, request
from tests.soak.report import Result
from tests.soak.scenarios import Ground
from tests.wire import raw

CALLERS = 64
MOST_MIB = 256
"""The memory limit of `berth manifests`."""
_SLOW = Path(__file__).with_name("slow.py")
_PER_SECOND = 200
_SLOW_SECONDS = 0.02
_IN_FLIGHT = 4
_UNWELL = 10.0  # seconds: for the third probe in a row, one each 5 s, as in `berth manifests`
_LARGEST = 8 * 2**20


def slow(ground: Ground) -> Result:
    """Offer four times what a slow decision can do: the rest is told to come again."""
    seconds = ground.creations / ground.per_second
    requests = [request(number) for number in range(int(seconds * _PER_SECOND))]
    limit = ("--set", f"server.mostInFlight={_IN_FLIGHT}")
    berth = (str(_SLOW), str(_SLOW_SECONDS))
    with webhook.running(ground.place("overload-slow"), *limit, berth=berth) as running:
        with probed(running) as probes:
            found = flood(running, requests, callers=CALLERS, per_second=_PER_SECOND)
        peak = raw.peak_mib(running)
        broken = [*_shed(found), *_green(probes), *_bounded(running, peak)]
    overtaken = _overtaken(running, found.answers)
    # Of what comes while the decisions under way are made, the kernel tells in its own order.
    if overtaken > 2 * _IN_FLIGHT * _SLOW_SECONDS:
        broken.append(f"a review was overtaken by one that was sent {overtaken:.2f} s later")
    served = len(found.with_status(200)) * _SLOW_SECONDS / seconds
    counted = {
        **_counted(found, probes, peak),
        "served of what could be": f"{served:.0%}",
        "overtaken by at most": f"{overtaken * 1000:.0f} ms",
    }
    outcome = _outcome(found, len(requests), _PER_SECOND)
    return Result(name="overload-slow", outcome=outcome, counted=counted, broken=broken)


def large(ground: Ground) -> Result:
    """Have 64 callers send 8 MiB each at once: memory stays within what the Pod may have."""
    requests = [request(number, _LARGEST) for number in range(CALLERS)]
    with webhook.running(ground.place("overload-large")) as running:
        with probed(running) as probes:
            found = flood(running, requests, callers=CALLERS, per_second=1e6)
        peak = raw.peak_mib(running)
        broken = [*_shed(found, some=False), *_green(probes), *_bounded(running, peak)]
    outcome = _outcome(found, len(requests), 1e6)
    counted = _counted(found, probes, peak)
    return Result(name="overload-large", outcome=outcome, counted=counted, broken=broken)


def cost(ground: Ground) -> Result:
    """Compare the CPU of a refusal with that of an answer, small bodies and large: it is less."""
    limit = ("--set", f"server.mostInFlight={_IN_FLIGHT}", "--set", "server.bodySeconds=600")
    small = [request(number) for number in range(min(ground.creations, 2000))]
    big = [request(number, _LARGEST) for number in range(8)]
    with webhook.running(ground.place("overload-cost"), *limit) as running:
        served = {len(each): _cpu(running, each, 200) for each in (small, big)}
        with _all_places_taken(running):
            refused = {len(each): _cpu(running, each, 503) for each in (small, big)}
    counted = {
        f"{what}: 503 / 200": f"{refused[size] * 1e6:.0f} / {served[size] * 1e6:.0f} us of CPU"
        for what, size in (("small", len(small)), ("8 MiB", len(big)))
    }
    broken = [
        f"a 503 costs {refused[size] * 1e6:.0f} us, an answer {served[size] * 1e6:.0f}"
        for size in served
        if refused[size] > served[size]
    ]
    return Result(name="overload-cost", outcome=None, counted=counted, broken=broken)


def _shed(found: Flood, *, some: bool = True) -> list[str]:
    """Return what is wrong with the answers: each is 200, or 503 with Retry-After: 1."""
    statuses = Counter(answer.status for answer in found.answers)
    bare = [answer for answer in found.with_status(503) if answer.retry_after != "1"]
    others = {status: count for status, count in statuses.items() if status not in (200, 503)}
    problems = {
        f"answers with other statuses: {others}": bool(others),
        f"{len(bare)} 503 without Retry-After: 1": bool(bare),
        f"{len(found.failures)} requests without an answer": bool(found.failures),
        "nothing was refused with 503, so all waited": some and not statuses[503],
        "nothing was served": not statuses[200],
    }
    return [text for text, holds in problems.items() if holds]


def _green(probes: Probes) -> list[str]:
    """Return what would make kubelet take the process for unwell."""
    problems = {
        f"{probes.red} of {len(probes.seconds)} probes were red": probes.red > 0,
        f"probes were slow for {probes.longest_unwell:.1f} s": probes.longest_unwell > _UNWELL,
        "no probe was answered": not probes.seconds,
    }
    return [text for text, holds in problems.items() if holds]


def _bounded(running: webhook.Webhook, peak: float) -> list[str]:
    problems = {
        f"the process ended with {running.process.poll()}": running.process.poll() is not None,
        f"{peak:.0f} MiB were resident, of {MOST_MIB} at most": peak > MOST_MIB,
    }
    return [text for text, holds in problems.items() if holds]


def _overtaken(running: webhook.Webhook, answers: Sequence[Answered]) -> float:
    """Return by how many seconds a review that was sent later was at most served earlier."""
    sent = {str(answer.number): answer.sent for answer in answers}
    most, latest = 0.0, 0.0
    for line in running.logged("admission.reviewed"):
        latest = max(latest, sent[line["uid"]])
        most = max(most, latest - sent[line["uid"]])
    return most


def _counted(found: Flood, probes: Probes, peak: float) -> dict[str, object]:
    refused = sorted(answer.took for answer in found.with_status(503))
    return {
        "told to come again (503)": len(refused),
        "the slowest 503": f"{refused[-1] * 1000:.0f} ms" if refused else "none",
        "the slowest probe": f"{max(probes.seconds, default=0) * 1000:.0f} ms",
        "most memory": f"{peak:.0f} MiB",
    }


def _outcome(found: Flood, offered: int, per_second: float) -> load.Outcome:
    served = [answer.took for answer in found.with_status(200)]
    others = [f"status {a.status}" for a in found.answers if a.status not in (200, 503)]
    failures = Counter([*found.failures, *others])
    return load.outcome(served, offered=offered, failures=failures, per_second=per_second)


def _cpu(running: webhook.Webhook, requests: Sequence[bytes], status: int) -> float:
    """Return the seconds of CPU that the webhook needs for an answer with this status."""
    before = process.cpu_seconds([running.process.pid])
    found = flood(running, requests, callers=_IN_FLIGHT, per_second=1e6)
    spent = process.cpu_seconds([running.process.pid]) - before
    statuses = {answer.status for answer in found.answers}
    assert statuses == {status}, f"{statuses} {found.failures}"
    return spent / len(requests)


@contextlib.contextmanager
def _all_places_taken(running: webhook.Webhook) -> Iterator[None]:
    """Have callers who send half of a body hold every place in flight."""
    with contextlib.ExitStack() as stack:
        for _ in range(_IN_FLIGHT):
            connection = stack.enter_context(raw.opened(running))
            connection.sendall(request(0)[:-100])
        assert raw.eventually(lambda: running.ask({}).status == 503)
        yield
