"""The configuration changes while the process runs: whole or not at all."""

import json
import signal
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import jsonpatch
import pytest

from tests import pods, webhook
from tests.webhook import Webhook
from tests.wire import raw

QUICK = ("--set", "reload.everySeconds=0.5")
GPU = webhook.review(pods.gpu_pod({"nvidia.com/gpu": "1"}))
PRIVILEGED = webhook.review(
    pods.pod(
        pods.container("all", securityContext={"privileged": True}),
        pods.container("main", {"nvidia.com/gpu": "1"}),
    )
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Give a settings file and a device-config, as shipped."""
    settings, devices = tmp_path / "settings.yaml", tmp_path / "device-config.yaml"
    settings.write_text("scheduler: {name: first}")
    devices.write_text("nvidia: {resourceCountName: nvidia.com/gpu}")
    return settings, devices


@pytest.fixture
def running(files: tuple[Path, Path], tmp_path: Path) -> Iterator[Webhook]:
    """Give a webhook with both files."""
    given = ("--config", str(files[0]), "--device-config", str(files[1]), *QUICK)
    with webhook.running(tmp_path, *given) as process:
        yield process


def _scheduler(running: Webhook) -> str:
    (operation,) = (op for op in running.ask(GPU).patch if op["path"] == "/spec/schedulerName")
    return str(operation["value"])


def _allows(running: Webhook, allowed: bool) -> bool:  # noqa: FBT001  a predicate's argument
    return running.ask(PRIVILEGED).response["allowed"] is allowed


def test_a_changed_file_is_taken(running: Webhook, files: tuple[Path, Path]) -> None:
    """Without a restart, by the events of its folder or soon after."""
    assert _scheduler(running) == "first"
    files[0].write_text("scheduler: {name: second}")
    assert raw.eventually(lambda: _scheduler(running) == "second")
    assert running.figure("berth_configuration_generation") == 2
    assert running.figure("berth_configuration_reloads_total", result="ok") == 1


def test_the_language_is_taken_too_and_the_log_keeps_its_own(
    running: Webhook, files: tuple[Path, Path]
) -> None:
    """Who creates a Pod reads Chinese from then on; logs and their codes stay as they are."""
    asked = pods.gpu_pod({"nvidia.com/gpu": "-1"})
    where = "spec.containers[0].resources.limits[nvidia.com/gpu]"
    in_english = f"{where}: -1 is negative; write a number from 0 to 1024"
    in_chinese = f"{where}：-1 是负数；请写 0 到 1024 之间的数"

    def message() -> object:
        return running.ask(webhook.review(asked, uid="said")).response["status"]["message"]

    assert message() == in_english
    files[0].write_text("language: zh")
    assert raw.eventually(lambda: message() == in_chinese)
    last = running.ask(webhook.review(asked, uid="last")).response
    assert last["status"]["details"]["causes"][0]["message"] == "-1 是负数；请写 0 到 1024 之间的数"
    assert last["auditAnnotations"]["reasons"] == in_english
    line = raw.logged(running, "last")
    assert (line["codes"], line["said"], line["reasons"]) == (
        ["negative"],
        ["negative"],
        [in_english],
    )


def test_sighup_takes_it_too(running: Webhook, files: tuple[Path, Path]) -> None:
    """For where no event comes; the same files again are no new generation."""
    running.process.send_signal(signal.SIGHUP)
    files[1].write_text("nvidia: {resourceCountName: example.com/card}")
    running.process.send_signal(signal.SIGHUP)
    card = webhook.review(pods.gpu_pod({"example.com/card": "1"}))
    assert raw.eventually(lambda: bool(running.ask(card).patch))
    assert running.figure("berth_configuration_generation") == 2


def test_l10_a_bad_file_is_kept_out(running: Webhook, files: tuple[Path, Path]) -> None:
    """The old one goes on; log, metric and /readyz say so; the next good one is taken."""
    files[0].write_text("scheduler: {nam: second}")
    failed = {"name": "berth_configuration_reloads_total", "result": "failed"}
    assert raw.eventually(lambda: running.figure(**failed) >= 1)
    assert _scheduler(running) == "first"
    ready = running.ask(path="/readyz", method="GET")
    assert ready.status == 200
    assert b"generation 1 goes on" in ready.body
    assert b"scheduler.nam is not a setting; did you mean name?" in ready.body
    assert raw.eventually(lambda: bool(running.logged("configuration.refused")))
    files[0].write_text("scheduler: {name: second}")
    assert raw.eventually(lambda: _scheduler(running) == "second")
    assert running.ask(path="/readyz", method="GET").body == b"ok"


@pytest.mark.parametrize(
    ("which", "text"),
    [
        (0, "injections: [{name: a, volumes: [&a {name: b, hostPath: *a}]}]"),
        (1, "nvidia: &a {resourceCountName: *a}"),
    ],
    ids=["settings", "device-config"],
)
def test_l10_a_file_that_holds_itself_is_kept_out(
    running: Webhook, files: tuple[Path, Path], which: int, text: str
) -> None:
    """By an alias of YAML, which no walk through it would come to the end of."""
    files[which].write_text(text)
    failed = {"name": "berth_configuration_reloads_total", "result": "failed"}
    assert raw.eventually(lambda: running.figure(**failed) >= 1)
    assert _scheduler(running) == "first"
    assert b"nothing within itself" in running.ask(path="/readyz", method="GET").body


def test_the_end_keeps_to_the_settings_in_use(running: Webhook, files: tuple[Path, Path]) -> None:
    """Not to those of the start: a request under way is not waited for any more."""
    with raw.opened(running) as connection:
        connection.sendall(raw.request(b"{", length=100))
        assert raw.eventually(lambda: running.figure("berth_requests_in_flight") == 1)
        files[0].write_text("server: {drainSeconds: 0}")
        assert raw.eventually(lambda: running.figure("berth_configuration_generation") == 2)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(7) == 0, "and so before server.bodySeconds, 10"


def test_a_file_that_is_gone_for_a_moment_changes_nothing(
    running: Webhook, files: tuple[Path, Path]
) -> None:
    """As while an editor writes it."""
    files[1].unlink()
    failed = {"name": "berth_configuration_reloads_total", "result": "failed"}
    assert raw.eventually(lambda: running.figure(**failed) >= 1)
    assert running.ask(GPU).patch


def test_no_request_sees_half_of_each(running: Webhook, files: tuple[Path, Path]) -> None:
    """Two settings change together, under load: each answer shows both old or both new."""
    old = "scheduler: {name: first}\npolicy: {privileged: deny}"
    new = "scheduler: {name: second}\npolicy: {privileged: skip}"
    files[0].write_text(old)
    assert raw.eventually(lambda: not running.ask(PRIVILEGED).response["allowed"])
    wrong: list[str] = []
    stop = threading.Event()

    def ask() -> None:
        connection = running.connect()
        while not stop.is_set():
            connection.request("POST", "/mutate", json.dumps(PRIVILEGED), webhook.JSON)
            answer = webhook.Answer(200, {}, connection.getresponse().read())
            names = [op["value"] for op in answer.patch if op["path"] == "/spec/schedulerName"]
            if names not in ([], ["second"]) or answer.response["allowed"] != bool(names):
                wrong.append(str(answer.response))
        connection.close()

    asking = threading.Thread(target=ask)
    asking.start()
    for text in (new, old) * 5:
        files[0].write_text(text)
        assert raw.eventually(partial(_allows, running, text == new))
    stop.set()
    asking.join()
    assert not wrong


def test_i10_a_new_configuration_between_two_calls(
    running: Webhook, files: tuple[Path, Path]
) -> None:
    """Both calls are answered, and the second adds only what the new one wants besides."""
    asked = pods.gpu_pod({"nvidia.com/gpu": "1"})
    first = running.ask(webhook.review(asked))
    patched: pods.Pod = jsonpatch.apply_patch(asked, first.patch)
    assert first.response["auditAnnotations"]["generation"] == "1"
    files[1].write_text("nvidia: {runtimeClassName: nvidia}")
    assert raw.eventually(lambda: running.figure("berth_configuration_generation") == 2)
    second = running.ask(webhook.review(patched))
    assert {op["path"].rpartition("/")[2] for op in second.patch} >= {"runtimeClassName"}
    assert second.response["auditAnnotations"]["generation"] == "2"


def test_what_only_a_new_process_takes_is_said(running: Webhook, files: tuple[Path, Path]) -> None:
    """The port stays, the rest is taken; /readyz names what waits."""
    files[0].write_text("scheduler: {name: second}\nserver: {idleSeconds: 60}")
    assert raw.eventually(lambda: _scheduler(running) == "second")
    ready = running.ask(path="/readyz", method="GET")
    assert b"restart: a new process is needed for server.idleSeconds" in ready.body


def test_the_operator_sees_what_is_in_use(running: Webhook, files: tuple[Path, Path]) -> None:
    """/debug/config has the generation, the settings and the vendors, and no secret."""
    files[0].write_text(
        "scheduler: {name: second}\n"
        "injections: [{name: a, env: [{name: TOKEN, value: planted-secret}]}]"
    )
    assert raw.eventually(lambda: _scheduler(running) == "second")
    shown = running.operator("/debug/config")
    assert b"planted-secret" not in shown.body
    configuration = json.loads(shown.body)
    assert configuration["generation"] == 2
    assert configuration["settings"]["scheduler"]["name"] == "second"
    assert configuration["settings"]["injections"][0]["env"][0]["name"] == "TOKEN"
    assert configuration["vendors"][0]["count"] == "nvidia.com/gpu"
