"""The four servers of a control plane: their flags, and where each says that it is ready."""

from dataclasses import dataclass
from pathlib import Path

from tests.cluster import pki

ADMIN = "admin"
SCHEDULER = "kube-scheduler"
CONTROLLER_MANAGER = "kube-controller-manager"
USERS = (ADMIN, SCHEDULER, CONTROLLER_MANAGER)
"""Who has a certificate, under this name, and a kubeconfig."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One server to start."""

    name: str
    flags: tuple[str, ...]
    ready: str
    """The URL that answers 200 once the server is of use."""


def certificates(folder: Path) -> Path:
    """Return where the certificates of the control plane in `folder` are."""
    return folder / "pki"


def data(folder: Path) -> Path:
    """Return where the control plane in `folder` stores every object."""
    return folder / "etcd"


def kubeconfig(folder: Path, name: str) -> Path:
    """Return the kubeconfig of one of the users."""
    return folder / f"{name}.kubeconfig"


def etcd(folder: Path, *, port: int, peer_port: int) -> Component:
    """Return the store, which need not survive a power cut."""
    serving = pki.pair(certificates(folder), "serving")
    authority = pki.pair(certificates(folder), "authority").certificate
    url, peer_url = f"https://127.0.0.1:{port}", f"https://127.0.0.1:{peer_port}"
    flags = (
        f"--data-dir={data(folder)}",
        "--unsafe-no-fsync",
        "--name=berth",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        f"--listen-peer-urls={peer_url}",
        f"--initial-advertise-peer-urls={peer_url}",
        f"--initial-cluster=berth={peer_url}",
        "--enable-grpc-gateway=false",  # would call etcd with the serving certificate
        "--client-cert-auth",
        f"--trusted-ca-file={authority}",
        f"--cert-file={serving.certificate}",
        f"--key-file={serving.key}",
        "--peer-client-cert-auth",
        f"--peer-trusted-ca-file={authority}",
        f"--peer-cert-file={serving.certificate}",
        f"--peer-key-file={serving.key}",
    )
    return Component(name="etcd", flags=flags, ready=f"{url}/health")


def apiserver(folder: Path, *, port: int, etcd_port: int, accounts: bool) -> Component:
    """Return the API server; without `accounts` Pods need no ServiceAccount."""
    off = ("TaintNodesByCondition",) if accounts else ("TaintNodesByCondition", "ServiceAccount")
    store = pki.pair(certificates(folder), "etcd-client")
    keys = pki.account_keys(certificates(folder))
    authority = pki.pair(certificates(folder), "authority").certificate
    flags = (
        f"--etcd-servers=https://127.0.0.1:{etcd_port}",
        f"--etcd-cafile={authority}",
        f"--etcd-certfile={store.certificate}",
        f"--etcd-keyfile={store.key}",
        *_serving(folder, port),
        f"--client-ca-file={authority}",
        # Nothing goes to the `kubernetes` Service here, and a loopback address is refused in it.
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={keys.key}",
        f"--service-account-key-file={keys.certificate}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged",
        "--enable-admission-plugins=NodeRestriction",
        "--feature-gates=DRAExtendedResource=true",  # or a DeviceClass loses the field
        # A new node is tainted not-ready, which node-lifecycle-controller (off, below) would lift.
        f"--disable-admission-plugins={','.join(off)}",
    )
    return Component(name="kube-apiserver", flags=flags, ready=f"https://127.0.0.1:{port}/readyz")


def scheduler(folder: Path, *, port: int) -> Component:
    """Return the scheduler."""
    flags = (*_serving(folder, port), *_client(folder, SCHEDULER))
    return Component(name=SCHEDULER, flags=flags, ready=f"https://127.0.0.1:{port}/readyz")


def another_scheduler(folder: Path, *, port: int, configuration: Path) -> Component:
    """Return a scheduler of the control plane in `folder` with a configuration of its own."""
    file = kubeconfig(folder, SCHEDULER)
    flags = (
        *_serving(folder, port),
        f"--config={configuration}",
        f"--authentication-kubeconfig={file}",
        f"--authorization-kubeconfig={file}",
        "--authentication-skip-lookup",
        f"--client-ca-file={pki.pair(certificates(folder), 'authority').certificate}",
    )
    return Component(name=SCHEDULER, flags=flags, ready=f"https://127.0.0.1:{port}/readyz")


def controller_manager(folder: Path, *, port: int) -> Component:
    """Return the controllers."""
    authority = pki.pair(certificates(folder), "authority")
    flags = (
        *_serving(folder, port),
        *_client(folder, CONTROLLER_MANAGER),
        # Made-up nodes have no kubelet that renews their Lease: it would evict their Pods.
        "--controllers=*,-node-lifecycle-controller",
        "--use-service-account-credentials",
        # Its start takes 100 requests and more: 5 s at the default rate of 20 a second.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        f"--service-account-private-key-file={pki.account_keys(certificates(folder)).key}",
        f"--root-ca-file={authority.certificate}",
        f"--cluster-signing-cert-file={authority.certificate}",
        f"--cluster-signing-key-file={authority.key}",
    )
    return Component(
        name=CONTROLLER_MANAGER, flags=flags, ready=f"https://127.0.0.1:{port}/healthz"
    )


def _serving(folder: Path, port: int) -> tuple[str, ...]:
    serving = pki.pair(certificates(folder), "serving")
    return (
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
    )


def _client(folder: Path, name: str) -> tuple[str, ...]:
    file = kubeconfig(folder, name)
    kinds = ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
    return (
        *(f"--{kind}={file}" for kind in kinds),
        # Else it looks in the API server for an authority of proxies, which nobody has here.
        "--authentication-skip-lookup",
        f"--client-ca-file={pki.pair(certificates(folder), 'authority').certificate}",
        "--leader-elect=false",
    )
