"""Vectors W13, W21 and W22: faults, warnings and refusals, where no wire is needed."""

import asyncio
import json
import logging
import unicodedata
from http import HTTPStatus

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import RawTestServer
from hypothesis import example, given, settings
from hypothesis import strategies as st

from berth.admission import mutate, wire
from berth.admission.claims import Claims
from berth.admission.journal import Journal
from berth.admission.live import Generation, Live
from berth.admission.load import Load
from berth.admission.recall import Answered
from berth.admission.serve import Handler
from berth.admission.standings import Standings
from berth.observe.logs import JsonFormatter, TextFormatter
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from berth.settings import EnvEntry, Injection, Settings
from tests import asked
from tests.pods import container, gpu_pod, pod
from tests.vectors import laws
from tests.webhook import review

GPU = {"nvidia.com/gpu": "1"}
SECRET = "planted-secret"
UNSENDABLE = "\ud800"  # half a character, which no JSON encoder of ours takes


def test_w13_a_fault_of_ours_is_http_500(caplog: pytest.LogCaptureFixture) -> None:
    """Counted; the stack goes to the log alone, and the next request is answered as ever."""
    faulty = Injection(name="faulty", env=(EnvEntry(name="A", value=UNSENDABLE),))
    answered: list[str] = []
    metrics = Metrics()
    rules = laws.rules(injections=(faulty,))
    handler = Handler(
        live=Live(Generation(number=1, settings=Settings(), rules=rules)),
        load=Load(),
        readiness=Readiness(missing={}),
        journal=Journal(metrics, lambda event, _: answered.append(event)),
    )

    async def ask() -> list[tuple[int, str]]:
        answers = []
        server = RawTestServer(handler)
        async with server, ClientSession(server.make_url("/")) as client:
            for path in ("/inject/faulty", "/mutate"):
                async with client.post(path, json=review(gpu_pod(GPU))) as response:
                    answers.append((response.status, await response.text()))
        return answers

    with caplog.at_level(logging.ERROR, "berth.admission"):
        (status, text), (next_status, _) = asyncio.run(ask())
    assert (status, next_status) == (HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.OK)
    assert text == "internal error; the webhook's log has the details"
    (record,) = caplog.records
    assert record.getMessage() == "admission.fault"
    assert record.exc_info
    assert answered == ["admission.reviewed"]
    known = {"operation": "", "resource": "pods", "result": "fault"}
    assert metrics.registry.get_sample_value("hami_webhook_requests_total", known) == 1


def test_an_answer_can_be_read_by_a_log_of_accesses(caplog: pytest.LogCaptureFixture) -> None:
    """Ours has none; who runs the handler in a server that keeps one finds status and length."""
    handler = Handler(
        live=Live(Generation(number=1, settings=Settings(), rules=laws.rules())),
        load=Load(),
        readiness=Readiness(missing={}),
        journal=Journal(Metrics(), lambda _event, _about: None),
    )

    async def length() -> int:
        server, about = RawTestServer(handler), review(gpu_pod(GPU))
        async with server, ClientSession(server.make_url("/")) as client:
            answered = await client.post("/mutate", json=about)
            return len(await answered.read())

    with caplog.at_level(logging.INFO, "aiohttp.access"):
        bytes_read = asyncio.run(length())
    (line,) = [one.getMessage() for one in caplog.records if one.name == "aiohttp.access"]
    assert f'"POST /mutate HTTP/1.1" 200 {bytes_read} ' in line


@pytest.mark.parametrize("known", [False, True], ids=["nothing known", "the cluster known"])
def test_a_device_is_decided_anew_where_the_cluster_is_known(*, known: bool) -> None:
    """The second and third of three Pods alike may find less room than the first."""
    metrics = Metrics()
    claims = Claims(10, lambda: 0.0)
    handler = Handler(
        live=Live(Generation(number=1, settings=Settings(), rules=laws.rules())),
        load=Load(),
        readiness=Readiness(missing={}),
        journal=Journal(metrics, lambda _event, _about: None),
        standings=Standings(claims, lambda: "0123456789abcdef") if known else None,
    )

    async def ask() -> None:
        server, body = RawTestServer(handler), asked.body(gpu_pod(GPU))
        kind = {"Content-Type": "application/json"}
        async with server, ClientSession(server.make_url("/")) as client:
            for _ in range(3):
                async with client.post("/mutate", data=body, headers=kind) as response:
                    assert response.status == HTTPStatus.OK

    asyncio.run(ask())
    recalled = metrics.registry.get_sample_value("berth_recalled_total")
    assert recalled == (0 if known else 2)


@pytest.mark.parametrize("form", [JsonFormatter(), TextFormatter()], ids=["json", "text"])
def test_l15_the_stack_of_a_fault_holds_no_value(
    caplog: pytest.LogCaptureFixture, form: logging.Formatter
) -> None:
    """What Python says of an error may be what a variable is set to; where it was is enough."""
    try:
        int(SECRET)
    except ValueError as error:
        Journal(Metrics(), lambda *_: None).fault(error)
    (record,) = caplog.records
    told = form.format(record)
    assert SECRET not in told
    assert "ValueError" in told
    assert "test_answers.py" in told


