"""What an operator does to the webhook, and what happens to it, while Pods are created."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson

from berth import clock
from berth.admission import verify
from berth.certs import authority
from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.soak import deployment, load
from tests.soak.deployment import DEVICES, REPLICAS, SETTINGS, Deployment, until
from tests.soak.load import Load, Outcome
from tests.soak.report import Result

NAMES = ("127.0.0.1",)
_IGNORE = ("--set", "registration.failurePolicy=Ignore")
_REFUSAL = "the GPU webhook did not rewrite this Pod"
_OTHERS = verify.BY_OTHERS.text()
_HALVED = {
    "name": "halved",
    "namespaces": ["*"],
    "writes": "hami",
    "oversubscription": {"memory": 2},
}
_SHARED = {"nvidia": {"defaultMemory": 2000, "defaultCores": 30}}
"""Of HAMi's device-config: then a Pod that names no memory gets a share, not all cores."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """Where the scenarios take place, and how much load there is."""

    plane: ControlPlane
    folder: Path
    """Empty, or with what other scenarios left."""
    namespace: str
    creations: int
    """At the least: a load goes on until all is done."""
    per_second: float
    flags: tuple[str, ...] = ()
    """Further flags of every replica."""

    def place(self, name: str) -> Path:
        """Return a new folder."""
        return Path(tempfile.mkdtemp(dir=self.folder, prefix=f"{name}-"))


@contextmanager
def loaded(
    ground: Ground, name: str, *flags: str, mounted: Mapping[str, bytes] | None = None
) -> Iterator[tuple[Deployment, Load]]:
    """Give a Deployment under load, a tenth of which has been offered and answered.

    `mounted` is what is on its volumes: a certificate where nothing else is said.
    """
    mounted = certificate() if mounted is None else mounted
    given, where = (*ground.flags, *flags), ground.place(name)
    with deployment.deployed(ground.plane, where, ground.namespace, given, mounted) as deployed:
        before, tenth = deployed.logged("admission.reviewed"), ground.creations // 10
        begun = load.begin(ground.plane, ground.namespace, ground.creations, ground.per_second)
        until(lambda: deployed.logged("admission.reviewed") > before + tenth, "a tenth is answered")
        yield deployed, begun


def certificate() -> dict[str, bytes]:
    """Return a new certificate, as files."""
    return files(authority.issue(NAMES, clock.now()))


def files(pair: authority.Pair) -> dict[str, bytes]:
    """Return a certificate as the files of a Secret's volume."""
    return {"tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": pair.authority}


def lost(outcome: Outcome, *, most: int = 0) -> list[str]:
    """Return the promise about failed creations, where it was broken."""
    if outcome.failed <= most:
        return []
    return [f"{outcome.failed} creations failed, where {most} may"]


def quiet(ground: Ground) -> Result:
    """Do nothing: what the machine can do."""
    with loaded(ground, "quiet") as (_, begun):
        outcome = begun.outcome()
    return Result(name="quiet", outcome=outcome, broken=lost(outcome))


def rolling_restart(ground: Ground) -> Result:
    """Replace each replica, as `kubectl rollout restart` does: no creation fails."""
    with loaded(ground, "rolling-restart") as (deployed, begun):
        deployed.restart()
        outcome = begun.outcome()
        counted = {"endpoint removed after": f"{deployed.removed_after:.1f} s", **seen(deployed)}
    return Result(name="rolling-restart", outcome=outcome, counted=counted, broken=lost(outcome))


def rolling_update(ground: Ground) -> Result:
    """Replace each replica by one with other settings and devices: no creation fails.

    Each knows its own alone, and checks what the other has written.
    """
    mounted = {**certificate(), **_files()}
    with loaded(ground, "rolling-update", mounted=mounted) as (deployed, begun):
        deployed.restart(_files({"conversions": [_HALVED]}, _SHARED))
        outcome = begun.outcome()
        counted = {"written by others": by_others(deployed), **seen(deployed)}
    return Result(name="rolling-update", outcome=outcome, counted=counted, broken=lost(outcome))


