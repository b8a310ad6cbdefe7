"""A real control plane on loopback: etcd, the API server, the scheduler and the controllers.

It lives in one folder (certificates, kubeconfigs, logs, data), which is all that is needed to
find it again and to stop it. Linux only.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.cluster import components, kubeconfig, pki, ports, probe, processes, startup
from tests.cluster.errors import ClusterError

_RECORD = "control-plane.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A control plane that was started, and what a client needs to use it."""

    folder: Path
    url: str
    """Where the API server listens: https://127.0.0.1:PORT."""
    programs: Path
    """The folder with the programs that it runs, and kubectl."""
    store: int
    """The port of etcd on loopback."""

    @property
    def kubectl(self) -> Path:
        """The kubectl of the same version."""
        return self.programs / "kubectl"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return components.kubeconfig(self.folder, components.ADMIN)

    @property
    def authority(self) -> Path:
        """The certificate of the authority that signed every other, PEM."""
        return pki.pair(components.certificates(self.folder), "authority").certificate

    @property
    def client(self) -> pki.Pair:
        """The administrator's certificate and key, PEM."""
        return pki.pair(components.certificates(self.folder), "admin")

    def has(self, name: str) -> bool:
        """Say whether the server is part of it: programs from outside may lack the last two."""
        return os.access(self.programs / name, os.X_OK)

    def ask(self, method: str, path: str, body: str | None = None) -> bytes | None:
        """Return the API server's answer to the administrator, or None where it is not 2xx."""
        trust = probe.trust(components.certificates(self.folder))
        return probe.ask(f"{self.url}{path}", method=method, body=body, context=trust)

    def version(self) -> str:
        """Return the version that runs, asked from it.

        Raises ClusterError where it does not answer.
        """
        answer = self.ask("GET", "/version")
        if answer is None:
            raise ClusterError(f"{self.url} does not answer: stop what runs and start it again")
        return str(json.loads(answer)["gitVersion"])


def start(folder: Path, *, programs: Path, tied: bool) -> ControlPlane:
    """Start a control plane in `folder`, new or empty, and wait until Pods can be made in it.

    It ends with the thread that calls this where `tied`, and else by `stop` alone. Raises
    ClusterError, with nothing left running, where a server ends or is not ready in time.
    """
    if not Path("/proc/self/stat").exists():
        raise ClusterError("the control plane needs Linux with /proc mounted: run it there")
    try:
        plane = _start(folder, programs=programs, tied=tied)
    except BaseException:
        stop(folder)
        raise
    record = {"url": plane.url, "programs": str(plane.programs), "store": plane.store}
    (folder / _RECORD).write_text(json.dumps(record))
    return plane


def stop(folder: Path) -> None:
    """Stop every server that was started in `folder`, the last first.

    The logs stay there; the stored objects, 64 MB at the least, go.
    """
    for process in processes.recorded(folder):
        processes.stop(process)
    shutil.rmtree(components.data(folder), ignore_errors=True)


@contextlib.contextmanager
def running(folder: Path, *, programs: Path) -> Iterator[ControlPlane]:
    """Run a control plane for the length of a `with`, and never longer than this thread."""
    plane = start(folder, programs=programs, tied=True)
    try:
        yield plane
    finally:
        stop(folder)


@contextlib.contextmanager
def another(plane: ControlPlane, folder: Path, *flags: str) -> Iterator[ControlPlane]:
    """Run a second API server on the objects of `plane` for the length of a `with`.

    It has all the flags of the first and these; what it says is in `folder`.
    """
    trust = probe.trust(components.certificates(plane.folder))
    step = startup.Startup(folder=folder, programs=plane.programs, tied=True, trust=trust)
    (port,) = ports.free(1)
    accounts = plane.has(components.CONTROLLER_MANAGER)
    server = components.apiserver(plane.folder, port=port, etcd_port=plane.store, accounts=accounts)
    try:
        step.run(replace(server, flags=(*server.flags, *flags)))
        yield replace(plane, url=f"https://127.0.0.1:{port}")
    finally:
        for process in processes.recorded(folder):
            processes.stop(process)


@contextlib.contextmanager
def scheduling(plane: ControlPlane, folder: Path, profile: dict[str, object]) -> Iterator[None]:
    """Run a second scheduler for the length of a `with`: for the Pods of one more profile."""
    trust = probe.trust(components.certificates(plane.folder))
    step = startup.Startup(folder=folder, programs=plane.programs, tied=True, trust=trust)
    kubeconfig = str(components.kubeconfig(plane.folder, components.SCHEDULER))
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": kubeconfig, "qps": 1000, "burst": 2000},
        "profiles": [profile],
    }
    file = folder / "scheduler.json"
    file.write_text(json.dumps(configuration))
    (port,) = ports.free(1)
    server = components.another_scheduler(plane.folder, port=port, configuration=file)
    try:
        step.run(server)
        yield
    finally:
        for process in processes.recorded(folder):
            processes.stop(process)


def find(folder: Path) -> ControlPlane | None:
    """Return the control plane that was started in `folder`, whether or not it still runs."""
    try:
        record = json.loads((folder / _RECORD).read_text())
    except FileNotFoundError:
        return None
    programs, store = Path(record["programs"]), record.get("store", 0)  # 0: started before it was
    return ControlPlane(folder=folder, url=record["url"], programs=programs, store=store)


def ended(folder: Path) -> Sequence[str]:
    """Return the names of the servers that were started in `folder` and no longer run."""
    return [each.name for each in processes.recorded(folder) if not processes.alive(each)]


def _start(folder: Path, *, programs: Path, tied: bool) -> ControlPlane:
    certificates = components.certificates(folder)
    pki.make(certificates)
    trust = probe.trust(certificates)
    step = startup.Startup(folder=folder, programs=programs, tied=tied, trust=trust)
    store, peer = ports.free(2)
    step.run(components.etcd(folder, port=store, peer_port=peer))
    (port,) = ports.free(1)
    url = f"https://127.0.0.1:{port}"
    plane = ControlPlane(folder=folder, url=url, programs=programs, store=store)
    for user in components.USERS:
        kubeconfig.write(
            components.kubeconfig(folder, user),
            server=plane.url,
            authority=plane.authority,
            client=pki.pair(certificates, user),
        )
    accounts = plane.has(components.CONTROLLER_MANAGER)
    step.run(components.apiserver(folder, port=port, etcd_port=store, accounts=accounts))
    further = [components.scheduler, components.controller_manager]
    wanted = [make(folder, port=port) for make, port in zip(further, ports.free(2), strict=True)]
    step.run(*(each for each in wanted if plane.has(each.name)))
    if accounts:
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        step.until_answered(plane.url + account, what="the default ServiceAccount")
    return plane
