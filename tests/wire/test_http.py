"""Vectors W1 to W6, W9 to W11 and W22: what is said over HTTP."""

import gzip
import json
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from berth.admission import mutate
from tests.pods import container, gpu_pod, pod
from tests.vectors import laws
from tests.webhook import JSON, Webhook, review
from tests.wire import raw

GPU = gpu_pod({"nvidia.com/gpu": "1"})
ASKED = json.dumps(review(GPU)).encode()
SECRET = "s3cret-of-the-user"


def plain(pod: Any = None) -> dict[str, Any]:
    """Return a review of a Pod without a device."""
    return review(pod or globals()["pod"](container()))


def alive(webhook: Webhook) -> bool:
    """Whether the process answers as ever."""
    return webhook.ask(ASKED).status == 200 and webhook.process.poll() is None


def test_w1_a_pod_without_device_passes(webhook: Webhook) -> None:
    """The answer echoes version and uid, and has neither patch nor patchType."""
    asked = plain()
    answer = webhook.ask(asked)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    assert json.loads(answer.body) == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": asked["request"]["uid"], "allowed": True},
    }


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_w2_each_version_is_answered_in_kind(webhook: Webhook, version: str) -> None:
    """An old API server asks in v1beta1 and is answered in v1beta1."""
    asked = review(GPU) | {"apiVersion": f"admission.k8s.io/{version}"}
    answer = webhook.ask(asked)
    assert json.loads(answer.body)["apiVersion"] == asked["apiVersion"]
    laws.holds(GPU, answer.response, mutate.decide(GPU, "default", laws.SHIPPED))


@pytest.mark.parametrize("version", ["admission.k8s.io/v2", "v1", "", None, 1])
def test_w2_another_version_is_http_400(webhook: Webhook, version: object) -> None:
    """A version that we do not speak is never answered in another."""
    assert webhook.ask(review(GPU) | {"apiVersion": version}).status == 400


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(SECRET.encode(), id="text"),
        pytest.param(ASKED[:-40], id="truncated"),
        pytest.param(f'["{SECRET}"]'.encode(), id="list"),
        pytest.param(f'"{SECRET}"'.encode(), id="string"),
        pytest.param(b"null", id="null"),
        pytest.param(b"\xef\xbb\xbf" + ASKED, id="byte-order-mark"),
        pytest.param(json.dumps({"kind": SECRET}).encode(), id="another-kind"),
        pytest.param(b"{}", id="nothing-in-it"),
    ],
)
def test_w3_a_body_that_is_no_review_is_http_400(webhook: Webhook, body: bytes) -> None:
    """The error is a short text that repeats nothing of the body."""
    answer = webhook.ask(body)
    assert answer.status == 400
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert 0 < len(answer.body) <= 200
    assert b"`" not in answer.body, "words of the parser's"
    assert SECRET.encode() not in answer.body


@pytest.mark.parametrize("request_", [None, [], "x", {}, {"uid": 7}, {"uid": ""}, {"uid": None}])
def test_w4_a_request_without_uid_is_http_400(webhook: Webhook, request_: object) -> None:
    """Without a uid there is nothing that an answer could be to."""
    asked = review(GPU)
    if isinstance(request_, dict):
        request_ = {
            key: value for key, value in asked["request"].items() if key != "uid"
        } | request_
    assert webhook.ask(asked | {"request": request_}).status == 400


def test_w4_no_request_is_http_400(webhook: Webhook) -> None:
    """A review with nothing to review is not answered."""
    asked = review(GPU)
    del asked["request"]
    assert webhook.ask(asked).status == 400


@pytest.mark.parametrize(
    "kind",
    ["application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"],
)
def test_w5_parameters_of_the_content_type_do_not_matter(webhook: Webhook, kind: str) -> None:
    """JSON is JSON, with a charset named or not."""
    assert webhook.ask(ASKED, headers={"Content-Type": kind}).patch


