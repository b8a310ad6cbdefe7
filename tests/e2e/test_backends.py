"""Every accelerator through the real webhook: the rows of tests/vendors/rows as stored objects."""

from typing import Any

import pytest

from berth.vendors import VENDORS
from tests import pods
from tests.e2e import stored
from tests.e2e.api import Api
from tests.vendors import table
from tests.webhook import Webhook

SHIPPED = {name: row for name, row in table.rows() if row.config is None}
TAKEN = {name: row for name, row in SHIPPED.items() if not row.refused}
REFUSED = {name: row for name, row in SHIPPED.items() if row.refused}


def _pod(row: table.Row, place: str) -> dict[str, Any]:
    """Return a Pod as a user writes it: requests are the API server's to fill in."""
    pod = row.pod(place)
    pod["metadata"] = {**pod["metadata"], "name": "", "generateName": "one-"}
    for container in stored.containers(pod):
        container["resources"].pop("requests", None)
    del pod["metadata"]["namespace"], pod["metadata"]["name"], pod["spec"]["schedulerName"]
    return pod


@pytest.mark.parametrize("name", TAKEN)
def test_a_pod_is_stored_as_its_row_says(
    name: str, api: Api, registered: Webhook, space: str, space_without_us: str
) -> None:
    """What the API server stores is the Pod without us, and what the row adds to it."""
    assert registered.process.poll() is None
    row = TAKEN[name]
    place = table.PLACES[sorted(TAKEN).index(name) % len(table.PLACES)]
    expected = stored.comparable(api.stored(_pod(row, place), space_without_us))
    with_us = stored.comparable(api.stored(_pod(row, place), space))
    (main,) = (one for one in stored.containers(expected) if one["name"] == "main")
    for kind in ("limits", "requests"):
        main["resources"][kind] |= {key: _canonical(value) for key, value in row.added.items()}
    if row.env:
        main["env"] = [{"name": key, "value": value} for key, value in row.env.items()]
    if row.share:
        expected["spec"]["schedulerName"] = "hami-scheduler"
        with_us["metadata"]["annotations"].pop("berth.dev/original-request")
    annotations = with_us["metadata"].pop("annotations", {})
    assert annotations == row.annotated | row.annotations
    expected["metadata"].pop("annotations", None)
    for pod in (expected, with_us):
        pod["metadata"].pop("name")
    assert with_us == expected


def _canonical(amount: str) -> str:
    """Write a number as the API server stores it: 1000 as 1k."""
    return f"{amount[:-3]}k" if amount.endswith("000") else amount


@pytest.mark.parametrize("name", REFUSED)
def test_a_pod_is_refused_as_its_row_says(
    name: str, api: Api, registered: Webhook, space: str
) -> None:
    """What can never work is not stored, and the user is told the field."""
    assert registered.process.poll() is None
    row = REFUSED[name]
    status, answer = api.create(_pod(row, "containers"), space)
    assert status == 422, answer
    if "denied the request" not in answer["message"]:
        # Kubernetes refuses it before anyone is asked: a number that is none of its own.
        assert {reason for reason, _ in row.refused} <= {"negative"}
        return
    assert 'admission webhook "gpu.berth.dev" denied the request' in answer["message"]
    assert all(where in answer["message"] for _, where in row.refused)


def test_every_accelerator_is_stored_at_least_once() -> None:
    """So that none of the 25 is left out above."""
    asked = {key for row in TAKEN.values() if row.share for key in row.limits}
    assert not [one.name for one in VENDORS if asked.isdisjoint(one.resources)]


def test_a_large_pod_is_matched_within_the_api_servers_budget(
    api: Api, registered: Webhook, space: str
) -> None:
    """Some 65 names are looked for in each of many containers; a condition that fails refuses."""
    assert registered.process.poll() is None
    names = {f"example.com/device-{number}": "1" for number in range(30)}
    many = [pods.container(f"c{number}", names) for number in range(150)]
    annotations = {f"example.com/note-{number}": "x" for number in range(1000)}
    plain = pods.pod(*many, metadata={"annotations": annotations, "name": "large"})
    before = registered.reviews
    del plain["metadata"]["namespace"]
    status, answer = api.create(plain, space, dry_run=True)
    assert status == 201, answer
    assert registered.reviews == before
    many[-1]["resources"]["limits"] = many[-1]["resources"]["requests"] = {"vastaitech.com/va": "1"}
    status, asking = api.create(plain, space, dry_run=True)
    assert (status, asking["spec"]["schedulerName"]) == (201, "hami-scheduler")
