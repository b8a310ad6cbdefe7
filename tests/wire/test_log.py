"""Vector L15: what the log says of requests that are not as they should be."""

import json

from tests.webhook import Webhook, review
from tests.wire import raw

SECRET = "s3cret-of-the-user"
WRONG = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": "-1"}}}


def test_l15_the_log_of_a_broken_head_has_no_byte_of_it(webhook: Webhook) -> None:
    """By itself, aiohttp would log what it cannot read, with a stack."""
    sent = raw.request(b"{}", f"Authorization : Bearer {SECRET}")
    with raw.opened(webhook) as connection:
        connection.sendall(sent)
        assert raw.answer(connection.makefile("rb")).status == 400
    assert webhook.ask(review(None, uid="after")).status == 200
    raw.logged(webhook, "after")
    assert SECRET not in json.dumps(webhook.log)
    assert not [line for line in webhook.log if "error" in line or line["event"] == "stderr"]


def test_l15_a_name_in_the_log_is_no_longer_than_a_name(webhook: Webhook) -> None:
    """Whatever stands where a name should, and however much is wrong, the line stays short."""
    owners = [{"kind": {"spec": SECRET}, "name": "o" * 5000}]
    metadata = {"generateName": {"spec": SECRET}, "ownerReferences": owners}
    pod = {"metadata": metadata, "spec": {"containers": [WRONG] * 500}}
    names = {"namespace": "n" * 5000, "name": "", "operation": "CREATE"}
    webhook.ask(review(pod, uid="l15", **names))
    line = raw.logged(webhook, "l15")
    assert (line["pod"], line["codes"], line["namespace"]) == ("", ["negative"], "n" * 253)
    assert line["said"] == ["negative"]
    assert (line["owner"], len(line["reasons"])) == ("o" * 253, 32)


def test_a_refusal_shows_no_more_than_a_person_reads(webhook: Webhook) -> None:
    """The first 32 of its reasons, and how many more there are."""
    refused = webhook.ask(review({"spec": {"containers": [WRONG] * 500}})).response["status"]
    assert refused["message"].endswith(". And 468 more")
    assert len(refused["details"]["causes"]) == 32
