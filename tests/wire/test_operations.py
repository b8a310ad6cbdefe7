"""Vectors O1 to O15, and what of M1 is in the log: only the CREATE of a Pod is ours."""

import json
from typing import Any

import pytest

from berth.admission import mutate
from tests.pods import Pod, container, gpu_pod, pod
from tests.vectors import laws
from tests.webhook import Webhook, review
from tests.wire import raw

ONE = {"nvidia.com/gpu": "1"}
GPU = gpu_pod(ONE)
DEBUG = [{"name": "debug", "image": "registry.example/debug:1", "targetContainerName": "main"}]


def kind(name: str, group: str = "", version: str = "v1") -> dict[str, str]:
    """Return a GroupVersionKind."""
    return {"group": group, "version": version, "kind": name}


def resource(name: str, group: str = "", version: str = "v1") -> dict[str, str]:
    """Return a GroupVersionResource."""
    return {"group": group, "version": version, "resource": name}


AUDIT = "auditAnnotations"


def uid_of(request: dict[str, Any]) -> str:
    """Return the uid that an answer has to echo."""
    return str(review(None, **request)["request"]["uid"])


def noop(webhook: Webhook, asked: Pod | None, **request: Any) -> None:
    """Assert that the object passes without a patch or a warning; the audit log may hear why."""
    answer = webhook.ask(review(asked, **request))
    assert answer.status == 200
    response = {key: answer.response[key] for key in answer.response.keys() - {AUDIT}}
    assert response == {"uid": uid_of(request), "allowed": True}


def patched(webhook: Webhook, asked: Pod, **request: Any) -> list[dict[str, Any]]:
    """Assert that `asked` is patched by the laws, once; return the patch."""
    answer = webhook.ask(review(asked, **request))
    body = json.loads(answer.body)
    assert body["apiVersion"] == "admission.k8s.io/v1"
    assert body["response"]["uid"] == uid_of(request)
    decision = mutate.decide(asked, request.get("namespace", "default"), laws.SHIPPED)
    laws.holds(asked, answer.response, decision)
    assert not webhook.ask(review(decision.pod, **request)).patch
    return answer.patch


def test_o1_a_deletion_passes(webhook: Webhook) -> None:
    """A patch on DELETE would be an error that no failurePolicy softens."""
    noop(webhook, None, operation="DELETE", oldObject=GPU, options={"kind": "DeleteOptions"})
    noop(webhook, GPU, operation="DELETE")


def test_o2_a_connection_passes(webhook: Webhook) -> None:
    """Exec and its like carry options, not a Pod."""
    options = {"kind": "PodExecOptions", "apiVersion": "v1", "command": ["sh"], "container": "main"}
    noop(
        webhook,
        options,
        operation="CONNECT",
        kind=kind("PodExecOptions"),
        subResource="exec",
        options=None,
    )


@pytest.mark.parametrize(
    ("sub_resource", "changed"),
    [
        pytest.param("", GPU | {"metadata": {"labels": {"a": "b"}}}, id="O3-label"),
        pytest.param("status", GPU | {"status": {"phase": "Running"}}, id="O4-status"),
        pytest.param("ephemeralcontainers", gpu_pod(ONE, ephemeralContainers=DEBUG), id="O5-debug"),
        pytest.param("resize", gpu_pod(ONE | {"cpu": "2"}), id="O6-resize"),
    ],
)
def test_o3_to_o6_an_update_passes(webhook: Webhook, sub_resource: str, changed: Pod) -> None:
    """What we write cannot be changed later, so an UPDATE is never patched, nor even read."""
    update = {"operation": "UPDATE", "subResource": sub_resource, "oldObject": GPU}
    noop(webhook, changed, **update)
    noop(webhook, gpu_pod({"nvidia.com/gpu": "-1"}), **update)


