"""What an operator does to the webhook, and what happens to it, while Pods are created."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.controlplane import ControlPlane
from tests.soak import deployment, load
from tests.soak.deployment import Deployment
from tests.soak.load import Load, Outcome
from tests.soak.report import Result


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Where the scenarios take place, and how much load there is."""

    plane: ControlPlane
    folder: Path
    """Empty, or with what other scenarios left."""
    namespace: str
    creations: int
    per_second: float
    flags: tuple[str, ...] = ()
    """Further flags of every replica."""


@contextmanager
def _loaded(ground: Ground, name: str, *flags: str) -> Iterator[tuple[Deployment, Load]]:
    """Give a Deployment under load, a tenth of which has been answered."""
    where = ground.folder / name
    given = (*ground.flags, *flags)
    with deployment.deployed(ground.plane, where, ground.namespace, *given) as deployed:
        before = deployed.reviews()
        begun = load.begin(ground.plane, ground.namespace, ground.creations, ground.per_second)
        tenth = ground.creations // 10
        deployment.until(lambda: deployed.reviews() > before + tenth, "a tenth is answered")
        yield deployed, begun


def _lost(outcome: Outcome, *, most: int = 0) -> list[str]:
    """Return the promise about failed creations, where it was broken."""
    if outcome.failed <= most:
        return []
    return [f"{outcome.failed} creations failed, where {most} may"]


def quiet(ground: Ground) -> Result:
    """Do nothing: what the machine can do."""
    with _loaded(ground, "quiet") as (_, begun):
        outcome = begun.outcome()
    return Result(name="quiet", outcome=outcome, broken=_lost(outcome))


def rolling_restart(ground: Ground) -> Result:
    """Replace each replica, as `kubectl rollout restart` does: no creation fails."""
    with _loaded(ground, "rolling-restart") as (deployed, begun):
        deployed.restart()
        outcome = begun.outcome()
        counted = {"removed after": f"{deployed.removed_after:.1f} s", **_seen(deployed)}
    broken = _lost(outcome)
    return Result(name="rolling-restart", outcome=outcome, counted=counted, broken=broken)


def killed_fail(ground: Ground) -> Result:
    """Kill a replica under Fail: what was under way on its connections may fail, no more.

    A Service leads callers to a dead replica until its endpoint is gone. Connections that were
    refused so are counted apart.
    """
    with _loaded(ground, "killed-fail") as (deployed, begun):
        deployed.kill()
        outcome = begun.outcome()
        counted = _seen(deployed)
        most = deployed.endpoint.broken + deployed.endpoint.refused
    broken = _lost(outcome, most=most)
    return Result(name="killed-fail", outcome=outcome, counted=counted, broken=broken)


def killed_ignore(ground: Ground) -> Result:
    """Kill a replica under Ignore: no creation fails; some Pods pass as they were written."""
    ignore = ("--set", "registration.failurePolicy=Ignore")
    with _loaded(ground, "killed-ignore", *ignore) as (deployed, begun):
        deployed.kill()
        outcome = begun.outcome()
        counted = {"passed unmutated": outcome.unmutated, **_seen(deployed)}
        most = deployed.endpoint.broken + deployed.endpoint.refused
    broken = _lost(outcome)
    if outcome.unmutated > most:
        broken.append(f"{outcome.unmutated} Pods passed unmutated, where {most} may")
    return Result(name="killed-ignore", outcome=outcome, counted=counted, broken=broken)


def _seen(deployed: Deployment) -> dict[str, object]:
    """Return what the endpoint counted."""
    endpoint = deployed.endpoint
    return {
        "connections": endpoint.accepted,
        "broken under a request": endpoint.broken,
        "refused by a dead replica": endpoint.refused,
    }
