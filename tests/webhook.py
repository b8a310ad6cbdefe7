"""The real `berth webhook` as a process of its own on loopback, for tests."""

import http.client
import json
import signal
import ssl
import subprocess
import sys
import threading
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from berth import clock
from berth.certs import authority

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def response(self) -> dict[str, Any]:
        """The `response` of the AdmissionReview."""
        review = json.loads(self.body)
        assert review["kind"] == "AdmissionReview"
        found: dict[str, Any] = review["response"]
        return found

    @property
    def patch(self) -> list[dict[str, Any]]:
        """The JSON Patch, empty where there is none; both or neither of patch and patchType."""
        response = self.response
        assert ("patch" in response) == ("patchType" in response)
        return json.loads(b64decode(response["patch"])) if "patch" in response else []


@dataclass
class Webhook:
    """A running webhook: where it listens, and what it logged."""

    process: subprocess.Popen[str]
    folder: Path
    port: int = 0
    metrics: int = 0
    """The operator's port."""
    log: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ca_file(self) -> Path:
        """PEM bundle that vouches for it."""
        return self.folder / "ca.crt"

    def tls(self) -> ssl.SSLContext:
        """Return a client context that trusts it alone."""
        return ssl.create_default_context(cafile=str(self.ca_file))

    def connect(self) -> http.client.HTTPSConnection:
        """Return a new connection, kept alive until closed."""
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.tls(), timeout=30)

    def ask(
        self,
        body: bytes | str | dict[str, Any] = b"",
        path: str = "/mutate",
        method: str = "POST",
        headers: Mapping[str, str] = JSON,
    ) -> Answer:
        """Send one request over a connection of its own."""
        connection = self.connect()
        try:
            data = json.dumps(body) if isinstance(body, dict) else body
            connection.request(method, path, body=data, headers=dict(headers))
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def operator(self, path: str) -> Answer:
        """Ask the operator's port."""
        connection = http.client.HTTPConnection("127.0.0.1", self.metrics, timeout=30)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def figure(self, name: str, **labels: str) -> float:
        """Return a metric as a scrape shows it now; 0 where that label was never counted."""
        scraped = self.operator("/metrics").body.decode()
        for family in text_string_to_metric_families(scraped):
            for sample in family.samples:
                if sample.name == name and labels.items() <= sample.labels.items():
                    return float(sample.value)
        return 0.0

    @property
    def reviews(self) -> float:
        """How many reviews it has decided."""
        return self.figure("hami_webhook_request_duration_seconds_count")

    def logged(self, event: str) -> list[dict[str, Any]]:
        """Return the log lines of an event, so far."""
        return [line for line in self.log if line["event"] == event]


@contextmanager
def running(
    folder: Path, *arguments: str, own_ca: bool = False, berth: Sequence[str] = ("-m", "berth")
) -> Iterator[Webhook]:
    """Start `berth webhook` with its certificate in `folder`; stop it at the end.

    With `own_ca`, it makes its certificate itself, and only the API server is told of its CA.
    `berth` is what Python is given to run.
    """
    pair = authority.issue(("127.0.0.1", "localhost"), clock.now())
    (folder / "tls.crt").write_bytes(pair.certificate)
    (folder / "tls.key").write_bytes(pair.key)
    (folder / "ca.crt").write_bytes(pair.authority)
    given = [
        *("--cert-file", str(folder / "tls.crt"), "--key-file", str(folder / "tls.key")),
        *("--set", f"server.caFile={folder / 'ca.crt'}"),
    ]
    command = [
        *(sys.executable, *berth, "webhook", "--host", "127.0.0.1", "--port", "0"),
        *("--set", "log.format=json", "--set", "log.flushSeconds=0"),
        *("--set", "metrics.port=0", "--set", "server.stopSeconds=0"),
        *([] if own_ca else given),
        *arguments,
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    webhook = Webhook(process, folder)
    listening = threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("{"):
                webhook.log.append(json.loads(line))
                if webhook.log[-1]["event"] == "webhook.listening":
                    webhook.port = webhook.log[-1]["port"]
                    webhook.metrics = webhook.log[-1].get("metrics", 0)
                    listening.set()
            else:
                webhook.log.append({"event": "stderr", "text": line})
        listening.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert listening.wait(30), "the webhook did not start within 30 s"
        assert webhook.port, f"the webhook stopped at its start: {webhook.log}"
        yield webhook
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)  # for which nobody is waited who may still come
        try:
            process.wait(30)
        finally:  # one that does not end would register itself again in the tests after this
            process.kill()
            reader.join(30)
            if process.stderr:
                process.stderr.close()


def review(pod: dict[str, Any] | None, **request: Any) -> dict[str, Any]:
    """Return an AdmissionReview as kube-apiserver sends it for the CREATE of `pod`."""
    return {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
            "requestResource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "default",
            "operation": "CREATE",
            "userInfo": {"username": "system:serviceaccount:kube-system:job-controller"},
            "object": pod,
            "oldObject": None,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        }
        | request,
    }