def reload(ground: Ground) -> Result:
    """Change what both replicas write, on one after the other: no creation fails.

    An injection comes, which the API server asks for as soon as one replica knows it, and goes;
    other amounts come, and a conversion of this very namespace.
    """
    library = {"name": "library", "env": [{"name": "LD_PRELOAD", "value": "/opt/ours.so"}]}
    volcano = {"name": "ours", "namespaces": [ground.namespace], "writes": "volcano"}
    steps = [
        _files({"policy": {"privileged": "deny"}}, _SHARED),
        _files({"injections": [library]}),
        _files({"conversions": [_HALVED]}),
        _files({"conversions": [volcano]}),
        _files(),
    ]
    with loaded(ground, "reload", mounted={**certificate(), **_files()}) as (deployed, begun):
        for number, step in enumerate(steps, 1):
            deployed.publish(step)
            deployed.await_logged("configuration.taken", REPLICAS * number)
        outcome = begun.outcome()
        taken, others = deployed.logged("configuration.taken"), by_others(deployed)
        counted = {"generations taken": taken, "written by others": others, **seen(deployed)}
    return Result(name="reload", outcome=outcome, counted=counted, broken=lost(outcome))


def _files(
    settings: Mapping[str, object] | None = None, devices: Mapping[str, object] | None = None
) -> dict[str, bytes]:
    """Return settings and devices as files: as shipped where nothing is given."""
    return {SETTINGS: orjson.dumps(settings or {}), DEVICES: orjson.dumps(devices or {})}


def killed_fail(ground: Ground) -> Result:
    """Kill a replica under Fail: what was under way on its connections may fail, no more.

    A Service leads callers to a dead replica until its endpoint is gone. Connections that were
    refused so are counted apart.
    """
    with loaded(ground, "killed-fail") as (deployed, begun):
        deployed.kill()
        outcome = begun.outcome()
        counted, most = seen(deployed), under_way(deployed)
    broken = lost(outcome, most=most)
    return Result(name="killed-fail", outcome=outcome, counted=counted, broken=broken)


def killed_ignore(ground: Ground) -> Result:
    """Kill a replica under Ignore: no creation fails; some Pods pass as they were written."""
    with loaded(ground, "killed-ignore", *_IGNORE) as (deployed, begun):
        deployed.kill()
        outcome = begun.outcome()
        counted, most = seen(deployed), under_way(deployed)
    broken = lost(outcome)
    if outcome.unmutated > most:
        broken.append(f"{outcome.unmutated} Pods passed unmutated, where {most} may")
    counted = {"passed unmutated": outcome.unmutated, **counted}
    return Result(name="killed-ignore", outcome=outcome, counted=counted, broken=broken)


def killed_backstop(ground: Ground) -> Result:
    """Kill one replica, later all, under Ignore and the backstop: it refuses what passed unmutated.

    And nothing else: not one Pod without a GPU.
    """
    with ExitStack() as stack:
        stack.enter_context(_backstop(ground))
        deployed, begun = stack.enter_context(loaded(ground, "killed-backstop", *_IGNORE))
        deployed.kill()
        deployed.kill(REPLICAS)
        outcome = begun.outcome()
        counted = seen(deployed)
    others = sum(count for text, count in outcome.failures.items() if _REFUSAL not in text)
    problems = {
        f"{others} creations failed for another reason": others,
        f"{outcome.plain_failed} Pods without a GPU failed": outcome.plain_failed,
        f"{outcome.unmutated} Pods passed unmutated": outcome.unmutated,
        "nothing was refused, while no replica was there": not outcome.failed,
    }
    broken = [text for text, holds in problems.items() if holds]
    return Result(name="killed-backstop", outcome=outcome, counted=counted, broken=broken)


@contextmanager
def _backstop(ground: Ground) -> Iterator[None]:
    """Have the policy of `berth policy` in force."""
    command = [sys.executable, "-m", "berth", "policy"]
    policy = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    kubectl = Kubectl(plane=ground.plane, namespace=ground.namespace)
    kubectl("apply", "-f", "-", input=policy)
    try:
        until(lambda: _refuses(ground), "it is in force")
        yield
    finally:
        kubectl("delete", "-f", "-", input=policy)


def _refuses(ground: Ground) -> bool:
    _, answer = deployment.tried(ground.plane, ground.namespace)
    return _REFUSAL in answer.get("message", "")


def under_way(deployed: Deployment) -> int:
    """Return how many requests were under way on connections of replicas that died."""
    return deployed.endpoint.broken + deployed.endpoint.refused


def by_others(deployed: Deployment) -> int:
    """Count the Pods that a replica let pass as another's settings had them written."""
    every = (line for one in deployed.every for line in one.logged("admission.reviewed"))
    return sum(_OTHERS in line["reasons"] for line in every)


def seen(deployed: Deployment) -> dict[str, object]:
    """Return what the endpoint counted."""
    endpoint = deployed.endpoint
    return {
        "connections": endpoint.accepted,
        "broken under a request": endpoint.broken,
        "refused by a dead replica": endpoint.refused,
    }
