"""The real webhook, registered at the real API server by itself."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import pods, webhook
from tests.cluster import ports
from tests.cluster.controlplane import ControlPlane
from tests.cluster.namespaces import own
from tests.e2e.api import Api

Register = Callable[..., AbstractContextManager[webhook.Webhook]]


@pytest.fixture(scope="session")
def api(control_plane: ControlPlane) -> Iterator[Api]:
    """Give a client of the API server."""
    client = Api(control_plane)
    yield client
    client.connection.close()


@pytest.fixture(scope="session")
def register(
    control_plane: ControlPlane, api: Api, tmp_path_factory: pytest.TempPathFactory
) -> Register:
    """Give a function that runs a registered webhook and takes it out again."""

    @contextmanager
    def run(
        *arguments: str,
        own_ca: bool = False,
        through: Api = api,
        scheduler: str = "default-scheduler",
    ) -> Iterator[webhook.Webhook]:
        folder = tmp_path_factory.mktemp("webhook")
        (port,) = ports.free(1)
        known = ("--kubeconfig", str(control_plane.kubeconfig))
        url = f"https://127.0.0.1:{port}"
        flags = ("--register", *known, "--url", url, "--port", str(port), *arguments)
        try:
            with webhook.running(folder, *flags, own_ca=own_ca) as running:
                _await_registration(through, running, scheduler)
                yield running
        finally:  # and not before it has ended: it puts right what it finds gone
            command = [sys.executable, "-m", "berth", "unregister", *known]
            subprocess.run(command, check=True, capture_output=True)

    return run


@pytest.fixture(scope="module")
def registered(register: Register) -> Iterator[webhook.Webhook]:
    """Give a webhook with the settings as shipped, registered while a module's tests run."""
    with register() as running:
        yield running


@pytest.fixture(scope="module")
def space(control_plane: ControlPlane) -> Iterator[str]:
    """Give a namespace that the webhook serves."""
    with own(control_plane) as name:
        yield name


@pytest.fixture(scope="module")
def space_without_us(control_plane: ControlPlane, api: Api) -> Iterator[str]:
    """Give a namespace that has opted out, to compare with."""
    with own(control_plane) as name:
        label(api, name, {"hami.io/webhook": "ignore"})
        yield name


def label(api: Api, namespace: str, labels: dict[str, str]) -> None:
    """Put labels on a namespace."""
    patch = {"metadata": {"labels": labels}}
    path = f"/api/v1/namespaces/{namespace}"
    status, answer = api.ask("PATCH", path, patch, "application/merge-patch+json")
    assert status == 200, answer


def _await_registration(api: Api, running: webhook.Webhook, scheduler: str) -> None:
    """Wait until the API server, which learns of configurations by a watch, calls the webhook.

    `scheduler` is one whose Pods are sent to it.
    """
    probe = pods.gpu_pod({"nvidia.com/gpu": "1"}, schedulerName=scheduler)
    del probe["metadata"]["namespace"]
    with own(api.plane) as namespace:
        deadline = time.monotonic() + 30
        while True:
            status, answer = api.create(probe, namespace, dry_run=True)
            asked = {line["path"] for line in running.logged("admission.reviewed")}
            if status == 201 and asked >= {"/mutate", "/validate"}:
                return
            assert time.monotonic() < deadline, (status, answer, running.log)
            time.sleep(0.05)


def explained(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code of `berth explain -o json` and what it printed."""
    command = [sys.executable, "-m", "berth", "explain", "-o", "json", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


def files(folder: Path) -> list[Path]:
    """Return the manifests in a folder, in order."""
    return sorted(folder.rglob("*.yaml"))
