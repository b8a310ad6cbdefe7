"""Quotas of devices on a real API server: who passes, who is told what, and what is free again."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from berth import names
from berth.admission.standing import marked
from tests.cluster.controlplane import ControlPlane
from tests.e2e.api import Api, Object
from tests.e2e.conftest import Register
from tests.pods import gpu_pod
from tests.quotas import carrying
from tests.webhook import Webhook

DEVICE_CONFIG = Path(__file__).parents[1] / "data/device-config.yaml"
GPU, MEMORY = "nvidia.com/gpu", "nvidia.com/gpumem"
CLAIM_SECONDS = 2
MERGE = "application/merge-patch+json"
INJECTION = "injections: [{name: again, annotations: {example.com/changed: 'yes'}}]"


@pytest.fixture(scope="module")
def counting(register: Register) -> Iterator[Webhook]:
    """Give a webhook that keeps count, with all accelerators, and short claims."""
    seconds = f"quota.claimSeconds={CLAIM_SECONDS}"
    with register("--device-config", str(DEVICE_CONFIG), "--set", seconds) as running:
        yield running


def asking(limits: dict[str, str] | None = None, name: str = "") -> Object:
    """Return a Pod that no node will ever run."""
    pod = gpu_pod(limits or {GPU: "1", MEMORY: "1000"})
    pod["metadata"] = {"name": name} if name else {"generateName": "gpu-"}
    return pod


def limited(api: Api, namespace: str, hard: dict[str, str], known_by: dict[str, str]) -> None:
    """Limit a namespace, and wait until Berth marks a Pod with `known_by`, or refuses it."""
    quota = {"metadata": {"name": "gpu"}, "spec": {"hard": hard}}
    status, made = api.ask("POST", f"/api/v1/namespaces/{namespace}/resourcequotas", quota)
    assert status == 201, made

    def known() -> bool:
        status, answer = api.create(asking(known_by), namespace, dry_run=True)
        return status == 403 or mark(answer) is not None

    eventually(known)


def mark(pod: Object) -> str | None:
    """Return the id of the decision in a Pod."""
    return marked(pod) or None


def eventually(true: Callable[[], object], seconds: float = 20) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def stored(api: Api, namespace: str) -> list[Object]:
    """Return the Pods of a namespace."""
    found: list[Object] = api.ask("GET", f"/api/v1/namespaces/{namespace}/pods")[1]["items"]
    return found


# These two run webhooks of their own, before the one that the others share.
def test_a_replica_that_starts_counts_what_is_there(
    api: Api, register: Register, namespace: str
) -> None:
    """It is not ready before it has read the first lists; then its figures show the watches."""
    quota = {"metadata": {"name": "gpu"}, "spec": {"hard": {f"limits.{MEMORY}": "1000"}}}
    assert api.ask("POST", f"/api/v1/namespaces/{namespace}/resourcequotas", quota)[0] == 201
    assert api.create(asking(), namespace)[0] == 201, "no webhook is there"
    pod = stored(api, namespace)[0]
    assert pod["spec"]["schedulerName"] == "default-scheduler"
    with register() as running:
        eventually(lambda: running.ask(path="/readyz", method="GET").status == 200)
        status, refused = api.create(asking(), namespace)
        assert status == 403, refused
        for resource in ("pods", "resourcequotas"):
            assert running.figure("berth_watch_objects", resource=resource) >= 1
            assert running.figure("berth_watch_staleness_seconds", resource=resource) < 90
            assert running.figure("berth_watch_errors_total", resource=resource) == 0


def test_a_second_call_for_one_creation_claims_once(
    api: Api, register: Register, namespace: str, tmp_path: Path
) -> None:
    """An injection changes the Pod after us, so the API server calls us again."""
    config = tmp_path / "settings.yaml"
    config.write_text(INJECTION)
    with register("--config", str(config)) as running:
        limited(api, namespace, {f"limits.{MEMORY}": "1000"}, {MEMORY: "1"})
        eventually(lambda: len(running.logged("admission.reviewed")) == running.reviews)
        before = len(running.logged("admission.reviewed"))
        status, made = api.create(asking(), namespace)
        assert status == 201, made

        def said() -> list[str]:
            return [one["decision"] for one in running.logged("admission.reviewed")[before:]]

        # /mutate, /inject and /mutate again; whether /validate is asked yet does not matter.
        eventually(lambda: said()[:3] == ["patched", "patched", "unchanged"])
        assert api.create(asking(), namespace)[0] == 403


CHIP = "huawei.com/Ascend910B2"
VENDORS: dict[str, tuple[dict[str, str], dict[str, str], tuple[str, str]]] = {
    # what each of two Pods asks for, the quota, what the first uses, and the quota in words
    "NVIDIA": ({GPU: "2", MEMORY: "4096"}, {MEMORY: "10000"}, ("8192 MiB", "10000 MiB")),
    "Cambricon, units of 256 MiB": (
        {"cambricon.com/vmlu": "1", "cambricon.com/mlu.smlu.vmemory": "40"},
        {"cambricon.com/mlu.smlu.vmemory": "60"},
        ("10240 MiB", "15360 MiB"),
    ),
    "Hygon, by cores": (
        {"hygon.com/dcunum": "1", "hygon.com/dcumem": "1000", "hygon.com/dcucores": "60"},
        {"hygon.com/dcucores": "100"},
        ("60", "100"),
    ),
    "Ascend, as the chip is cut": (
        {CHIP: "1", f"{CHIP}-memory": "10000"},
        {f"{CHIP}-memory": "20000"},
        ("16384 MiB", "20000 MiB"),
    ),
}


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize(("asks", "hard", "numbers"), VENDORS.values(), ids=VENDORS)
def test_a_quota_that_is_used_up_refuses_and_says_the_numbers(
    api: Api, namespace: str, asks: dict[str, str], hard: dict[str, str], numbers: tuple[str, str]
) -> None:
    """Used, asked and limit, for each vendor in its units; 403, as only this cluster forbids it."""
    (resource,) = hard
    limited(api, namespace, {f"limits.{resource}": hard[resource]}, asks)
    assert api.create(asking(asks), namespace)[0] == 201
    status, refused = api.create(asking(asks), namespace)
    assert status == 403, refused
    used, most = numbers
    assert (
        f"namespace {namespace} uses {used}, this Pod asks for {used} more, "
        f"and ResourceQuota gpu allows {most} (limits.{resource}); " in refused["message"]
    )


def test_of_fifty_pods_at_once_exactly_ten_are_stored(
    api: Api, control_plane: ControlPlane, counting: Webhook, namespace: str
) -> None:
    """Ten clients, five Pods each: not one too many, and not one too few."""
    limited(api, namespace, {f"limits.{MEMORY}": "10k"}, {MEMORY: "1"})

    def client(_number: int) -> list[int]:
        own = Api(control_plane)
        try:
            return [own.create(asking(), namespace)[0] for _ in range(5)]
        finally:
            own.connection.close()

    with ThreadPoolExecutor(10) as clients:
        answers = [status for statuses in clients.map(client, range(10)) for status in statuses]
    assert sorted(answers) == [201] * 10 + [403] * 40
    pods = stored(api, namespace)
    assert len(pods) == 10
    assert len({mark(pod) for pod in pods} - {None}) == 10
    eventually(lambda: counting.figure("berth_quota_claims") == 0)


def test_a_dry_run_claims_nothing(api: Api, counting: Webhook, namespace: str) -> None:
    """It is answered as the real thing would be, as often as one likes."""
    limited(api, namespace, {f"limits.{MEMORY}": "1000"}, {MEMORY: "1"})
    for _ in range(5):
        assert api.create(asking(), namespace, dry_run=True)[0] == 201
    assert counting.figure("berth_quota_claims") == 0
    assert api.create(asking(), namespace)[0] == 201
    assert api.create(asking(), namespace, dry_run=True)[0] == 403


@pytest.mark.usefixtures("counting")
def test_what_is_deleted_or_has_ended_is_free(api: Api, namespace: str) -> None:
    """As soon as the watch tells of it."""
    limited(api, namespace, {f"limits.{MEMORY}": "1000"}, {MEMORY: "1"})
    path = f"/api/v1/namespaces/{namespace}/pods"
    assert api.create(asking(name="first"), namespace)[0] == 201
    assert api.create(asking(), namespace)[0] == 403
    api.ask("DELETE", f"{path}/first?gracePeriodSeconds=0")
    eventually(lambda: api.create(asking(name="second"), namespace)[0] == 201)
    assert api.create(asking(), namespace)[0] == 403
    done = {"status": {"phase": "Succeeded"}}
    assert api.ask("PATCH", f"{path}/second/status", done, MERGE)[0] == 200
    eventually(lambda: api.create(asking(name="third"), namespace)[0] == 201)


def test_a_pod_that_another_admission_refuses_gives_back_after_its_time(
    api: Api, counting: Webhook, namespace: str
) -> None:
    """Kubernetes' own quota on Pods is judged after us, and nobody tells us of it."""
    limited(api, namespace, {f"limits.{MEMORY}": "1000", "pods": "0"}, {MEMORY: "1"})
    began = time.monotonic()
    status, refused = api.create(asking(), namespace)
    assert status == 403
    assert "exceeded quota: gpu, requested: pods=1" in refused["message"]
    assert "uses 1000 MiB" in api.create(asking(), namespace)[1]["message"]
    assert counting.figure("berth_quota_claims") == 1
    eventually(
        lambda: "exceeded quota" in api.create(asking(), namespace, dry_run=True)[1]["message"]
    )
    assert time.monotonic() - began >= CLAIM_SECONDS


