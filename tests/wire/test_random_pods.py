"""Fifty thousand random Pods through the running server, over one HTTPS connection."""

import itertools
import json
import random
import ssl
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator

import jsonpatch
import pytest

from tests import webhook
from tests.properties import laws
from tests.wire import raw

PODS = 50_000
AT_ONCE = 100  # sent one behind the other, which costs both sides half as much as one by one
SEED = random.SystemRandom().getrandbits(32)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webhook.Webhook]:
    """Give a server with its settings as shipped."""
    with webhook.running(
        tmp_path_factory.mktemp("server"), "--set", "log.flushSeconds=1"
    ) as running:
        yield running


def test_fifty_thousand_random_pods(server: webhook.Webhook) -> None:
    """No 5xx; f(f(x)) = f(x); the patch applies elsewhere; unknown fields survive."""
    sys.stdout.write(f"seed {SEED}\n")
    dice = random.Random(SEED)
    answered: Counter[str] = Counter()
    with raw.opened(server) as connection:
        made = (laws.random_pod(dice) for _ in range(PODS))
        while sent := list(itertools.islice(made, AT_ONCE)):
            patched = []
            for pod, answer in zip(sent, _asked(connection, sent), strict=True):
                result, after = _judged(pod, answer)
                answered[result] += 1
                if after is not None:
                    patched.append((pod, after))
            again = _asked(connection, [after for _, after in patched])
            for (pod, _), answer in zip(patched, again, strict=True):
                assert answer.status == 200, (SEED, pod)
                assert answer.response["allowed"], (SEED, pod)
                assert not answer.patch, (SEED, pod)
    assert answered.total() == PODS
    for result in ("malformed", "refused", "unchanged", "patched"):
        assert answered[result] > PODS // 100, answered


def _judged(pod: laws.Pod, answer: webhook.Answer) -> tuple[str, laws.Pod | None]:
    """Check a first answer; return what it was, and the Pod as patched where it was."""
    assert answer.status in (200, 400), (SEED, pod)
    if answer.status == 400:
        return "malformed", None
    response = answer.response
    if not response["allowed"]:
        assert response["status"]["code"] in (403, 422), (SEED, pod)
        return "refused", None
    if "patch" not in response:
        return "unchanged", None
    patched = jsonpatch.apply_patch(pod, json.loads(b64decode(response["patch"])))
    laws.check_nothing_is_lost(pod, patched)
    return "patched", patched


def _asked(connection: ssl.SSLSocket, sent: list[laws.Pod]) -> list[webhook.Answer]:
    bodies = (json.dumps(webhook.review(pod), separators=(",", ":")).encode() for pod in sent)
    connection.sendall(b"".join(raw.request(body) for body in bodies))
    stream = connection.makefile("rb")
    return [raw.answer(stream) for _ in sent]
