"""What is refused once all webhooks are done, on the real API server."""

import json
from typing import Any

import pytest

from berth import names
from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.e2e.api import Api
from tests.e2e.recorded import (
    GIVEN,
    MERGE,
    NODE,
    SCHEDULER,
    VALIDATING,
    annotated,
    as_user,
    bound,
    gpu,
    web,
)
from tests.webhook import Webhook


@pytest.mark.parametrize("pod", [gpu("forged"), web("forged")], ids=["a share", "no device"])
@pytest.mark.parametrize("labels", [{}, {"hami.io/webhook": "ignore"}], ids=["in", "opted out"])
def test_a_new_pod_brings_no_allocation(
    pod: dict[str, Any], labels: dict[str, str], api: Api, registered: Webhook, space: str
) -> None:
    """Whoever creates it, with a device or without, and whatever label it has (bug report 16)."""
    assert registered.process.poll() is None
    forged = {NODE: "n1", GIVEN: "GPU-0,NVIDIA,1,0:;"}
    asked = {**pod, "metadata": {"name": "forged", "annotations": forged, "labels": labels}}
    status, answer = api.create(asked, space)
    assert status == 403, answer
    fields = [cause["field"] for cause in answer["details"]["causes"]]
    assert fields == [f"metadata.annotations[{key}]" for key in (GIVEN, NODE)]
    assert "remove it" in answer["message"]


