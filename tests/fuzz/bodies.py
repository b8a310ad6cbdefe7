"""Hostile requests: `make(seed, number)` is always the same one, and any may be made alone.

Wrong values are spliced as text into an honest review, as no JSON encoder would write them.
"""

import random
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from tests import webhook
from tests.fuzz import framing, large, reviews, values
from tests.fuzz.case import JSON_HEAD, Case
from tests.properties import laws

_MARK = "@@here@@"
_DOCUMENTS = tuple(orjson.dumps(review) for review in reviews.every())
_PLACES = tuple(tuple(reviews.places(orjson.loads(text))) for text in _DOCUMENTS)
RICH = _DOCUMENTS[0]
"""The review whose Pod has all that we read."""
_SWEPT = [
    (document, place)
    for document, places in tuple(zip(_DOCUMENTS, _PLACES, strict=True))[:2]
    for place in places
]
SWEEP = len(_SWEPT) * len(values.ALL)
"""So many bodies have every value at every place of two reviews."""
_EVERY = 3  # one body of so many belongs to the sweep
_STRIDE = 7919  # a prime: what follows each other in a short run is far apart
_RESOURCES = (
    *("nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"),
    *("nvidia.com/priority", "nvidia.com/mig-1g.10gb", "cpu", "memory"),
)


def make(seed: int, number: int) -> Case:
    """Return request `number` of the run `seed`."""
    dice = random.Random(f"{seed}/{number}")
    if number % _EVERY == 0:
        return _swept(seed, number)
    (maker,) = dice.choices(_MAKERS, _WEIGHTS)
    return maker(dice)


def make_mebibyte(seed: int, number: int) -> Case:
    """Return request `number` of a run of large ones, about a MiB each."""
    return large.mebibyte(random.Random(f"{seed}/{number}"), RICH, splice)


def largest(kinds: Iterable[str], paths: int = 1) -> list[Case]:
    """Return the large bodies of these kinds, each for the first so many paths."""
    return [
        large.named(kind, RICH, splice)._replace(path=_path(index))
        for kind in kinds
        for index in range(paths)
    ]


def splice(document: bytes, place: reviews.Place, text: bytes) -> bytes:
    """Return a JSON document with other text in the place of a value."""
    return _spliced(orjson.loads(document), [(place, text)])


def _spliced(node: Any, changes: list[tuple[reviews.Place, bytes]]) -> bytes:
    whole = [text for place, text in changes if not place]
    if whole:
        return whole[0]
    for index, (place, _) in enumerate(changes):
        try:
            reviews.at(node, place[:-1])[place[-1]] = f"{_MARK}{index}"
        except (TypeError, LookupError):
            continue  # an earlier change took the place away
    text = orjson.dumps(node)
    for index, (_, new) in enumerate(changes):
        text = text.replace(orjson.dumps(f"{_MARK}{index}"), new)
    return text


