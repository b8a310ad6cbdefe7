"""A store and an API server of a test's own, which may be stopped, and started with other flags."""

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import components, controlplane, kubeconfig, pki, ports, probe, processes
from tests.cluster.controlplane import ControlPlane
from tests.cluster.startup import Startup


@dataclass(frozen=True, slots=True, kw_only=True)
class Private:
    """An API server that the test may treat as it likes."""

    plane: ControlPlane
    startup: Startup

    def up(self, *flags: str) -> None:
        """Start the API server and wait until it is of use."""
        port = int(self.plane.url.rpartition(":")[2])
        plain = components.apiserver(
            self.plane.folder, port=port, etcd_port=self.plane.store, accounts=False
        )
        self.startup.run(dataclasses.replace(plain, flags=(*plain.flags, *flags)))

    def down(self) -> None:
        """Stop the API server; what is stored stays."""
        for process in processes.recorded(self.plane.folder):
            if process.name == "kube-apiserver":
                processes.stop(process)

    def kubeconfig(self, file: Path, *, server: str, user: str = components.ADMIN) -> Path:
        """Write a kubeconfig for another address of this server, or another of `pki`'s users."""
        client = pki.pair(components.certificates(self.plane.folder), user)
        kubeconfig.write(file, server=server, authority=self.plane.authority, client=client)
        return file


@contextlib.contextmanager
def running(folder: Path, *, programs: Path) -> Iterator[Private]:
    """Run etcd in the new `folder`, and the API server once `up` is called."""
    folder.mkdir()
    pki.make(components.certificates(folder))
    trust = probe.trust(components.certificates(folder))
    store, peer, port = ports.free(3)
    url = f"https://127.0.0.1:{port}"
    plane = ControlPlane(folder=folder, url=url, programs=programs, store=store)
    startup = Startup(folder=folder, programs=programs, tied=True, trust=trust)
    private = Private(plane=plane, startup=startup)
    private.kubeconfig(plane.kubeconfig, server=plane.url)
    try:
        startup.run(components.etcd(folder, port=store, peer_port=peer))
        yield private
    finally:
        controlplane.stop(folder)