@pytest.mark.parametrize("kind", ["text/xml", "application/yaml", "application/jsonx", ";;;", None])
def test_w6_another_content_type_is_http_415(webhook: Webhook, kind: str | None) -> None:
    """Only JSON is read."""
    assert webhook.ask(ASKED, headers={"Content-Type": kind} if kind else {}).status == 415


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "x"])
def test_w9_a_compressed_body_is_http_415(webhook: Webhook, coding: str) -> None:
    """kube-apiserver compresses nothing, so nothing is unpacked."""
    answer = webhook.ask(gzip.compress(ASKED), headers=JSON | {"Content-Encoding": coding})
    assert answer.status == 415
    assert alive(webhook)


def test_w9_a_zip_bomb_stays_packed(webhook: Webhook) -> None:
    """A gigabyte of brackets in a megabyte costs no memory."""
    assert alive(webhook)
    before = raw.peak_mib(webhook)
    bomb = gzip.compress(b"[" * 2**20) * 1000
    assert webhook.ask(bomb, headers=JSON | {"Content-Encoding": "gzip"}).status == 415
    assert raw.peak_mib(webhook) - before < 32


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_w10_another_method_is_http_405(webhook: Webhook, method: str) -> None:
    """A review is POSTed."""
    assert webhook.ask(ASKED, method=method).status == 405


@pytest.mark.parametrize(
    "path",
    ["/", "/mutate/", "/nope", "//mutate", "/mutate/x/y", "/MUTATE", "/inject", "/webhook/"],
)
def test_w10_an_unknown_path_is_http_404(webhook: Webhook, path: str) -> None:
    """No path leads to another: Go's client would follow, and turn the POST into a GET."""
    answer = webhook.ask(ASKED, path=path)
    assert answer.status == 404
    assert "Location" not in answer.headers


def test_an_injection_of_other_settings_lets_the_pod_pass(webhook: Webhook) -> None:
    """Of two replicas one hears of it first, and the API server asks the other one too."""
    response = webhook.ask(ASKED, path="/inject/none").response
    assert response["allowed"]
    assert "patch" not in response
    assert "injection none" in response["warnings"][0]


def test_a_conversion_of_other_settings_is_none(webhook: Webhook) -> None:
    """What another replica registered for the namespaces of a conversion is answered as ever."""
    answer = webhook.ask(ASKED, path="/mutate/none")
    assert answer.response["allowed"]
    assert answer.patch == webhook.ask(ASKED).patch


@pytest.mark.parametrize("path", ["/mutate", "/webhook", "/mutate?timeout=5s"])
def test_w10_our_paths_are_answered(webhook: Webhook, path: str) -> None:
    """HAMi's path and the API server's timeout parameter are taken."""
    assert webhook.ask(ASKED, path=path).patch


def with_status(text: str) -> bytes:
    """Return a review with `text` as it is in the place of the Pod's status."""
    return ASKED.replace(b'"status": {}', b'"status": ' + text.encode("latin-1"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * depth + "]" * depth, id=f"depth-{depth}")
        for depth in (300, 1000, 2000, 100_000)
    ]
    + [
        pytest.param("[" * 100_000, id="unclosed"),
        pytest.param('{"a":' * 100_000 + "1" + "}" * 100_000, id="objects"),
        pytest.param("NaN", id="NaN"),
        pytest.param("-Infinity", id="infinity"),
        pytest.param("1e999", id="1e999"),
        pytest.param('{"a":1,"a":2}', id="duplicate-keys"),
        pytest.param('{"\\u0061":1,"a":2}', id="duplicate-when-unescaped"),
        pytest.param('"\\ud800"', id="lone-surrogate"),
        pytest.param('"\xff\xfe"', id="invalid-utf-8"),
        pytest.param('"\xc0\xaf"', id="overlong-utf-8"),
    ],
)
def test_w11_json_that_go_would_not_send_is_http_400(webhook: Webhook, text: str) -> None:
    """What parsers read in different ways is refused, and no depth harms the process."""
    assert webhook.ask(with_status(text)).status == 400
    assert alive(webhook)
    assert not webhook.logged("admission.fault")


