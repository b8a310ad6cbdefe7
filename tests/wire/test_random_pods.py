"""Fifty thousand random Pods through the running server, over one HTTPS connection."""

import copy
import json
import random
import sys
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import jsonpatch
import pytest

from tests import webhook
from tests.properties import laws

PODS = 50_000
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
    connection = server.connect()
    answered = {"refused": 0, "patched": 0, "unchanged": 0, "malformed": 0}
    for _ in range(PODS):
        pod = laws.random_pod(dice)
        before = copy.deepcopy(pod)
        status, response = _ask(connection, pod)
        assert status in (200, 400), (SEED, pod)
        if status == 400:
            answered["malformed"] += 1
        elif not response["allowed"]:
            answered["refused"] += 1
            assert response["status"]["code"] in (403, 422), (SEED, pod)
        elif "patch" not in response:
            answered["unchanged"] += 1
        else:
            answered["patched"] += 1
            patched = jsonpatch.apply_patch(pod, json.loads(b64decode(response["patch"])))
            laws.check_nothing_is_lost(before, patched)
            status, again = _ask(connection, patched)
            assert (status, again.get("patch")) == (200, None), (SEED, before)
            assert again["allowed"], (SEED, before)
    connection.close()
    assert min(answered.values()) > PODS // 100, answered


def _ask(connection: Any, pod: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    body = json.dumps(webhook.review(pod), separators=(",", ":"))
    connection.request("POST", "/mutate", body, webhook.JSON)
    answer = connection.getresponse()
    content = answer.read()
    return answer.status, json.loads(content)["response"] if answer.status == 200 else {}
