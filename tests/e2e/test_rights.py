"""The rights that `berth manifests` gives suffice for `--register`, and for nothing else."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests import webhook
from tests.cluster import kubeconfig
from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.e2e.api import Api

GROUP = "/apis/admissionregistration.k8s.io/v1"
CONFIGURATIONS = {
    "/mutate": f"{GROUP}/mutatingwebhookconfigurations/berth",
    "/validate": f"{GROUP}/validatingwebhookconfigurations/berth",
}


@pytest.fixture
def account(kubectl: Kubectl, control_plane: ControlPlane, tmp_path: Path) -> Path:
    """Give the kubeconfig of the printed ServiceAccount, bound as printed."""
    namespace = f"registration.namespace={kubectl.namespace}"
    printed = subprocess.run(
        [sys.executable, "-m", "berth", "manifests", "--set", namespace],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    wanted = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding")
    access = [one for one in yaml.safe_load_all(printed) if one["kind"] in wanted]
    kubectl("apply", "-f", "-", input=yaml.safe_dump_all(access))
    token = kubectl("create", "token", "berth-webhook").stdout.strip()
    file = tmp_path / "kubeconfig"
    file.write_text(kubeconfig.with_token(control_plane.url, control_plane.authority, token))
    return file


def test_the_account_registers_by_service_and_may_do_no_more(
    api: Api, kubectl: Kubectl, account: Path, tmp_path: Path
) -> None:
    """Server-side apply of both configurations works, by Service; other rights are not there."""
    namespace = f"registration.namespace={kubectl.namespace}"
    flags = ("--register", "--kubeconfig", str(account), "--set", namespace)
    try:
        with webhook.running(tmp_path, *flags) as running:
            deadline = time.monotonic() + 20
            # The last to be written; before, it stands there without entries.
            while "webhooks" not in api.ask("GET", CONFIGURATIONS["/validate"])[1]:
                assert time.monotonic() < deadline, running.log
            while b"watch" in running.ask(path="/readyz", method="GET").body:
                assert time.monotonic() < deadline, running.log
            assert not running.logged("watch.failed")
        for path, configuration in CONFIGURATIONS.items():
            found = api.ask("GET", configuration)[1]
            client = found["webhooks"][0]["clientConfig"]
            assert client["service"] == {
                "namespace": kubectl.namespace,
                "name": "berth-webhook",
                "path": path,
                "port": 443,
            }
            assert found["metadata"]["managedFields"][0]["manager"] == "berth"
        assert not running.logged("registration.failed")
    finally:
        for configuration in CONFIGURATIONS.values():
            api.ask("DELETE", configuration)
    as_account = ("--as", f"system:serviceaccount:{kubectl.namespace}:berth-webhook")
    for verb, what in (
        ("delete", "mutatingwebhookconfigurations/berth"),
        ("delete", "validatingwebhookconfigurations/berth"),
        ("patch", "mutatingwebhookconfigurations/others"),
        ("patch", "validatingwebhookconfigurations/others"),
        ("create", "pods"),
        ("get", "secrets"),
        ("list", "namespaces"),
    ):
        assert kubectl("auth", "can-i", verb, what, *as_account, check=False).stdout == "no\n"
