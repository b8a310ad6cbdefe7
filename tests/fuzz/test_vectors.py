"""Vectors W11, W15 and L15 everywhere: at each place of a review, at each byte of a request."""

import json
import random
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from tests import pods, webhook
from tests.fuzz import bodies, checks, framing, load, reviews, values
from tests.fuzz.case import JSON_HEAD, Case
from tests.fuzz.load import Target
from tests.webhook import Webhook
from tests.wire import raw

SEED = random.SystemRandom().getrandbits(32)
RICH = orjson.loads(bodies.RICH)
SECRET = "s3cret-"
"""Each planted value is this and its number."""
TOKEN = "t0ken-of-the-user"
"""Stands where nobody need read it: in variables, arguments, annotations and headers."""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="100000-levels"),
        pytest.param(b"NaN", id="NaN"),
        pytest.param(b"1e400", id="1e400"),
        pytest.param(b'{"a":1,"a":1}', id="duplicate-keys"),
        pytest.param(b'"\\udc00"', id="lone-surrogate"),
        pytest.param(b'"\xff"', id="invalid-utf-8"),
    ],
)
def test_w11_at_every_place_of_a_review(server: tuple[Webhook, Target], text: bytes) -> None:
    """Also where nobody reads what stands there: HTTP 400, and the process lives."""
    running, target = server
    cases = [
        Case(f"at {place}", bodies.splice(bodies.RICH, place, text))
        for place in reviews.places(RICH)
    ]
    outcome = load.run(target, cases.__getitem__, range(len(cases)))
    assert not outcome.findings, outcome.findings[0]
    assert outcome.statuses == {"400": len(cases)}
    assert running.process.poll() is None


def breaking_off(running: Webhook, sent: bytes, *, reset: bool) -> None:
    """Send that much, and go away."""
    with raw.opened(running) as connection:
        connection.sendall(sent)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def settled(running: Webhook, uid: str) -> list[dict[str, Any]]:
    """Return the log so far, none of its lines still under way."""
    assert running.ask(webhook.review(None, uid=uid)).status == 200
    raw.logged(running, uid)
    return list(running.log)


def test_w15_a_caller_that_goes_away_at_any_byte(server: tuple[Webhook, Target]) -> None:
    """No stack, at most a line each, nothing left open, and the memory comes back."""
    running, target = server
    sys.stdout.write(f"seed {SEED}\n")
    dice = random.Random(SEED)
    request = raw.request(bodies.RICH)
    breaking_off(running, request[:-1], reset=False)
    lines, files, memory = settled(running, "w15-before"), raw.open_files(running), target.rss_mib()
    for index in range(100):
        cut = request[: dice.randrange(1, len(request))]
        breaking_off(running, cut, reset=index % 2 == 0)
    assert raw.eventually(lambda: raw.open_files(running) <= files)
    more = settled(running, "w15-after")[len(lines) :]
    assert len(more) <= 101
    assert not [line for line in more if "error" in line or line["event"] == "stderr"]
    assert target.rss_mib() - memory < 16


def planted() -> tuple[dict[str, Any], int]:
    """Return the rich review with a secret in each text that does not say what is asked."""
    review = orjson.loads(bodies.RICH)
    kept = ("apiVersion", "kind", "uid", "operation", "resource", "requestKind", "requestResource")
    count = 0
    for place in reviews.places(RICH):
        value = reviews.at(RICH, place)
        if isinstance(value, str) and place[-1] not in kept and place[1] not in kept:
            quiet = any(key in place for key in ("env", "args", "annotations", "userInfo"))
            planted = TOKEN if quiet and place[-1] != "name" else f"{SECRET}{count}"
            reviews.at(review, place[:-1])[place[-1]] = planted
            count += 1
    return review, count


def audited() -> Iterator[Case]:
    """Yield requests full of secrets: read, patched, refused, and wrong in every way."""
    review, count = planted()
    assert count > 50
    yield Case("all planted", orjson.dumps(review))
    token = f"Authorization: Bearer {TOKEN}"
    env = [{"name": f"{SECRET}name", "value": TOKEN}]
    main = pods.container(limits={"nvidia.com/gpu": "1"}, env=env, args=[TOKEN])
    wrongs: tuple[dict[str, Any], ...] = (
        {},
        {"nodeName": f"{SECRET}node"},
        {"schedulerName": f"{SECRET}scheduler"},
    )
    for wrong in wrongs:
        asked = orjson.dumps(webhook.review(pods.pod(main, **wrong)))
        for path in ("/mutate", "/inject/fuzz", f"/inject/{SECRET}", f"/mutate?t={TOKEN}"):
            yield Case("in the head", asked, path, (JSON_HEAD, token, f"Cookie: {TOKEN}"))
    text = orjson.dumps(f"{SECRET}text")
    for place in reviews.places(RICH):
        for value in (text, b"[%s]" % text, b'{"%s":%s}' % (text[1:-1], text), text[:-1]):
            if place[1:] not in (("uid",), ("operation",), ("namespace",), ("name",)):
                yield Case(f"at {place}", bodies.splice(orjson.dumps(review), place, value))
    dice = random.Random(SEED)
    for _ in range(300):  # a broken head, whose rest may be taken for the next request
        case = framing.make(dice, orjson.dumps(review))
        yield case._replace(raw=case.raw.replace(values.SECRET.encode(), TOKEN.encode()))


def test_l15_the_log_holds_no_value_of_the_user(server: tuple[Webhook, Target]) -> None:
    """No variable, token, argument or annotation, and no whole Pod, whatever is wrong with it."""
    running, target = server
    sys.stdout.write(f"seed {SEED}\n")
    before = settled(running, "l15-before")
    cases = list(audited())
    outcome = load.run(target, cases.__getitem__, range(len(cases)))
    assert not outcome.findings, outcome.findings[0]
    lines = settled(running, "l15-after")[len(before) :]
    assert len(lines) > len(cases) // 3  # of the unreadable one line each second
    for line in lines:
        assert SECRET not in checks.hidden(line), line
        assert TOKEN not in json.dumps(line), line
        assert '"containers"' not in json.dumps(line), line
