"""Certificates that are replaced while Pods are created: no creation fails."""

import ssl
import subprocess
import sys
from collections.abc import Mapping
from datetime import timedelta

from berth import clock
from berth.certs import authority
from tests.cluster import namespaces
from tests.soak.deployment import Deployment, until
from tests.soak.report import Result
from tests.soak.scenarios import NAMES, Ground, files, loaded, lost, seen
from tests.webhook import Webhook

_LIFE = timedelta(days=1)
_QUICK = ("--set", "certificates.checkSeconds=0.5", "--set", "certificates.settleSeconds=2")
_SHORT = ("--set", "certificates.leafDays=0.0001")  # 8.6 s


def leaf(ground: Ground) -> Result:
    """Replace the leaf on the volumes twice, on one replica's after the other's."""
    ca = authority.make(clock.now(), clock.now() + _LIFE)
    with loaded(ground, "leaf-rotation", *_QUICK, mounted=_signed(ca)) as (deployed, begun):
        for _ in range(2):
            _replace(deployed, _signed(ca))
        outcome = begun.outcome()
        counted = {"certificates shown": deployed.logged("certificates.shown"), **seen(deployed)}
    return Result(name="leaf-rotation", outcome=outcome, counted=counted, broken=lost(outcome))


def ca_on_volumes(ground: Ground) -> Result:
    """Replace leaf and CA on the volumes at once, as cert-manager does when its CA is renewed."""
    cas = [authority.make(clock.now(), clock.now() + _LIFE) for _ in range(2)]
    with loaded(ground, "ca-on-volumes", *_QUICK, mounted=_signed(cas[0])) as (deployed, begun):
        _replace(deployed, _signed(cas[1]))
        outcome = begun.outcome()
        counted = {"certificates shown": deployed.logged("certificates.shown"), **seen(deployed)}
    return Result(name="ca-on-volumes", outcome=outcome, counted=counted, broken=lost(outcome))


def ca_of_our_own(ground: Ground) -> Result:
    """Rotate the CA that the replicas share in a Secret, until its forerunner is not trusted."""
    known = ("--kubeconfig", str(ground.plane.kubeconfig))
    with namespaces.own(ground.plane) as home:
        kept = ("--set", "certificates.store=secret", "--set", f"registration.namespace={home}")
        flags = (*kept, *_QUICK, *_SHORT)
        with loaded(ground, "ca-rotation", *flags, mounted={}) as (deployed, begun):
            rotate = [sys.executable, "-m", "berth", "certificates", "rotate", *known, *flags]
            subprocess.run(rotate, check=True, capture_output=True)
            for event in ("certificates.promoted", "certificates.retired"):
                deployed.await_logged(event, 1)
            outcome = begun.outcome()
            shown = deployed.logged("certificates.shown")
            counted = {"leaves shown": shown, **seen(deployed)}
    return Result(name="ca-rotation", outcome=outcome, counted=counted, broken=lost(outcome))


def _signed(ca: tuple[bytes, bytes]) -> dict[str, bytes]:
    """Return a new leaf, as files."""
    return files(authority.sign(ca, NAMES, clock.now(), clock.now() + _LIFE))


def _replace(deployed: Deployment, new: Mapping[str, bytes]) -> None:
    """Publish a certificate, and wait until each replica shows it to new callers."""
    deployed.publish(new)
    for replica in deployed.replicas:
        until(lambda: _shows(replica) == new["tls.crt"].decode(), "the new leaf is shown")  # noqa: B023


def _shows(replica: Webhook) -> str:
    return ssl.get_server_certificate(("127.0.0.1", replica.port))
