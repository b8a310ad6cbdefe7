"""SIGTERM: what is under way is answered, and then the process ends."""

import json
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

from tests import pods, webhook
from tests.cluster import kubeconfig
from tests.wire import raw


def _half_sent(running: webhook.Webhook) -> tuple[ssl.SSLSocket, bytes]:
    """Open a connection, send the head and half of a body; return it with the other half."""
    body = json.dumps(webhook.review(pods.gpu_pod({"nvidia.com/gpu": "1"}))).encode()
    head = (
        "POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection = running.tls().wrap_socket(raw.dial(running), server_hostname="127.0.0.1")
    connection.sendall(head.encode() + body[:100])
    return connection, body[100:]


def test_a_request_under_way_is_answered_after_sigterm(tmp_path: Path) -> None:
    """Its answer asks the caller to go elsewhere next time; new callers are served meanwhile."""
    with webhook.running(tmp_path, "--set", "server.stopSeconds=1") as running:
        connection, rest = _half_sent(running)
        with connection:
            assert running.ask(path="/healthz", method="GET").status == 200
            running.process.send_signal(signal.SIGTERM)
            assert raw.eventually(lambda: bool(running.logged("webhook.draining")))
            assert running.logged("webhook.draining")[0]["in_flight"] == 1
            assert running.ask(path="/readyz", method="GET").status == 503
            connection.sendall(rest)
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"connection: close" in answer.lower()
        assert running.process.wait(10) == 0


def test_l1_what_goes_on_beside_the_answers_does_not_shorten_the_stop(tmp_path: Path) -> None:
    """Its upkeep, the watch of its settings here, ends at once; it serves on for stopSeconds."""
    settings = tmp_path / "settings.yaml"
    settings.write_text("{}")
    flags = ("--config", str(settings), "--set", "server.stopSeconds=1.5")
    with webhook.running(tmp_path, *flags) as running:
        began = time.monotonic()
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(20) == 0
        assert time.monotonic() - began >= 1.5


def test_a_request_that_never_ends_does_not_keep_the_process(tmp_path: Path) -> None:
    """After server.drainSeconds the process ends, whoever is still sending."""
    with webhook.running(tmp_path, "--set", "server.drainSeconds=0.2") as running:
        connection, _ = _half_sent(running)
        with connection:
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(10) == 0


def test_l2_a_second_sigterm_ends_it_at_once(tmp_path: Path) -> None:
    """Whatever is under way; the drain would last 20 seconds."""
    with webhook.running(tmp_path) as running:
        connection, _ = _half_sent(running)
        with connection:
            running.process.send_signal(signal.SIGTERM)
            assert raw.eventually(lambda: bool(running.logged("webhook.draining")))
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(10) == 0


def test_w14_more_requests_than_the_limit_are_asked_to_come_again(tmp_path: Path) -> None:
    """503 with Retry-After: 1 and green probes; with room again, the next is answered."""
    asked = webhook.review(pods.gpu_pod({"nvidia.com/gpu": "1"}))
    with webhook.running(tmp_path, "--set", "server.mostInFlight=2") as running:
        (first, rest), (second, _) = _half_sent(running), _half_sent(running)
        with first, second:
            assert raw.eventually(lambda: running.ask(asked).status == 503)
            refused = running.ask(asked)
            assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
            for probe in ("/healthz", "/readyz"):
                assert running.ask(path=probe, method="GET").status == 200
            assert running.figure("berth_requests_in_flight") == 2
            turned_away = running.figure("hami_webhook_requests_total", result="overload")
            assert turned_away == running.figure(
                "berth_requests_rejected_total", reason="in_flight"
            )
            assert turned_away >= 2
            first.sendall(rest)
            assert first.recv(65536).startswith(b"HTTP/1.1 200")
            assert running.ask(asked).status == 200


def test_w16_a_body_that_does_not_come_frees_its_place(tmp_path: Path) -> None:
    """408 and the connection closed, after server.bodySeconds."""
    with webhook.running(tmp_path, "--set", "server.bodySeconds=0.2") as running:
        connection, _ = _half_sent(running)
        with connection:
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
        assert answer.startswith(b"HTTP/1.1 408")
        running.process.send_signal(signal.SIGTERM)
        assert raw.eventually(lambda: bool(running.logged("webhook.draining")))
        assert running.logged("webhook.draining")[0]["in_flight"] == 0


def test_who_is_asked_to_end_before_its_first_caller_ends_at_once(tmp_path: Path) -> None:
    """It waits for an API server that says nothing, and then neither for that nor for callers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        cluster = {"server": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        (tmp_path / "kubeconfig").write_text(kubeconfig.text(cluster))
        flags = ["--register", "--kubeconfig", str(tmp_path / "kubeconfig"), "--port", "0"]
        long = ["--set", "metrics.port=0", "--set", "server.stopSeconds=600"]
        process = subprocess.Popen(
            [sys.executable, "-m", "berth", "webhook", "--host", "127.0.0.1", *flags, *long],
            stderr=subprocess.DEVNULL,
        )
        try:
            silent.settimeout(60)
            asked, _ = silent.accept()
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
            asked.close()
        finally:
            process.kill()
            process.wait()