@settings(max_examples=300, deadline=None, print_blob=True)
@given(
    st.lists(st.text() | st.sampled_from(["a\nb", "x" * 5000, "\x00\x1b[31m", "a b"]), max_size=40)
)
@example([str(number) for number in range(40)])
def test_w21_warnings_are_such_as_the_api_server_passes_on(texts: list[str]) -> None:
    """Each is one line of at most 120 characters, no two are alike, and there are at most 16."""
    lines = list(wire.clean(texts))
    assert len(lines) == len(set(lines)) <= wire.MOST_WARNINGS
    for line in lines:
        assert len(line) <= wire.LONGEST_WARNING
        assert not [char for char in line if unicodedata.category(char) == "Cc"]


def test_w21_a_warning_with_a_newline_of_the_users_is_one_line() -> None:
    """What the user wrote may stand in a warning, but does not break it."""
    path = "/dev/nvidia0\n" + "x" * 5000
    volumes = [{"name": name, "hostPath": {"path": path}} for name in ("a", "b")]
    warnings = laws.patched(gpu_pod(GPU, volumes=volumes)).response["warnings"]
    assert len(warnings) == 2
    assert all(line.isprintable() and len(line) <= 120 for line in warnings)


def test_w22_a_refusal_says_where_what_and_what_to_do() -> None:
    """Every mistake is named at once, by container, field, value and fix."""
    bad = container("b", {"nvidia.com/gpu": "-1", "nvidia.com/gpucores": "101"})
    message = laws.refused(pod(container("a"), bad), 422)
    first, second = message.split(". ")
    assert first == (
        "spec.containers[1].resources.limits[nvidia.com/gpu]: -1 is negative; "
        "write a number from 0 to 1024"
    )
    assert second.startswith("spec.containers[1].resources.limits[nvidia.com/gpucores]: 101 ")
    assert "; write at most 100" in second


def test_w22_a_refusal_with_a_newline_of_the_users_is_one_line() -> None:
    """Nor does the terminal of whoever reads it later obey what the Pod's author wrote."""
    annotations = {
        "nvidia.com/vgpu-mode": "\x1b[2J\nall is well",
        "nvidia.com/numa-bind": "a\r\x00b",
    }
    asked = gpu_pod(GPU) | {"metadata": {"name": "train", "annotations": annotations}}
    status = laws.ask(asked).response["status"]
    causes = [cause["message"] for cause in status["details"]["causes"]]
    assert len(causes) == 2
    assert all(text.isprintable() for text in [status["message"], *causes])


def test_w22_a_refusal_is_in_the_language_of_the_settings() -> None:
    """The message and each cause; the field, the amounts and the audit log's words stay."""
    bad = pod(container("b", {"nvidia.com/gpu": "-1"}))
    asked = wire.decode(json.dumps(review(bad)).encode())
    decision = mutate.decide(bad, "default", laws.SHIPPED)
    response = json.loads(wire.answer(asked, decision, 1, "zh"))["response"]
    status = response["status"]
    field = "spec.containers[0].resources.limits[nvidia.com/gpu]"
    assert status["message"] == f"{field}：-1 是负数；请写 0 到 1024 之间的数"
    assert status["details"]["causes"][0]["message"] == "-1 是负数；请写 0 到 1024 之间的数"
    assert "-1 is negative" in response["auditAnnotations"]["reasons"]


def test_w22_the_code_tells_a_mistake_from_a_rule() -> None:
    """403 is what this cluster forbids, 422 what is wrong anywhere, also if both are found."""
    laws.refused(gpu_pod(GPU, nodeName="n1"), 403)
    laws.refused(gpu_pod({"nvidia.com/gpu": "-1"}), 422)
    mixed = container("b", {"nvidia.com/gpu": "x"})
    laws.refused(pod(container("a", GPU), mixed, nodeName="n1"), 422)


def test_what_is_left_out_of_very_many_mistakes_is_counted() -> None:
    """Also where it is one."""
    many = wire.MOST_PROBLEMS + 1
    bad = pod(*(container(f"c{index}", {"nvidia.com/gpu": "-1"}) for index in range(many)))
    status = laws.ask(bad).response["status"]
    assert len(status["details"]["causes"]) == wire.MOST_PROBLEMS
    assert status["message"].endswith(". And 1 more")


def test_what_the_audit_log_keeps_of_many_mistakes_is_cut() -> None:
    """An event of the audit log may be a line of a file, or a call of its own."""
    bad = pod(*(container(f"c{index}", {"nvidia.com/gpu": "-1"}) for index in range(100)))
    reasons = laws.ask(bad).response["auditAnnotations"]["reasons"]
    assert len(reasons) == wire.MOST_AUDITED


def test_a_fault_in_the_telling_costs_no_pod() -> None:
    """The decision stands; the fault is counted and logged as any other."""
    metrics = Metrics()

    def write(_event: str, _fields: object) -> None:
        raise ValueError("no line can be made of it")

    read = wire.decode(json.dumps(review(gpu_pod(GPU))).encode())
    assert read.object is not None
    decision = laws.BY_DEFAULT(read.object, read.namespace)
    Journal(metrics, write).reviewed(Answered(read, decision, b""), {}, 0.001)
    faults = metrics.registry.get_sample_value(
        "hami_webhook_requests_total", {"operation": "", "resource": "pods", "result": "fault"}
    )
    assert faults == 1
