"""What people really write, created on the real API server through the registered webhook."""

import json

import pytest

from tests.corpus import corpus
from tests.e2e import stored
from tests.e2e.api import Api
from tests.webhook import Webhook

PODS = dict(corpus.pods())
OUR_SCHEDULERS = ("default-scheduler", "hami-scheduler")


@pytest.mark.parametrize("key", PODS)
def test_each_public_pod_is_stored_as_the_rules_say(
    key: str, api: Api, registered: Webhook, space: str, space_without_us: str
) -> None:
    """A Pod with a device is completed field by field; any other is stored as if we were not."""
    assert registered.process.poll() is None
    without_us = stored.comparable(api.stored(PODS[key], space_without_us))
    with_us = stored.comparable(api.stored(PODS[key], space))
    ours = without_us["spec"]["schedulerName"] in OUR_SCHEDULERS and any(
        stored.wants_device(container) for container in stored.containers(without_us)
    )
    assert with_us == (stored.expected(without_us) if ours else without_us)


def test_every_template_of_the_corpus_is_found() -> None:
    """The number of Pod templates is what an independent parser counted."""
    index = json.loads((corpus.FOLDER / "index.json").read_text())
    found = {entry["file"]: 0 for entry in index}
    for key in PODS:
        found[key.partition("#")[0]] += 1
    assert found == {entry["file"]: entry["pod_templates"] for entry in index}


def test_the_corpus_reaches_both_sides() -> None:
    """Enough of the Pods are ours, and enough are not, for the comparison to mean something."""
    ours = [
        pod
        for pod in PODS.values()
        if pod["spec"].get("schedulerName", "default-scheduler") in OUR_SCHEDULERS
        and any(stored.wants_device(container) for container in stored.containers(pod))
    ]
    assert len(ours) > 30
    assert len(PODS) - len(ours) > 20
