"""The webhook configuration: what it lets through, how it is kept, how it goes."""

import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from tests import pods
from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.namespaces import own
from tests.e2e import conftest
from tests.e2e.api import Api
from tests.e2e.conftest import Register
from tests.webhook import Webhook
from tests.wire import raw

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
KINDS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
MERGE = "application/merge-patch+json"


def _web() -> dict[str, Any]:
    pod = pods.pod(pods.container("web", {"cpu": "100m"}))
    pod["metadata"] = {"generateName": "web-"}
    return pod


def _gpu(**limits: str) -> dict[str, Any]:
    pod = pods.gpu_pod(limits or {"nvidia.com/gpu": "1"})
    pod["metadata"] = {"generateName": "gpu-"}
    return pod


def test_the_stored_configuration_is_the_promised_one(api: Api, registered: Webhook) -> None:
    """CREATE of pods only, Fail, five seconds, IfNeeded, no side effects, both exclusions."""
    assert registered.process.poll() is None
    status, found = api.ask("GET", f"{CONFIGURATIONS}/berth")
    assert status == 200
    (webhook,) = found["webhooks"]
    assert webhook["rules"] == [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["pods"],
            "scope": "Namespaced",
        }
    ]
    chosen = ("failurePolicy", "timeoutSeconds", "reinvocationPolicy", "sideEffects")
    assert [webhook[key] for key in chosen] == ["Fail", 5, "IfNeeded", "None"]
    assert webhook["admissionReviewVersions"] == ["v1"]
    excluded = webhook["namespaceSelector"]["matchExpressions"][0]
    assert sorted(excluded["values"]) == ["berth-system", "kube-system"]
    assert webhook["objectSelector"]["matchExpressions"][0]["key"] == "hami.io/webhook"


def test_a_pod_without_a_device_never_calls_us(api: Api, registered: Webhook, space: str) -> None:
    """The API server's own match conditions keep other Pods away."""
    before = registered.reviews
    assert api.create(_web(), space, dry_run=True)[0] == 201
    assert registered.reviews == before


def test_our_outage_stops_pods_with_a_device_only(api: Api, register: Register, space: str) -> None:
    """With the server gone, a web Pod is created and a GPU Pod is not (bug report 37)."""
    with register() as running:
        running.process.send_signal(signal.SIGKILL)
        running.process.wait(10)
        assert api.create(_web(), space, dry_run=True)[0] == 201
        status, answer = api.create(_gpu(), space, dry_run=True)
        assert status == 500
        assert 'failed calling webhook "gpu.berth.dev"' in answer["message"]
    assert api.create(_gpu(), space, dry_run=True)[0] == 201


def test_a_configuration_that_someone_changed_is_put_right(api: Api, register: Register) -> None:
    """`--register` keeps the configuration, and does not just make it."""
    with register("--set", "registration.refreshSeconds=0.2"):
        path = f"{CONFIGURATIONS}/berth"
        wrong = [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]
        assert api.ask("PATCH", path, wrong, "application/json-patch+json")[0] == 200
        deadline = time.monotonic() + 20
        while api.ask("GET", path)[1]["webhooks"][0]["failurePolicy"] != "Fail":
            assert time.monotonic() < deadline


def test_unregister_removes_it_and_says_so(
    api: Api, register: Register, control_plane: ControlPlane
) -> None:
    """It takes both out; a second time there is nothing to take (bug report 37)."""
    command = [sys.executable, "-m", "berth", "unregister", "--kubeconfig"]
    command.append(str(control_plane.kubeconfig))
    with register():
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        assert done.stdout == "".join(f"{kind} berth removed\n" for kind in KINDS)
        assert api.ask("GET", f"{CONFIGURATIONS}/berth")[0] == 404
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "".join(f"{kind} berth was not there\n" for kind in KINDS)


