"""What an operator sees of each decision: metrics, log lines, audit annotations."""

import http.client
import json
from pathlib import Path

import jsonpatch
import pytest

from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from berth.observe.serve import serving
from berth.settings import Metrics as Wanted
from tests import pods
from tests.webhook import JSON, Webhook, review, running
from tests.wire import raw

GPU = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8000"}
SECRET = "planted-secret"


def test_each_decision_is_counted(tmp_path: Path) -> None:
    """By operation, resource and result; refusals by code, patches by dialect; times as well."""
    with running(tmp_path) as process:
        assert process.ask(review(pods.gpu_pod(GPU))).patch
        process.ask(review(pods.gpu_pod({"nvidia.com/gpu": "-1"})))
        process.ask(review(pods.pod()))
        process.ask(review(pods.gpu_pod(GPU), operation="UPDATE"))
        process.ask(review(pods.pod(), operation="<made up>", resource={"resource": "x"}))
        process.ask("no review")

        def requests(operation: str, result: str, resource: str = "pods") -> float:
            labels = {"operation": operation, "resource": resource, "result": result}
            return process.figure("hami_webhook_requests_total", **labels)

        assert requests("CREATE", "patched") == 1
        assert requests("CREATE", "refused") == 1
        assert requests("CREATE", "unchanged") == 1
        assert requests("UPDATE", "ignored") == 1
        assert requests("other", "ignored", "other") == 1
        assert requests("", "unreadable") == 1
        assert process.figure("berth_refusals_total", code="negative") == 1
        assert process.figure("berth_patches_total", dialect="hami") == 1
        assert process.figure("hami_webhook_request_duration_seconds_count") == 5
        assert process.figure("hami_webhook_request_duration_seconds_bucket", le="0.0001") <= 5
        assert process.figure("berth_configuration_generation") == 1
        assert process.figure("berth_ready") == 1
        assert process.figure("berth_build_info") == 1
        with raw.opened(process):
            assert raw.eventually(lambda: process.figure("hami_webhook_active_connections") == 1)
        assert raw.eventually(lambda: process.figure("hami_webhook_active_connections") == 0)


def test_a_log_line_says_all_of_a_decision(webhook: Webhook) -> None:
    """Who asked for what, what was decided and why, and the patch."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1"}
    metadata = {"generateName": "train-", "ownerReferences": [owner]}
    asked = _review("line-1", pods.gpu_pod(GPU) | {"metadata": metadata}, dryRun=True)
    patch = webhook.ask(asked).patch
    line = raw.logged(webhook, "line-1")
    assert (
        line.items()
        >= {
            "level": "info",
            "event": "admission.reviewed",
            "namespace": "default",
            "pod": "train-*",
            "owner": "Job/train",
            "operation": "CREATE",
            "dry_run": True,
            "decision": "patched",
            "codes": [],
            "generation": 1,
        }.items()
    )
    assert line["asked"] == [
        {"container": "main", "vendor": "nvidia", "count": 1, "memory_mib": 8000}
    ]
    assert line["patch"] == patch
    assert line["reasons"]
    assert line["ms"] > 0
    assert line["time"] > 1.7e9


def test_w20_a_trace_of_the_callers_goes_on(webhook: Webhook) -> None:
    """The line is a span in it, below the caller's: an identity of its own and a duration."""
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    for uid, header in (("span-1", f"00-{trace}-{parent}-01"), ("span-2", "00-nonsense")):
        headers = {**JSON, "traceparent": header}
        assert webhook.ask(_review(uid, pods.gpu_pod(GPU)), headers=headers).patch
    line = raw.logged(webhook, "span-1")
    assert (line["trace"], line["parent"]) == (trace, parent)
    assert len(line["span"]) == 16
    assert line["span"] != parent
    assert "trace" not in raw.logged(webhook, "span-2")


def test_a_refusal_is_logged_by_its_code(webhook: Webhook) -> None:
    """The code is what alerts and searches use, the sentence is what the user saw."""
    answer = webhook.ask(_review("line-2", pods.gpu_pod({"nvidia.com/gpu": "-1"})))
    line = raw.logged(webhook, "line-2")
    assert (line["decision"], line["codes"]) == ("refused", ["negative"])
    assert line["reasons"] == [answer.response["status"]["message"]]


