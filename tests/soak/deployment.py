"""Two real replicas of the webhook behind one endpoint, kept as a Deployment and a Service do."""

import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from berth import clock
from berth.certs import authority
from tests import pods, webhook
from tests.cluster.controlplane import ControlPlane
from tests.soak import proxy

REPLICAS = 2
REMOVAL_SECONDS = 0.5
"""From a replica's end, or its red readiness, until no new connection is led to it."""
_GRACE_SECONDS = 45  # terminationGracePeriodSeconds of `berth manifests`
_PATIENCE_SECONDS = 30


@dataclass
class Deployment:
    """Replicas of `berth webhook` with `flags`, and the endpoint that leads to them."""

    folder: Path
    endpoint: proxy.Proxy
    flags: tuple[str, ...]
    stack: ExitStack
    replicas: list[webhook.Webhook] = field(default_factory=list)
    gone: list[webhook.Webhook] = field(default_factory=list)
    removed_after: float = 0
    """The longest time from a SIGTERM to the removal of the endpoint, in seconds."""

    def start(self) -> None:
        """Start a replica; it is among the endpoints as soon as it is ready."""
        number = len(self.replicas) + len(self.gone)
        folder = self.folder / f"replica-{number}"
        folder.mkdir()
        running = webhook.running(folder, *self.flags, own_ca=True)
        replica = self.stack.enter_context(running)
        replica.folder = self.folder  # whose ca.crt vouches for it
        until(lambda: ready(replica), "the new replica is ready")
        self.replicas.append(replica)
        self.endpoint.add(replica.port)

    def stop(self, replica: webhook.Webhook) -> None:
        """Stop a replica as kubelet does, while its endpoint is removed a little later."""
        asked = time.monotonic()
        replica.process.send_signal(signal.SIGTERM)
        until(lambda: not ready(replica), "the readiness of a stopping replica is red")
        self.removed_after = max(self.removed_after, self._removed(replica) - asked)
        code = replica.process.wait(_GRACE_SECONDS)
        assert code == 0, f"a stopped replica ended with {code}: {replica.log[-5:]}"

    def restart(self) -> None:
        """Replace every replica, one after another, with maxSurge 1 and maxUnavailable 0."""
        for old in tuple(self.replicas):
            self.start()
            self.stop(old)

    def kill(self) -> None:
        """Kill a replica; its endpoint is removed a little later, and another takes its place."""
        replica = self.replicas[0]
        replica.process.kill()
        self._removed(replica)
        self.start()

    def reviews(self) -> int:
        """Count the reviews that were answered so far."""
        every = (*self.replicas, *self.gone)
        return sum(len(replica.logged("admission.reviewed")) for replica in every)

    def _removed(self, replica: webhook.Webhook) -> float:
        """Remove its endpoint after the delay; return when that was done."""
        time.sleep(REMOVAL_SECONDS)  # what is played here is the delay itself
        self.endpoint.remove(replica.port)
        self.replicas.remove(replica)
        self.gone.append(replica)
        return time.monotonic()


@contextmanager
def deployed(
    plane: ControlPlane, folder: Path, namespace: str, *flags: str
) -> Iterator[Deployment]:
    """Run two replicas, registered at the API server and called by it; take all out at the end."""
    folder.mkdir()
    pair = authority.issue(("127.0.0.1",), clock.now())
    files = {"tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": pair.authority}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    known = ("--kubeconfig", str(plane.kubeconfig))
    with proxy.running() as endpoint, ExitStack() as stack:
        given = [
            *("--register", *known, "--url", f"https://127.0.0.1:{endpoint.port}"),
            *("--cert-file", str(folder / "tls.crt"), "--key-file", str(folder / "tls.key")),
            *("--set", f"server.caFile={folder / 'ca.crt'}", "--set", "log.flushSeconds=0.1"),
        ]
        stack.callback(_unregister, known)
        deployment = Deployment(folder, endpoint, (*given, *flags), stack)
        for _ in range(REPLICAS):
            deployment.start()
        until(lambda: _mutates(plane, namespace), "the API server calls the webhook")
        yield deployment


def ready(replica: webhook.Webhook) -> bool:
    """Say whether its readiness probe would be green."""
    try:
        return replica.ask(path="/readyz", method="GET").status == 200
    except (OSError, http.client.HTTPException):
        return False


def until(holds: Callable[[], bool], what: str) -> None:
    """Poll until `holds`. Raises AssertionError after half a minute."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"waited {_PATIENCE_SECONDS} s in vain until {what}"
        time.sleep(0.02)


def _mutates(plane: ControlPlane, namespace: str) -> bool:
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"})
    del pod["metadata"]["namespace"]
    path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
    answer = plane.ask("POST", path, json.dumps(pod))
    return answer is not None and json.loads(answer)["spec"]["schedulerName"] != "default-scheduler"


def _unregister(known: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "berth", "unregister", *known]
    subprocess.run(command, check=True, capture_output=True)