def test_w11_a_duplicate_resource_is_http_400(webhook: Webhook) -> None:
    """Nobody can hide a second amount behind the first."""
    twice = ASKED.replace(b'"nvidia.com/gpu": "1"', b'"nvidia.com/gpu": "1", "nvidia.com/gpu": "8"')
    assert webhook.ask(twice).status == 400


@pytest.mark.parametrize("text", ["[" * 100 + "]" * 100, '"\\u003c\\ud83d\\ude00"', "1.50", "-0"])
def test_w11_unusual_json_is_read(webhook: Webhook, text: str) -> None:
    """Escapes, pairs of surrogates and other spellings of numbers are JSON."""
    assert webhook.ask(with_status(text)).patch


@pytest.mark.parametrize("env", ["", {}])
def test_empty_env_of_another_kind_is_http_400(webhook: Webhook, env: object) -> None:
    """An empty text or object holds no entry that would give it away."""
    asked = gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/priority": "1"})
    asked["spec"]["containers"][0]["env"] = env
    answer = webhook.ask(review(asked))
    assert (answer.status, answer.body) == (400, b"spec.containers[0].env is not a list")


def test_w21_warnings_are_short_lines(webhook: Webhook) -> None:
    """What the user wrote may stand in a warning, but makes it neither long nor two lines."""
    volumes = [{"name": "v", "hostPath": {"path": "/dev/nvidia0\n\x1b" + "x" * 5000}}]
    response = webhook.ask(review(gpu_pod({"nvidia.com/gpu": "1"}, volumes=volumes))).response
    (warning,) = response["warnings"]
    assert warning.isprintable()
    assert len(warning) <= 120


def test_w22_a_refusal_names_the_place_and_no_secret(webhook: Webhook) -> None:
    """Values of variables are in neither the answer nor the log."""
    env = [{"name": "CUDA_DISABLE_CONTROL", "value": SECRET}, {"name": "TOKEN", "value": SECRET}]
    refused = container(limits={"nvidia.com/gpu": "1"}, env=env)
    answer = webhook.ask(review(pod(refused), uid="w22"))
    assert (answer.status, answer.response["allowed"]) == (200, False)
    status = answer.response["status"]
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert status["message"].startswith("spec.containers[0].env: CUDA_DISABLE_CONTROL ")
    assert "; remove it and ask with nvidia.com/gpumem or nvidia.com/gpucores" in status["message"]
    assert SECRET not in answer.body.decode()
    assert raw.logged(webhook, "w22")["decision"] == "refused"
    assert SECRET not in json.dumps(webhook.log)


def test_an_answer_has_the_head_that_aiohttp_gives_it(webhook: Webhook) -> None:
    """Ours is written by ourselves for HTTP/1.1, and by aiohttp for HTTP/1.0."""
    body = json.dumps(plain()).encode()
    asked = raw.request(body)
    ending = raw.request(body, f"Content-Length: {len(body)}", "Connection: close")
    heads = []
    for sent in (asked, ending, asked.replace(b"HTTP/1.1", b"HTTP/1.0")):
        with raw.opened(webhook) as connection:
            connection.sendall(sent)
            heads.append(raw.answer(connection.makefile("rb")).headers)
    ours, last, theirs = ([*one.items()] for one in heads)
    assert [name for name, _ in ours] == ["Content-Type", "Content-Length", "Date", "Server"]
    assert [one for one in ours if one[0] != "Date"] == [one for one in theirs if one[0] != "Date"]
    assert last[-1] == ("Connection", "close")
    for one in heads:
        assert parsedate_to_datetime(one["Date"]).tzinfo is UTC