def test_i11_the_audit_log_hears_of_it(webhook: Webhook) -> None:
    """Decision, reasons and generation, under short keys, which get the webhook's name before."""
    response = webhook.ask(_review("audit", pods.gpu_pod(GPU))).response
    audit = response["auditAnnotations"]
    assert (audit["decision"], audit["generation"]) == ("patched", "1")
    assert "schedulerName" in audit["reasons"]
    assert all(len(key) <= 63 and isinstance(value, str) for key, value in audit.items())


def test_i11_a_second_pass_does_not_gainsay_the_first(webhook: Webhook) -> None:
    """The API server keeps the first value of a key, and complains of another."""
    pod = pods.gpu_pod(GPU)
    patched = _patched(webhook, pod)
    assert "auditAnnotations" not in webhook.ask(_review("again", patched)).response


@pytest.mark.parametrize("level", ["info", "debug"])
def test_l15_no_line_holds_the_value_of_a_variable(tmp_path: Path, level: str) -> None:
    """Nor a token in an annotation, nor a whole Pod; a variable that we replace says no value."""
    env = [
        {"name": "TOKEN", "value": SECRET},
        {"name": "CUDA_TASK_PRIORITY", "value": SECRET},
        {"name": "LD_PRELOAD", "value": SECRET},
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": SECRET},
        {"name": "GPU_CORE_UTILIZATION_POLICY", "value": SECRET},
    ]
    settings = tmp_path / "settings.yaml"
    settings.write_text(
        "injections: [{name: a, env: [{name: LD_PRELOAD, value: /lib/a.so, joinedBy: ':'}]}]"
    )
    pod = pods.pod(pods.container("main", {**GPU, "nvidia.com/priority": "1"}, env=env))
    pod["metadata"]["annotations"] = {"token": SECRET}
    folder = tmp_path / "webhook"
    folder.mkdir()
    flags = ("--config", str(settings), "--set", f"log.level={level}")
    with running(folder, *flags) as process:
        answers = [
            process.ask(_review("one", pod)),
            process.ask(_review("two", pod), path="/inject/a"),
            process.ask(_review("three", pod, userInfo={"extra": {"token": [SECRET]}})),
        ]
        assert SECRET in json.dumps(answers[1].patch), "the value is part of what is put"
        assert raw.logged(process, "three")
        if level == "debug":
            assert any(line["event"] == "admission.step" for line in process.log)
    assert SECRET not in json.dumps(process.log)


def test_debug_shows_each_step(tmp_path: Path) -> None:
    """What was asked for, each change with its reason, and the outcome, in their order."""
    with running(tmp_path, "--set", "log.level=debug") as process:
        process.ask(_review("steps", pods.gpu_pod(GPU)))
        raw.logged(process, "steps")
        assert raw.eventually(lambda: bool(_steps(process)) and "decision" in _steps(process)[-1])
        steps = _steps(process)
    assert steps[0].startswith("asked: ")
    assert any("schedulerName" in step for step in steps)
    assert steps[-1].startswith("decision: patched, ")


@pytest.mark.parametrize(
    ("host", "called"), [("::1", "::1"), ("::", "::1"), ("", "::1"), ("", "127.0.0.1")]
)
def test_the_operators_port_listens_on_ipv6(host: str, called: str) -> None:
    """As the webhook's own does: a cluster may have no other addresses."""
    with serving(Wanted(host=host, port=0), Metrics(), Readiness(), {}) as port:
        connection = http.client.HTTPConnection(called, port, timeout=30)
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok"
        connection.close()


def test_names_that_dashboards_are_built_on() -> None:
    """They stay as they are."""
    found = {family.name for family in Metrics().registry.collect()}
    assert {
        "hami_webhook_requests",
        "hami_webhook_request_duration_seconds",
        "hami_webhook_active_connections",
    } <= found


def _steps(webhook: Webhook) -> list[str]:
    return [line["what"] for line in webhook.logged("admission.step")]


def _review(uid: str, pod: pods.Pod, **request: object) -> dict[str, object]:
    return review(pod, uid=uid, **request)


def _patched(webhook: Webhook, pod: pods.Pod) -> pods.Pod:
    result: pods.Pod = jsonpatch.apply_patch(pod, webhook.ask(review(pod)).patch)
    return result
