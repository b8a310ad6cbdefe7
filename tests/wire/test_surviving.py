"""What must not end the server or cost a Pod: a full disk, a read-only root, a sick API server."""

import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from berth import clock
from berth.certs import authority
from tests import pods, webhook
from tests.cluster import kubeconfig
from tests.wire import raw

GPU = pods.gpu_pod({"nvidia.com/gpu": "1"})


def test_a_log_that_cannot_be_written_costs_no_pod(tmp_path: Path) -> None:
    """With its log on a full disk, the webhook answers as ever."""
    code = (
        "import sys; sys.stdout = sys.stderr; sys.stderr = open('/dev/full', 'w')\n"
        "from berth.observe import logs\n"
        "log = logs.start('info', 'json')\n"
        "log.event('admission.reviewed', {'uid': 'x'})\n"
        "import logging; logging.warning('a.warning')\n"
        "sys.stdout.write('still here')\n"
        "sys.stdout.flush()\n"
        "import os; os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "still here"
    assert tmp_path.is_dir()


def test_given_certificates_need_no_folder_to_write_in(tmp_path: Path) -> None:
    """The Deployment's root is read-only, and there is no /tmp."""
    pair = authority.issue(("127.0.0.1",), clock.now())
    (tmp_path / "c").write_bytes(pair.certificate)
    (tmp_path / "k").write_bytes(pair.key)
    files = ["--cert-file", str(tmp_path / "c"), "--key-file", str(tmp_path / "k")]
    at_once = ["--set", "server.stopSeconds=0", "--set", "metrics.port=0"]
    arguments = ["webhook", "--host", "127.0.0.1", "--port", "0", *files, *at_once]
    code = (
        "import tempfile; tempfile.tempdir = '/nowhere'\n"
        "from berth.cli.main import main\n"
        f"main({[*arguments, '--set', 'log.flushSeconds=0']!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert any('"webhook.listening"' in line for line in process.stderr)
    finally:
        process.terminate()
        process.wait(10)
        if process.stderr is not None:
            process.stderr.close()


class _Html(http.server.BaseHTTPRequestHandler):
    """What a captive portal answers to everything."""

    def do_PATCH(self) -> None:
        """Answer 200 with a page."""
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"<html>")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  http.server's name
        """Say nothing."""


@pytest.fixture
def portal() -> Iterator[str]:
    """Give the address of a server that is no API server."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Html)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("listening", [True, False])
def test_a_sick_api_server_does_not_end_the_webhook(
    tmp_path: Path, portal: str, *, listening: bool
) -> None:
    """Registration is tried again and again, and Pods are admitted meanwhile."""
    address = portal if listening else "http://127.0.0.1:1"
    (tmp_path / "kubeconfig").write_text(kubeconfig.text({"server": address}))
    flags = ("--register", "--kubeconfig", str(tmp_path / "kubeconfig"))
    with webhook.running(tmp_path, *flags, "--set", "registration.refreshSeconds=0.1") as running:
        assert raw.eventually(lambda: len(running.logged("registration.failed")) > 2)
        assert running.ask(webhook.review(GPU)).patch
        assert not running.logged("registration.fault")


BROKEN = {
    "not YAML": "clusters: [",
    "text": "hello",
    "no clusters": "current-context: x",
    "no context": "{clusters: [], users: [], contexts: [], current-context: x}",
    "bad data": kubeconfig.text(
        {"server": "x", "certificate-authority-data": "%"}, {"client-certificate": "/nowhere"}
    ),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_kubeconfig_is_a_sentence(tmp_path: Path, text: str) -> None:
    """Whatever is wrong with it, no traceback."""
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    command = [sys.executable, "-m", "berth", "unregister", "--kubeconfig", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("berth: ")
    assert "Traceback" not in done.stderr
