"""A real kube-apiserver shows Berth a client certificate, set up as the how-to has it."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import pods, webhook
from tests.certificates import Authority
from tests.cluster import controlplane, ports
from tests.cluster.controlplane import ControlPlane
from tests.e2e.api import Api
from tests.e2e.conftest import Register
from tests.wire import raw

PAGE = Path(__file__).parents[2] / "docs/how-to/restrict-callers.md"
FOLDER = "/etc/kubernetes/admission"
SERVICE = "berth-webhook.berth-system.svc"
NAME = "kube-apiserver"
MUTATING = 'failed calling webhook "gpu.berth.dev"'


def example(name: str) -> str:
    """Return the file that the page shows under this name."""
    (text,) = re.findall(
        rf"^```yaml\n# {re.escape(name)}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    return str(text)


def gpu_pod() -> dict[str, Any]:
    """Return a Pod that the webhook is asked about."""
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"})
    pod["metadata"] = {"generateName": "gpu-"}
    return pod


@dataclass(frozen=True)
class Known:
    """An API server with a certificate, and the flags of a webhook that knows it."""

    api: Api
    flags: tuple[str, ...]


@pytest.fixture(scope="module")
def known(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    """Give an API server with the page's files, but for their folder and the webhook's address."""
    folder = tmp_path_factory.mktemp("admission")
    authority = Authority(folder, "ca")
    issued = authority.issue(NAME)
    (port,) = ports.free(1)
    for name in ("admission.yaml", "webhooks.kubeconfig"):
        text = example(name).replace(FOLDER, str(folder)).replace(SERVICE, f"127.0.0.1:{port}")
        text = text.replace("client.crt", issued.certificate.name)
        (folder / name).write_text(text.replace("client.key", issued.key.name))
    settings = yaml.safe_load(example("settings.yaml"))
    settings["callers"]["clientCaFile"] = str(authority.file)
    settings["callers"]["userAgents"] = ["kube-apiserver-admission"]
    (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
    flag = f"--admission-control-config-file={folder / 'admission.yaml'}"
    with controlplane.another(control_plane, folder, flag) as plane:
        api = Api(plane)
        address = ("--port", str(port), "--url", f"https://127.0.0.1:{port}")
        yield Known(api, ("--config", str(folder / "settings.yaml"), *address))
        api.connection.close()


def test_the_api_server_with_the_certificate_creates_pods_and_the_other_does_not(
    api: Api, known: Known, register: Register, space: str
) -> None:
    """Both serve the same cluster; one alone has a name that Berth knows."""
    with register(*known.flags, through=known.api) as running:
        pod = known.api.stored(gpu_pod(), space)
        assert pod["spec"]["schedulerName"] == "hami-scheduler"
        assert not running.logged("caller.refused")
        answer = refused(api, space)
        assert "no client certificate was shown in this handshake (callers.clientCaFile)" in answer
        assert raw.eventually(lambda: bool(running.logged("caller.refused")))
        assert running.logged("caller.refused")[0]["agent"] == "kube-apiserver-admission"
        assert known.api.create(gpu_pod(), space, dry_run=True)[0] == 201


def refused(api: Api, namespace: str) -> str:
    """Return what is said about a refused Pod, once this server knows the registration too."""
    deadline = time.monotonic() + 20
    while True:
        status, answer = api.create(gpu_pod(), namespace, dry_run=True)
        # It may hear of the validating webhook, which comes later in the chain, first.
        if status != 201 and MUTATING in answer["message"]:
            return str(answer["message"])
        assert time.monotonic() < deadline, answer


def test_a_certificate_of_another_authority_is_refused_in_the_handshake(
    known: Known, control_plane: ControlPlane, space: str, tmp_path: Path
) -> None:
    """The API server says that the connection ended; Berth has had no request to count."""
    foreign = f"callers.clientCaFile={Authority(tmp_path, 'foreign').file}"
    kubeconfig = ("--kubeconfig", str(control_plane.kubeconfig))
    try:
        flags = (*known.flags, "--register", *kubeconfig, "--set", foreign)
        with webhook.running(tmp_path, *flags) as running:
            said = refused(known.api, space)
            # Then EOF, or, about one time in twenty, a reset: our end closes with bytes unread.
            assert f'failed to call webhook: Post "https://127.0.0.1:{running.port}' in said
            assert "callers." not in said
            assert not running.logged("caller.refused")
            # The probes may ask; it is ready once the validating half is written too.
            deadline = time.monotonic() + 20
            while running.ask(path="/readyz", method="GET").status != 200:
                assert time.monotonic() < deadline, running.log
    finally:
        command = [sys.executable, "-m", "berth", "unregister", *kubeconfig]
        subprocess.run(command, check=True, capture_output=True)