@pytest.mark.parametrize(
    ("object_kind", "sub_resource"),
    [
        pytest.param(kind("Binding"), "binding", id="O7"),
        pytest.param(kind("Eviction", "policy"), "eviction", id="O8"),
        pytest.param(kind("Pod"), "status", id="a-status"),
    ],
)
def test_o7_o8_what_is_created_below_a_pod_passes(
    webhook: Webhook, object_kind: dict[str, str], sub_resource: str
) -> None:
    """A subresource is not a Pod, also where it holds one."""
    noop(webhook, GPU, kind=object_kind, subResource=sub_resource)
    noop(webhook, {"target": {"kind": "Node"}}, kind=object_kind, subResource=sub_resource)


@pytest.mark.parametrize(
    ("object_kind", "resources"),
    [
        (kind("Deployment", "apps"), resource("deployments", "apps")),
        (kind("Job", "batch"), resource("jobs", "batch")),
        (kind("RayCluster", "ray.io"), resource("rayclusters", "ray.io")),
        (kind("Pod", "example.com"), resource("pods", "example.com")),
        (kind("Pod"), resource("podtemplates")),
        (kind("PodTemplate"), resource("pods")),
    ],
    ids=["Deployment", "Job", "custom", "another-Pod", "podtemplates", "PodTemplate"],
)
def test_o9_other_kinds_pass(
    webhook: Webhook, object_kind: dict[str, str], resources: dict[str, str]
) -> None:
    """Only Pods of core/v1 are ours, whatever a configuration sends us."""
    noop(webhook, {"spec": {"template": GPU}}, kind=object_kind, resource=resources)
    noop(webhook, GPU, kind=object_kind, resource=resources)


def test_o10_an_operation_of_the_future_passes(webhook: Webhook) -> None:
    """It is not ours to judge; the log names it."""
    noop(webhook, GPU, operation="FOO", uid="o10")
    line = raw.logged(webhook, "o10")
    assert (line["operation"], line["decision"]) == ("FOO", "ignored")


def test_o11_a_dry_run_is_answered_as_the_real_one(webhook: Webhook) -> None:
    """There is no effect outside the answer, so there is nothing to leave out."""
    assert patched(webhook, GPU, dryRun=True) == patched(webhook, GPU)
    webhook.ask(review(GPU, dryRun=True, uid="o11"))
    assert raw.logged(webhook, "o11")["dry_run"] is True


@pytest.mark.parametrize("namespace", ["berth-system", "kube-system"])
def test_o12_the_clusters_own_namespaces_pass(webhook: Webhook, namespace: str) -> None:
    """They are left alone also where a selector failed to keep them from us."""
    noop(webhook, GPU, namespace=namespace)
    noop(webhook, gpu_pod({"nvidia.com/gpu": "-1"}), namespace=namespace)


def test_o13_a_pod_can_opt_out(webhook: Webhook) -> None:
    """HAMi's label for it is honoured, with its one value."""
    label = "hami.io/webhook"
    noop(webhook, pod(container(limits=ONE), metadata={"labels": {label: "ignore"}}))
    patched(webhook, pod(container(limits=ONE), metadata={"labels": {label: "yes"}}))


def test_o14_server_side_apply_of_a_new_pod_is_a_creation(webhook: Webhook) -> None:
    """It comes as CREATE with CreateOptions that name a field manager."""
    options = {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "kubectl"}
    assert patched(webhook, GPU, options=options) == patched(webhook, GPU)


def test_o15_the_converted_kind_decides(webhook: Webhook) -> None:
    """What the user sent may have been converted for us: `kind` and `object` are what we read."""
    converted = {
        "requestKind": kind("Pod", "example.com", "v2"),
        "requestResource": resource("pods", "example.com", "v2"),
    }
    assert patched(webhook, GPU, **converted) == patched(webhook, GPU)
    noop(webhook, GPU, kind=kind("Pod", "example.com"), requestKind=kind("Pod"))


def test_m1_a_pod_without_name_is_logged_by_its_prefix(webhook: Webhook) -> None:
    """The API server ends a generateName after us, so the log shows what there is of it."""
    asked = GPU | {"metadata": {"generateName": "train-"}}
    patched(webhook, asked, name="", uid="m1")
    assert raw.logged(webhook, "m1")["pod"] == "train-*"