@pytest.mark.usefixtures("counting")
def test_pods_of_a_template_with_a_copied_id_count_each(api: Api, namespace: str) -> None:
    """A ReplicaSet made of a stored Pod, id and all: as many Pods as the quota allows."""
    limited(api, namespace, {f"limits.{MEMORY}": "3000"}, {MEMORY: "1"})
    copied = "0123456789abcdef"
    template = asking()
    labels = {"app": "copies"}
    template["metadata"] = {"labels": labels, "annotations": {names.DECISION: carrying(copied)}}
    replicas = {
        "metadata": {"name": "copies"},
        "spec": {
            "replicas": 6,
            "selector": {"matchLabels": labels},
            "template": {"metadata": template["metadata"], "spec": template["spec"]},
        },
    }
    path = f"/apis/apps/v1/namespaces/{namespace}/replicasets"
    assert api.ask("POST", path, replicas)[0] == 201

    def refused() -> bool:
        found = api.ask("GET", f"{path}/copies")[1]["status"]
        return any(one["reason"] == "FailedCreate" for one in found.get("conditions", ()))

    eventually(lambda: refused() and len(stored(api, namespace)) == 3)
    marks = {mark(pod) for pod in stored(api, namespace)}
    assert len(marks) == 3
    assert not marks & {None, copied}
    assert api.create(asking(), namespace)[0] == 403