def test_only_labelled_namespaces_where_so_set(
    api: Api, register: Register, control_plane: ControlPlane
) -> None:
    """The label hami-webhook/inject=enabled lets a namespace in."""
    # The registration's own wait needs a namespace that is let in: so switch it on afterwards.
    # What was let past the mutating half alone would be refused by the other.
    lenient = register("--set", "policy.undone=allow")
    with own(control_plane) as out, own(control_plane) as inside, lenient as running:
        assert running.process.poll() is None
        path = f"{CONFIGURATIONS}/berth"
        conftest.label(api, inside, {"hami-webhook/inject": "enabled"})
        manifests = subprocess.run(
            [
                *(sys.executable, "-m", "berth", "manifests"),
                *("--set", "registration.onlyLabelledNamespaces=true"),
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        wanted = list(yaml.safe_load_all(manifests))[-1]["webhooks"][0]["namespaceSelector"]
        change = [{"op": "replace", "path": "/webhooks/0/namespaceSelector", "value": wanted}]
        assert api.ask("PATCH", path, change, "application/json-patch+json")[0] == 200
        deadline = time.monotonic() + 20
        while _scheduler(api, out) != "default-scheduler":
            assert time.monotonic() < deadline
        assert _scheduler(api, inside) == "hami-scheduler"
        assert running.process.poll() is None


def _scheduler(api: Api, namespace: str) -> str:
    status, pod = api.create(_gpu(), namespace, dry_run=True)
    assert status == 201, pod
    name: str = pod["spec"]["schedulerName"]
    return name


def test_manifests_are_what_the_api_server_takes(kubectl: Kubectl) -> None:
    """Everything that `berth manifests` prints is valid, RBAC included."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "berth", "manifests"),
            # Beside the registration of the webhook that these tests share, which is by address.
            *("--set", "registration.namespace=default", "--set", "registration.name=printed"),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    applied = subprocess.run(
        [
            str(kubectl.plane.kubectl),
            f"--kubeconfig={kubectl.plane.kubeconfig}",
            *("apply", "--dry-run=server", "-f", "-"),
        ],
        input=done.stdout,
        check=False,
        capture_output=True,
        text=True,
    )
    assert applied.returncode == 0, applied.stderr
    kinds = [document["kind"] for document in yaml.safe_load_all(done.stdout)]
    assert tuple(kinds[:-3:-1]) == KINDS
    for kind in ("ClusterRole", "ServiceAccount", "Role", "Deployment", "Service"):
        assert kind in kinds


def test_many_conversions_are_taken_as_the_pages_say(kubectl: Kubectl, tmp_path: Path) -> None:
    """The copy that `kubectl apply` keeps has 256 KiB at most, which four conversions fill."""
    reads = ["hami", "plain", "kai"]
    each = [{"name": f"c{one}", "namespaces": [f"n{one}"], "reads": reads} for one in range(10)]
    settings = tmp_path / "settings.yaml"
    settings.write_text(yaml.safe_dump({"conversions": each}))
    command = [sys.executable, "-m", "berth", "manifests", "--config", str(settings)]
    ours = (f"registration.namespace={kubectl.namespace}", "registration.name=printed")
    command += [flag for one in ours for flag in ("--set", one)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    root = Path(__file__).parents[2]
    for page in ("README.md", "docs/how-to/beside-hami.md", "docs/how-to/upgrade.md"):
        said = re.findall(r"kubectl (apply .*)-f \w+\.yaml", (root / page).read_text())
        assert len(set(said)) == 1
        kubectl(*said[0].split(), "--dry-run=server", "-f", "-", input=printed)


def test_a_webhook_with_a_ca_of_its_own_is_trusted(
    api: Api, register: Register, space: str
) -> None:
    """Without certificate files, the API server learns of our CA from the configuration."""
    with register(own_ca=True):
        assert _scheduler(api, space) == "hami-scheduler"


def test_a_fresh_installation_costs_no_creation(
    register: Register, control_plane: ControlPlane, space: str
) -> None:
    """Pods with a device are made from before the first moment on, and each passes (bug report 43).

    As it is until the webhook is registered, rewritten from then on, and never refused between.
    """
    other, over, found = Api(control_plane), threading.Event(), list[str]()

    def create() -> None:
        while not over.wait(0.02):
            status, answer = other.create(_gpu(), space, dry_run=True)
            found.append(answer["spec"]["schedulerName"] if status == 201 else answer["message"])
        other.connection.close()

    with ThreadPoolExecutor(1) as pool:
        creating = pool.submit(create)
        try:
            with register(own_ca=True):
                assert raw.eventually(lambda: found.count("hami-scheduler") > 5, 30)
                over.set()
                creating.result(30)
        finally:
            over.set()
    first = found.index("hami-scheduler")
    assert set(found[:first]) <= {"default-scheduler"}
    assert set(found[first:]) == {"hami-scheduler"}


def test_a_pod_without_containers_is_refused_by_the_api_server_itself(
    api: Api, registered: Webhook, space: str
) -> None:
    """Our match conditions hold for what is malformed: the user reads Kubernetes' own words."""
    assert registered.process.poll() is None
    for spec in ({}, {"containers": None}):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
        status, answer = api.create(pod, space)
        assert (status, answer["reason"]) == (422, "Invalid")
        assert "spec.containers: Required value" in answer["message"]


def test_our_outage_does_not_stop_pods_that_are_not_ours(
    api: Api, register: Register, space: str
) -> None:
    """A Pod of another scheduler, or a mirror of a static Pod, never depends on us."""
    other = _gpu()
    other["spec"]["schedulerName"] = "volcano"
    mirror = _gpu()
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    mirror["spec"]["nodeName"] = "n1"
    annotated = _web()
    annotated["metadata"]["annotations"] = {"hami.io/gpu-scheduler-policy": "spread"}
    annotated["spec"]["schedulerName"] = "volcano"
    whole = {"limits": {"nvidia.com/gpu": "1"}}
    level = _web()
    level["spec"]["resources"] = whole
    with register() as running:
        running.process.send_signal(signal.SIGKILL)
        running.process.wait(10)
        for pod in (other, mirror, annotated):
            assert api.create(pod, space, dry_run=True)[0] == 201
        requests = _gpu()
        container = requests["spec"]["containers"][0]
        container["resources"] = {"requests": {"nvidia.com/gpu": "1"}}
        for pod in (requests, level, {**annotated, "spec": {**_web()["spec"]}}):
            status, answer = api.create(pod, space, dry_run=True)
            assert 'failed calling webhook "gpu.berth.dev"' in answer["message"], (status, pod)
