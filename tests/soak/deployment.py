"""Two real replicas of the webhook behind one endpoint, kept as a Deployment and a Service do."""

import http.client
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests import pods, webhook
from tests.cluster.controlplane import ControlPlane
from tests.e2e.api import Api, Object
from tests.soak import proxy, volume

REPLICAS = 2
REMOVAL_SECONDS = 0.5
"""From a replica's end, or its red readiness, until no new connection is led to it."""
SKEW_SECONDS = 0.5
"""Between the moments at which a change of a Secret or ConfigMap reaches two replicas."""
CERTIFICATE = {"tls.crt": "server.certFile", "tls.key": "server.keyFile", "ca.crt": "server.caFile"}
SETTINGS = "settings.yaml"
DEVICES = "device-config.yaml"
_FLAGS = {SETTINGS: "--config", DEVICES: "--device-config"}
_GRACE_SECONDS = 45  # terminationGracePeriodSeconds of `berth manifests`
_PATIENCE_SECONDS = 120  # a tenth of a processor is enough
_AS_SHIPPED = ("--set", "log.flushSeconds=0.1", "--set", "server.stopSeconds=15")
"""What tests of one server set otherwise."""


@dataclass
class Deployment:
    """Replicas of `berth webhook` with `flags`, and the endpoint that leads to them."""

    folder: Path
    endpoint: proxy.Proxy
    flags: tuple[str, ...]
    files: dict[str, bytes]
    """What each replica has on its volume: a certificate, settings, or nothing."""
    stack: ExitStack
    replicas: list[webhook.Webhook] = field(default_factory=list)
    gone: list[webhook.Webhook] = field(default_factory=list)
    removed_after: float = 0
    """The longest time from a SIGTERM to the removal of the endpoint, in seconds."""

    @property
    def every(self) -> list[webhook.Webhook]:
        """All replicas there were."""
        return [*self.gone, *self.replicas]

    def start(self) -> None:
        """Start a replica; it is among the endpoints as soon as it is ready."""
        folder = self.folder / f"replica-{len(self.every)}"
        folder.mkdir()
        mounted = folder / "volume"
        volume.publish(mounted, self.files)
        given = [
            f"{CERTIFICATE[name]}={mounted / name}" for name in self.files.keys() & CERTIFICATE
        ]
        flags = [word for setting in given for word in ("--set", setting)]
        for name in self.files.keys() & _FLAGS:
            flags += [_FLAGS[name], str(mounted / name)]
        running = webhook.running(folder, *self.flags, *flags, own_ca=True)
        replica = self.stack.enter_context(running)
        replica.folder = mounted  # its ca.crt vouches for it
        until(lambda: ready(replica), "the new replica is ready")
        self.replicas.append(replica)
        self.endpoint.add(replica.port)

    def stop(self, replica: webhook.Webhook) -> None:
        """Stop a replica as kubelet does, while its endpoint is removed a little later."""
        asked = time.monotonic()
        replica.process.send_signal(signal.SIGTERM)
        until(lambda: not ready(replica), "the readiness of a stopping replica is red")
        self._removed(replica)
        self.removed_after = max(self.removed_after, time.monotonic() - asked)
        code = replica.process.wait(_GRACE_SECONDS)
        assert code == 0, f"a stopped replica ended with {code}: {replica.log[-5:]}"

    def restart(self, changed: Mapping[str, bytes] | None = None) -> None:
        """Replace every replica, one after another, with maxSurge 1 and maxUnavailable 0.

        What is `changed` on the volumes, the new ones alone have.
        """
        self.files |= changed or {}
        for old in tuple(self.replicas):
            self.start()
            self.stop(old)

    def kill(self, count: int = 1) -> None:
        """Kill so many replicas at once; others take their places when the endpoints are gone."""
        victims = self.replicas[:count]
        for replica in victims:
            replica.process.kill()
        self._removed(*victims)
        for _ in victims:
            self.start()

    def publish(self, files: Mapping[str, bytes]) -> None:
        """Change files on the volumes, on one replica's a little after the other's."""
        self.files |= files
        for replica in self.replicas:
            volume.publish(replica.folder, self.files)
            time.sleep(SKEW_SECONDS)  # what is played here is the delay itself

    def logged(self, event: str) -> int:
        """Count the log lines of an event, of all replicas there were."""
        return sum(len(replica.logged(event)) for replica in self.every)

    def await_logged(self, event: str, times: int) -> None:
        """Wait until an event was logged so often."""
        until(lambda: self.logged(event) >= times, f"{event} was logged {times} times")

    def _removed(self, *replicas: webhook.Webhook) -> None:
        time.sleep(REMOVAL_SECONDS)  # what is played here is the delay itself
        for replica in replicas:
            self.endpoint.remove(replica.port)
            self.replicas.remove(replica)
            self.gone.append(replica)


@contextmanager
def deployed(
    plane: ControlPlane,
    folder: Path,
    namespace: str,
    flags: tuple[str, ...],
    files: Mapping[str, bytes],
) -> Iterator[Deployment]:
    """Run two replicas, registered at the API server and called by it; take all out at the end."""
    known = ("--kubeconfig", str(plane.kubeconfig))
    with proxy.running() as endpoint, ExitStack() as stack:
        url = f"https://127.0.0.1:{endpoint.port}"
        given = ("--register", *known, "--url", url, *_AS_SHIPPED, *flags)
        stack.callback(_unregister, known)
        deployment = Deployment(folder, endpoint, given, dict(files), stack)
        for _ in range(REPLICAS):
            deployment.start()
        until(lambda: _rewritten(*tried(plane, namespace)), "the API server calls us")
        yield deployment


def ready(replica: webhook.Webhook) -> bool:
    """Say whether its readiness probe would be green."""
    try:
        return replica.operator("/readyz").status == 200
    except (OSError, http.client.HTTPException):
        return False


def until(holds: Callable[[], bool], what: str) -> None:
    """Poll until `holds`. Raises AssertionError after two minutes."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"waited {_PATIENCE_SECONDS} s in vain until {what}"
        time.sleep(0.02)


def tried(plane: ControlPlane, namespace: str) -> tuple[int, Object]:
    """Return the API server's answer to the creation of a GPU Pod, by dry run."""
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"})
    del pod["metadata"]["namespace"]
    api = Api(plane)
    with closing(api.connection):
        return api.create(pod, namespace, dry_run=True)


def _rewritten(status: int, answer: Object) -> bool:
    return status == 201 and answer["spec"]["schedulerName"] == "hami-scheduler"


def _unregister(known: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "berth", "unregister", *known]
    subprocess.run(command, check=True, capture_output=True)