def turn(seed: int, number: int) -> int:
    """Return which of the SWEEP bodies request `number` is, where it is one of them."""
    return (number // _EVERY + seed) * _STRIDE % SWEEP


def _swept(seed: int, number: int) -> Case:
    where, what = divmod(turn(seed, number), len(values.ALL))
    document, place = _SWEPT[where]
    return Case("sweep", splice(document, place, values.ALL[what]), _path(number // _EVERY))


def _path(index: int) -> str:
    return ("/mutate", "/validate", "/inject/fuzz", "/webhook", "/mutate?timeout=30s")[index % 5]


def _any_path(dice: random.Random) -> str:
    return _path(dice.randrange(5))


def _request(dice: random.Random) -> dict[str, Any]:
    """Return fields of a request as no API server puts them together, and some as it does."""
    pod: Any = laws.random_pod(dice)
    kinds = ("Pod", "Pod", "Pod", "Binding", "Eviction", "Deployment", "", None, "pod")
    kind = {"group": dice.choice(("", "", "apps", None)), "version": "v1"}
    subs = ("", "", "", None, "binding", "status", "ephemeralcontainers", "resize", "nope")
    options = ("CreateOptions", "UpdateOptions", "DeleteOptions", "PatchOptions")
    old = dice.choice((None, None, pod, laws.random_pod(dice), {}))
    names = ("default", "team-a", "kube-system", "", None, "berth-system", "x" * 300)
    return {
        "uid": dice.choice(("705ab4f5", "u" * 36, "ü", "x" * 1000, str(dice.random()))),
        "operation": dice.choice(("CREATE",) * 6 + ("UPDATE", "DELETE", "CONNECT", "", None, "*")),
        "object": dice.choice((pod, pod, pod, pod, None, {})),
        "oldObject": old,
        "kind": dice.choice((kind | {"kind": dice.choice(kinds)}, None)),
        "resource": {"resource": dice.choice(("pods", "pods", "pods", "jobs", "", None))},
        "subResource": dice.choice(subs),
        "dryRun": dice.choice((True, False, None)),
        "namespace": dice.choice(names),
        "name": dice.choice(("", "p", None, "x" * 300)),
        "options": dice.choice((None, {"kind": dice.choice(options), "dryRun": ["All"]})),
    }


def _asked(dice: random.Random) -> Case:
    asked = webhook.review(None, **_request(dice))
    version = dice.choice(("v1", "v1", "v1beta1", "v1beta1", "v2", ""))
    asked["apiVersion"] = f"admission.k8s.io/{version}"
    return Case("request", orjson.dumps(asked), _any_path(dice))


def _usual(dice: random.Random) -> Case:
    return Case("pod", orjson.dumps(webhook.review(laws.random_pod(dice))), _any_path(dice))


def _several(dice: random.Random) -> Case:
    number = dice.randrange(len(_DOCUMENTS))
    found = dice.choices(_PLACES[number], k=dice.randint(1, 5))
    changes = [(place, dice.choice(values.ALL)) for place in found]
    return Case("several", _spliced(orjson.loads(_DOCUMENTS[number]), changes), _any_path(dice))


def _keys(dice: random.Random) -> Case:
    """Keys twice, renamed, taken out and put in, and one value in the place of another."""
    node = orjson.loads(RICH)
    place = dice.choice(_PLACES[0][1:])
    parent: Any = reviews.at(node, place[:-1])
    key = place[-1]
    value = orjson.dumps(parent[key])
    action = dice.randrange(5)
    if action == 0 and isinstance(key, str):
        again = dice.choice((value, dice.choice(values.ALL)))
        new = value + b"," + orjson.dumps(key) + b":" + again
        return Case("keys", _spliced(node, [(place, new)]))
    if action == 1 and isinstance(key, str):
        odd = dice.choice(("", "\u0000", "a/b~c", key.upper(), key + " ", "x" * 5000, "__class__"))
        parent[odd] = parent.pop(key)
    elif action == 2:
        del parent[key]
    elif action == 3 and isinstance(key, int):
        parent.extend([parent[key]] * dice.randint(1, 200))
    else:
        parent[key] = reviews.at(orjson.loads(RICH), dice.choice(_PLACES[0]))
    return Case("keys", orjson.dumps(node), _any_path(dice))


def _bytes(dice: random.Random) -> Case:
    """Bytes flipped, lost, put in, cut off, or of another encoding."""
    body = bytearray(dice.choice(_DOCUMENTS[:8]))
    action = dice.randrange(6)
    if action == 0:
        del body[dice.randrange(len(body)) :]
    elif action == 1:
        start = dice.randrange(len(body))
        del body[start : start + dice.randint(1, 40)]
    elif action == 2:
        encoding = dice.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7"))
        body = bytearray(body.decode().encode(encoding))
    elif action == 3:
        body = bytearray(dice.randbytes(dice.randint(0, 3000)))
    else:
        for _ in range(dice.choice((1, 1, 1, 2, 10))):
            where = dice.randrange(len(body))
            if action == 4:
                body[where] = dice.randrange(256)
            else:
                body[where:where] = dice.choice((b'"', b"{", b"[", b",", b"\\", b"\x00", b"\xff"))
    return Case("bytes", bytes(body), _any_path(dice))


def _amounts(dice: random.Random) -> Case:
    """Resources of every odd form, in limits, requests, both, or not the same in both."""
    node = orjson.loads(RICH)
    changes: list[tuple[reviews.Place, bytes]] = []
    for kind, count in (("containers", 2), ("initContainers", 1)):
        for index in range(count):
            above: reviews.Place = ("request", "object", "spec", kind, index, "resources")
            reviews.at(node, above)["requests"] = dict(reviews.at(node, above)["limits"])
            for name in dice.sample(_RESOURCES, dice.randint(0, 4)):
                text = dice.choice(dice.choice((values.QUANTITIES, values.NUMBERS, values.SHAPES)))
                sides = dice.choice((("limits", "requests"), ("limits",), ("requests",)))
                changes += [((*above, side, name), text) for side in sides]
    return Case("amounts", _spliced(node, changes), _any_path(dice))


def _annotated(dice: random.Random) -> Case:
    """Annotations with records of ours that we never wrote."""
    node = orjson.loads(RICH)
    record = dice.choice((*values.ANNOTATIONS, dice.randbytes(20).hex().encode()))
    annotations = node["request"]["object"]["metadata"]["annotations"]
    annotations["berth.dev/original-request"] = record.decode("latin-1")
    if dice.random() < 0.1:
        annotations["big"] = "x" * dice.choice((1000, 256 * 1024 - 400, 256 * 1024))
    return Case("annotations", orjson.dumps(node), _any_path(dice))


def _head(dice: random.Random) -> Case:
    """Wrong or strange headers, methods and paths around an honest body."""
    heads: tuple[tuple[str, ...], ...] = (
        *(
            (),
            ("Content-Type: text/xml",),
            ("Content-Type: ;;;",),
            ("Content-Type: application/*",),
        ),
        *(("Content-Type: application/json; charset=utf-16",), ("Content-Type: \xff\xfe",)),
        *((JSON_HEAD, f"Content-Encoding: {one}") for one in ("gzip", "br", "x", "", "identity")),
        *(
            (JSON_HEAD, JSON_HEAD),
            (JSON_HEAD, "Content-Type: text/plain"),
            (JSON_HEAD, "Expect: x"),
        ),
        *((JSON_HEAD, "Expect: 100-continue"), (JSON_HEAD, "Upgrade: websocket")),
        *((JSON_HEAD, "Connection: close"), (JSON_HEAD, "Connection: upgrade")),
        *((JSON_HEAD, f"X: {'y' * size}") for size in (1, 4000, 8000, 9000, 70000)),
        *((JSON_HEAD, *(f"X{n}: y" for n in range(count))) for count in (100, 3000)),
        *((JSON_HEAD, f"Authorization: Bearer {values.SECRET}"), (JSON_HEAD, "Cookie: a=;b;=c")),
        *((JSON_HEAD, f"traceparent: {one}") for one in ("", "00-0-0-0", "x" * 500)),
    )
    paths = (
        "/mutate",
        "/inject/none",
        "/inject/%00",
        "/inject/" + "x" * 3000,
        "/nope",
        "/../mutate",
    )
    other = ("//mutate", "/mutate/", "/mutate?timeout=-1", "/mutate?" + "a=1&" * 500, "/%ff%fe")
    return Case(
        "head",
        dice.choice(_DOCUMENTS[:3]),
        dice.choice((*paths, *paths, *other)) if dice.random() < 0.4 else "/mutate",
        dice.choice(heads),
        dice.choice(("POST",) * 9 + ("PUT", "GET", "DELETE", "OPTIONS", "BREW")),
    )


def _framed(dice: random.Random) -> Case:
    return framing.make(dice, dice.choice(_DOCUMENTS[:3]))


_MIX: dict[Callable[[random.Random], Case], float] = {
    _usual: 18,
    _asked: 18,
    _several: 18,
    _keys: 14,
    _amounts: 12,
    _bytes: 10,
    _annotated: 5,
    _head: 3,
    _framed: 1.5,
}
_MAKERS, _WEIGHTS = tuple(_MIX), tuple(_MIX.values())