def test_an_allocation_is_its_schedulers_to_write(
    api: Api, registered: Webhook, space: str
) -> None:
    """A stranger neither adds, changes nor removes one; all else of the metadata is everyone's."""
    created = api.create(gpu("taken"), space)
    assert created[0] == 201, created
    path = f"/api/v1/namespaces/{space}/pods/taken"
    assert annotated(api, path, {NODE: "n1"})[0] == 403
    assert annotated(api, path, {"example.com/mine": "1"})[0] == 200
    before = registered.reviews
    status, answer = as_user(api, SCHEDULER, path, {NODE: "n1", GIVEN: "GPU-0,NVIDIA,1000,0:;"})
    assert status == 200, answer
    assert registered.reviews == before, "we were in the scheduler's way"
    for change in ({NODE: "n2"}, {GIVEN: None}, {"hami.io/bind-phase": "success"}):
        status, answer = annotated(api, path, change)
        assert status == 403, answer
        assert answer["message"].startswith('admission webhook "allocations.berth.dev" denied')
    assert api.ask("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, MERGE)[0] == 200
    assert api.ask("DELETE", path)[0] == 200


def test_a_pod_that_waits_is_not_made_to_wait_for_ever(
    api: Api, registered: Webhook, space: str
) -> None:
    """An UPDATE that steers it is judged, and no other is even asked about."""
    assert api.create(gpu("waits"), space)[0] == 201
    path, key = f"/api/v1/namespaces/{space}/pods/waits", "hami.io/gpu-scheduler-policy"
    status, answer = annotated(api, path, {key: "packed"})
    assert status == 422, answer
    assert answer["details"]["causes"][0]["field"] == f"metadata.annotations[{key}]"
    assert annotated(api, path, {key: "binpack"})[0] == 200
    before = registered.reviews
    assert annotated(api, path, {"example.com/mine": "packed"})[0] == 200
    assert api.ask("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, MERGE)[0] == 200
    assert registered.reviews == before


def test_an_allocation_is_not_written_by_way_of_the_status(
    api: Api, registered: Webhook, space: str
) -> None:
    """An update of pods/status may change annotations too."""
    assert registered.process.poll() is None
    assert api.create(gpu("status"), space)[0] == 201
    path = f"/api/v1/namespaces/{space}/pods/status"
    assert annotated(api, f"{path}/status", {NODE: "n1"})[0] == 403
    assert annotated(api, f"{path}/status", {"example.com/mine": "1"})[0] == 200


def test_an_allocation_is_not_written_by_way_of_a_binding(
    api: Api, registered: Webhook, space: str
) -> None:
    """O7: its annotations become the Pod's, also of the older way to bind (bug report 16)."""
    assert registered.process.poll() is None
    assert api.create(gpu("taken"), space)[0] == 201
    space = f"/api/v1/namespaces/{space}"
    stranger = "system:serviceaccount:default:my-scheduler"
    for path in (f"{space}/pods/taken/binding", f"{space}/bindings"):
        status, answer = bound(api, stranger, path, {GIVEN: "GPU-0,NVIDIA,1000,0:;"})
        assert status == 403, answer
        assert answer["details"]["causes"][0]["field"] == f"metadata.annotations[{GIVEN}]"
        before = registered.reviews
        for user, annotations in ((stranger, {"example.com/mine": "1"}), (SCHEDULER, {NODE: "n1"})):
            status, answer = bound(api, user, path, annotations)
            assert status == 201, answer
        assert registered.reviews == before, "we were in a scheduler's way"


@pytest.mark.parametrize("user", [SCHEDULER, "system:serviceaccount:kube-system:job-controller"])
def test_accounts_that_create_pods_for_everybody_bring_no_allocation(
    user: str, control_plane: ControlPlane, registered: Webhook, space: str
) -> None:
    """kube-system holds the controllers, which create what a template of anybody's says."""
    assert registered.process.poll() is None
    kubectl = Kubectl(plane=control_plane, namespace=space)
    pod = web("by-controller", annotations={NODE: "n1"})
    impersonated = ("--as", user, "--as-group", "system:masters")
    done = kubectl("create", *impersonated, "-f", "-", input=json.dumps(pod), check=False)
    assert done.returncode == 1
    assert "allocations.berth.dev" in done.stderr


def test_a_debug_container_sees_no_card_by_a_variable(
    api: Api, control_plane: ControlPlane, registered: Webhook, space: str
) -> None:
    """`kubectl debug` with NVIDIA_VISIBLE_DEVICES is refused beside a share, and else is not."""
    assert registered.process.poll() is None
    kubectl = Kubectl(plane=control_plane, namespace=space)
    for pod in (gpu("debugged"), web("plain")):
        assert api.create(pod, space)[0] == 201
    debug = ("--image=registry.example/debug:1", "--profile=general")
    show = "--env=NVIDIA_VISIBLE_DEVICES=all"
    done = kubectl("debug", "debugged", *debug, show, check=False)
    assert done.returncode == 1
    assert "spec.ephemeralContainers[0].env: NVIDIA_VISIBLE_DEVICES" in done.stderr
    kubectl("debug", "debugged", *debug)
    kubectl("debug", "debugged", *debug, "--env=NVIDIA_VISIBLE_DEVICES=none")
    kubectl("debug", "plain", *debug, show)


def test_what_is_well_passes_without_a_word(api: Api, registered: Webhook, space: str) -> None:
    """A share is rewritten, and validated without a warning."""
    assert registered.process.poll() is None
    status, stored = api.create(gpu("well"), space, dry_run=True)
    assert status == 201
    assert stored["spec"]["schedulerName"] == "hami-scheduler"
    assert api.warnings == []


def test_the_configuration_is_guarded_and_kept(api: Api, registered: Webhook) -> None:
    """Each entry has its conditions, and none but the one for records leaves the label unread."""
    assert registered.process.poll() is None
    found = api.ask("GET", f"{VALIDATING}/berth")[1]["webhooks"]
    assert [entry["name"] for entry in found] == [
        names.WEBHOOK_VALIDATE,
        names.WEBHOOK_ALLOCATIONS,
        names.WEBHOOK_DEBUG,
    ]
    assert all(entry["matchConditions"] for entry in found)
    assert [bool(entry["objectSelector"]) for entry in found] == [True, False, True]
    assert {entry["failurePolicy"] for entry in found} == {"Fail"}
