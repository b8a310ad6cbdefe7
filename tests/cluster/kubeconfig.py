"""Kubeconfigs: how a client of the control plane finds it and proves who it is."""

import base64
from collections.abc import Mapping
from pathlib import Path

import yaml

from tests.cluster.pki import Pair

_NAME = "berth"
NOBODY: Mapping[str, object] = {}


def write(file: Path, *, server: str, authority: Path, client: Pair) -> None:
    """Write a kubeconfig that needs no other file, as it holds the certificates themselves."""
    cluster = {"server": server, "certificate-authority-data": _encoded(authority)}
    user = {
        "client-certificate-data": _encoded(client.certificate),
        "client-key-data": _encoded(client.key),
    }
    file.touch(mode=0o600)
    file.write_text(text(cluster, user))


def with_token(server: str, authority: Path, token: str) -> str:
    """Return a kubeconfig of who has a token."""
    cluster = {"server": server, "certificate-authority": str(authority)}
    return text(cluster, {"token": token})


def text(cluster: Mapping[str, object], user: Mapping[str, object] = NOBODY) -> str:
    """Return a kubeconfig of one cluster and one user."""
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": _NAME, "cluster": {**cluster}}],
            "users": [{"name": _NAME, "user": {**user}}],
            "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME}}],
            "current-context": _NAME,
        }
    )


def _encoded(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()
