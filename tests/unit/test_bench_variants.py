"""The load of `scripts/bench admission`: each request as new as a real API server's."""

import json
import re
import ssl
import uuid
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import pytest

from benchmarks import variants
from benchmarks.bodies import BODIES, bodies
from benchmarks.load import Load
from benchmarks.pods import RUN
from tests.fuzz import reviews

MANY = 10_000
NUMBERS = (0, 1, 59, 86_400, 7_000_001, 99_999_999)
TOKEN = re.compile("kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}")

cases = pytest.mark.parametrize("unlike", [False, True], ids=["alike", "unlike"])
every_body = pytest.mark.parametrize("body", BODIES)


def differing(one: Any, other: Any) -> Iterator[str]:
    """Yield the places of two documents of one form whose values differ, dotted."""
    for place in reviews.places(one):
        mine, theirs = reviews.at(one, place), reviews.at(other, place)
        if not isinstance(mine, dict | list) and mine != theirs:
            yield ".".join(map(str, place))


def alike(body: str) -> set[str]:
    """Return where Pods of one workload differ: what the API server and the author give anew."""
    pod = "request.object"
    shared = {
        "request.uid",
        "request.name",
        f"{pod}.metadata.name",
        f"{pod}.metadata.managedFields.0.time",
    }
    tokens = {
        f"{pod}.spec.volumes.3.name",
        f"{pod}.spec.containers.0.volumeMounts.3.name",
        f"{pod}.spec.containers.1.volumeMounts.1.name",
    }
    return shared | (tokens if body == "train" else set())


@every_body
@cases
def test_a_variant_differs_from_its_body_in_named_places_alone(body: str, *, unlike: bool) -> None:
    """Pods of one workload are equal but for a few names; all-different ones have a new run too."""
    original = bodies()[body]
    places = alike(body) | ({f"request.object.metadata.annotations.{RUN}"} if unlike else set())
    for number in NUMBERS[1:]:
        made = variants.template(original, unlike=unlike).filled(number)
        assert len(made) == len(original)
        assert set(differing(json.loads(original), json.loads(made))) == places


@every_body
@cases
def test_what_differs_has_the_form_the_api_server_gives_it(body: str, *, unlike: bool) -> None:
    """A version 4 UUID, one name in both places, one volume and its mounts, a time in seconds."""
    pattern = variants.template(bodies()[body], unlike=unlike)
    for number in NUMBERS:
        request = json.loads(pattern.filled(number))["request"]
        pod = request["object"]
        assert uuid.UUID(request["uid"]).version == 4
        assert str(uuid.UUID(request["uid"])) == request["uid"]
        assert request["name"] == pod["metadata"]["name"]
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        mounts = {m["name"] for c in pod["spec"]["containers"] for m in c["volumeMounts"]}
        assert mounts == volumes
        assert len([name for name in volumes if TOKEN.fullmatch(name)]) == (body == "train")
        time = pod["metadata"]["managedFields"][0]["time"]
        assert re.fullmatch(r"2025-11-04T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ", time)


@every_body
@cases
def test_no_two_of_ten_thousand_are_alike(body: str, *, unlike: bool) -> None:
    """Neither whole, nor in uid, name or time: no memory of whole bodies could answer a second."""
    pattern = variants.template(bodies()[body], unlike=unlike)
    assert len({pattern.filled(number) for number in range(MANY)}) == MANY
    for spell, _ in pattern.spelt:
        assert len({spell(number) for number in range(MANY)}) == MANY


@every_body
def test_unlike_pods_differ_where_a_decision_could_look(body: str) -> None:
    """Without the names that pass for the same, 1,000 Pods of one workload are one, else 1,000."""
    for unlike, kinds in ((False, 1), (True, 1000)):
        pattern = variants.template(bodies()[body], unlike=unlike)
        seen = set()
        for number in range(1000):
            pod = json.loads(pattern.filled(number))["request"]["object"]
            del pod["metadata"]["name"], pod["metadata"]["managedFields"][0]["time"]
            seen.add(TOKEN.sub("kube-api-access-", json.dumps(pod)))
        assert len(seen) == kinds


def test_requests_of_all_servers_take_their_numbers_from_one_count() -> None:
    """What one server was sent, no other is, nor itself in a later cell; the length is right."""
    pods, numbers = variants.template(bodies()["gpu"], unlike=False), count()
    loads = [Load(port, pods, numbers, ssl.create_default_context(), 25) for port in (1, 2)]
    sent = [request for load in loads for request in islice(load.requests(), 3)]
    for number, request in enumerate(sent):
        head, _, body = request.partition(b"\r\n\r\n")
        assert body == pods.filled(number)
        assert head.endswith(b"\r\nContent-Length: %d" % len(body))
