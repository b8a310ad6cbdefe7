"""Namespaces of one control plane, one for each test."""

import contextlib
import json
import uuid
from collections.abc import Iterator

from tests.cluster import components, probe
from tests.cluster.controlplane import ControlPlane
from tests.cluster.errors import ClusterError

_ACCOUNT_SECONDS = 30  # 50 ms where nothing else goes on


@contextlib.contextmanager
def own(plane: ControlPlane) -> Iterator[str]:
    """Give a new namespace in which Pods can be made, and have it removed afterwards.

    The removal goes on for seconds after this returns. Raises ClusterError where the control
    plane refuses it or gives it no ServiceAccount.
    """
    name = f"test-{uuid.uuid4().hex[:12]}"
    path = f"/api/v1/namespaces/{name}"
    wanted = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    if plane.ask("POST", "/api/v1/namespaces", json.dumps(wanted)) is None:
        raise ClusterError(f"the control plane made no namespace {name}: see {plane.folder}")
    try:
        if plane.has(components.CONTROLLER_MANAGER):
            _await_account(plane, path)
        yield name
    finally:
        # No kubelet ends the Pods of made-up nodes: gracefully deleted, they would stay for ever.
        plane.ask("DELETE", f"{path}/pods?gracePeriodSeconds=0")
        plane.ask("DELETE", path)


def _await_account(plane: ControlPlane, path: str) -> None:
    account = f"{plane.url}{path}/serviceaccounts/default"
    trust = probe.trust(components.certificates(plane.folder))
    if not probe.answers_within(_ACCOUNT_SECONDS, account, context=trust, meanwhile=lambda: None):
        raise ClusterError(f"{path} has no ServiceAccount yet: see the logs in {plane.folder}")
