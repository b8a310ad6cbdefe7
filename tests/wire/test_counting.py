"""Quotas while the API server cannot be read: who waits, who passes, and what an operator sees."""

import math
import subprocess
import sys
from pathlib import Path

import pytest

from tests import webhook
from tests.cluster import kubeconfig
from tests.pods import gpu_pod
from tests.wire import raw

GPU = gpu_pod({"nvidia.com/gpu": "1"})


@pytest.fixture
def nowhere(tmp_path: Path) -> tuple[str, ...]:
    """Give flags for a cluster whose API server does not answer."""
    file = tmp_path / "kubeconfig"
    file.write_text(kubeconfig.text({"server": "http://127.0.0.1:1"}))
    return "--kubeconfig", str(file)


def enforce(how: str) -> tuple[str, ...]:
    """Return the flags of the settings, for quotas and the fleet."""
    return "--set", f"quota.enforce={how}", "--set", f"placement.enforce={how}"


def test_before_the_first_lists_it_is_not_ready_and_pods_pass(
    tmp_path: Path, nowhere: tuple[str, ...]
) -> None:
    """A sick API server does not end the webhook; /readyz and the figures say what is missing."""
    with webhook.running(tmp_path, "--register", *nowhere) as running:
        assert raw.eventually(lambda: running.figure("berth_watch_errors_total") > 0)
        answer = running.ask(path="/readyz", method="GET")
        assert answer.status == 503
        for resource in ("pods", "resourcequotas"):
            line = f"not ready: watch {resource}: its first list could not be read: "
            assert line in answer.body.decode()
            assert running.figure("berth_watch_staleness_seconds", resource=resource) == math.inf
        assert running.figure("berth_ready") == 0
        assert running.ask(webhook.review(GPU)).patch


def test_where_pods_are_translated_the_cards_are_awaited(
    tmp_path: Path, nowhere: tuple[str, ...]
) -> None:
    """Percent of a card that nobody knows yet would be refused, for a second of each start."""
    config = tmp_path / "settings.yaml"
    config.write_text('{"conversions": [{"name": "volcano"}], "quota": {"enforce": "never"}}')
    with webhook.running(tmp_path, "--register", *nowhere, "--config", str(config)) as running:
        text = running.ask(path="/readyz", method="GET").body.decode()
        assert all(f"not ready: watch {one}: its first list" in text for one in ("pods", "nodes"))
        assert running.ask(webhook.review(GPU)).patch


def test_where_quotas_are_required_nothing_passes_before(
    tmp_path: Path, nowhere: tuple[str, ...]
) -> None:
    """503, so that failurePolicy decides; without --register too."""
    with webhook.running(tmp_path, *nowhere, *enforce("always")) as running:
        answer = running.ask(webhook.review(GPU))
        assert answer.status == 503
        assert answer.headers["Retry-After"] == "1"
        assert running.figure("berth_requests_rejected_total", reason="quota") == 1


@pytest.mark.parametrize("flags", [(), ("--register", *enforce("never"))], ids=["alone", "never"])
def test_where_quotas_are_not_ours_nothing_is_watched(
    tmp_path: Path, nowhere: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    """It is ready at once."""
    with webhook.running(tmp_path, *nowhere, *flags) as running:
        assert "watch" not in running.ask(path="/readyz", method="GET").body.decode()
        assert b"berth_watch_objects{" not in running.operator("/metrics").body
        assert running.ask(webhook.review(GPU)).patch


def test_quotas_without_a_cluster_are_a_sentence(tmp_path: Path) -> None:
    """Required, and no cluster is known: a mistake that is told at the start."""
    command = [sys.executable, "-m", "berth", "webhook", "--port", "0", *enforce("always")]
    missing = ("--kubeconfig", str(tmp_path / "missing"), "--set", "metrics.enabled=false")
    done = subprocess.run(
        [*command, *missing], capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == 2
    assert "berth: " in done.stderr
    assert "Traceback" not in done.stderr
