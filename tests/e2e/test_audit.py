"""A namespace on trial on the real API server, and the day on which the trial ends."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import pods, webhook
from tests.cluster.controlplane import ControlPlane
from tests.cluster.namespaces import own
from tests.e2e import conftest, guarded
from tests.e2e.api import Api
from tests.e2e.conftest import Register
from tests.e2e.recorded import NODE, gpu, web
from tests.wire import raw

LABEL = {"berth.dev/mode": "audit"}
SERVED = {"hami-webhook/inject": "enabled"}
"""What `guarded.printed` limits the backstop to."""
NOTHING_LEFT = {"metadata": {"name": "none"}, "spec": {"hard": {"limits.nvidia.com/gpumem": "0"}}}
LIBRARY = {"name": "library", "env": [{"name": "LD_PRELOAD", "value": "/opt/ours.so"}]}


@dataclass(frozen=True)
class Trial:
    """A webhook with the backstop beside it: two namespaces on trial, and one that is served."""

    running: webhook.Webhook
    file: Path
    named: str
    labelled: str
    served: str


def _write(file: Path, *namespaces: str) -> None:
    audit = {"namespaces": [*namespaces], "namespaceLabel": "berth.dev/mode=audit"}
    registration = {"workloads": True}
    tree = {"audit": audit, "injections": [LIBRARY], "registration": registration}
    file.write_text(json.dumps(tree))


@pytest.fixture(scope="module")
def trial(
    control_plane: ControlPlane,
    api: Api,
    register: Register,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Trial]:
    """Give the trial."""
    file = tmp_path_factory.mktemp("audit") / "settings.yaml"
    with ExitStack() as stack:
        named, labelled, served = (stack.enter_context(own(control_plane)) for _ in range(3))
        for namespace, more in ((named, {}), (labelled, LABEL), (served, {})):
            conftest.label(api, namespace, {**SERVED, **more})
        _write(file, named)
        policy = guarded.printed("--config", str(file), name="audited")
        stack.enter_context(guarded.stored(api, *policy))
        flags = ("--config", str(file), "--set", "reload.everySeconds=0.5")
        running = stack.enter_context(register(*flags))
        yield Trial(running, file, named, labelled, served)


@pytest.fixture(params=["named", "labelled"])
def tried(trial: Trial, request: pytest.FixtureRequest) -> str:
    """Give each namespace on trial."""
    name: str = getattr(trial, request.param)
    return name


def _wrong(name: str) -> dict[str, Any]:
    """Return a Pod that the API server takes and Berth does not: 16Gi is no number of MiB."""
    pod = pods.gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "16Gi"})
    pod["metadata"] = {"name": name}
    return pod


def _last(trial: Trial, namespace: str, path: str) -> dict[str, Any]:
    """Return the last log line about a namespace."""
    lines = trial.running.logged("admission.reviewed")
    return [one for one in lines if (one["namespace"], one["path"]) == (namespace, path)][-1]


def test_nothing_is_done_and_all_of_it_is_told(trial: Trial, tried: str, api: Api) -> None:
    """The Pod is stored as it came; the log, a metric and a warning say what was meant."""
    before = trial.running.figure("berth_audited_total", outcome="patched")
    stored = api.stored(gpu("tried"), tried)
    assert stored["spec"]["schedulerName"] == "default-scheduler"
    assert "annotations" not in stored["metadata"]
    assert "env" not in stored["spec"]["containers"][0], "nor is anything injected"
    line = _last(trial, tried, "/audit/mutate")
    assert (line["decision"], line["would"]) == ("audited", "patched")
    assert "/spec/schedulerName" in [operation["path"] for operation in line["patch"]]
    assert trial.running.figure("berth_audited_total", outcome="patched") > before
    _, created = api.create(gpu("again"), tried, dry_run=True)
    told = " ".join(api.warnings)
    assert "audit: this Pod would be changed, and is stored as it came" in told
    assert "spec.schedulerName: only HAMi's scheduler" in told
    assert "injection library of the settings" in told
    assert created["spec"]["schedulerName"] == "default-scheduler"


def test_nothing_is_refused(trial: Trial, tried: str, api: Api) -> None:
    """Neither a mistake, nor a forged record, nor one that is written later; each is told."""
    wrong = _wrong("wrong")
    assert api.create(wrong, trial.served)[0] == 422, "as it is where it is enforced"
    assert api.create(wrong, tried)[0] == 201
    assert "write 16384 if 16Gi is meant" in " ".join(api.warnings)
    assert _last(trial, tried, "/audit/mutate")["codes"] == ["too-large"]
    for pod in (web("forged", annotations={NODE: "n1"}), gpu("taken", annotations={NODE: "n1"})):
        assert api.create(pod, trial.served)[0] == 403
        assert api.create(pod, tried)[0] == 201
        assert f"metadata.annotations[{NODE}]" in " ".join(api.warnings)
    path = f"/api/v1/namespaces/{tried}/pods/wrong"
    later = {"metadata": {"annotations": {NODE: "n2"}}}
    assert api.ask("PATCH", path, later, "application/merge-patch+json")[0] == 200
    assert "audit: this would be refused, and is let through" in " ".join(api.warnings)


def test_a_quota_is_told_of_and_not_claimed(trial: Trial, api: Api) -> None:
    """The sum is made as ever; nothing waits for a Pod that we did not let in."""
    path = f"/api/v1/namespaces/{trial.named}/resourcequotas"
    assert api.ask("POST", path, NOTHING_LEFT)[0] == 201

    def told() -> bool:
        status, _ = api.create(gpu("limited"), trial.named, dry_run=True)
        told = " ".join(json.loads(f'"{one[7:-1]}"') for one in api.warnings)
        return status == 201 and "and ResourceQuota none allows 0 MiB" in told.replace("… ", "")

    assert raw.eventually(told)
    assert api.create(gpu("limited"), trial.named)[0] == 201
    assert trial.running.figure("berth_quota_claims") == 0
    assert api.ask("DELETE", f"{path}/none")[0] == 200


def test_a_workload_is_warned_about_as_its_pods_fare(trial: Trial, tried: str, api: Api) -> None:
    """Its Pods would be refused, and are not."""
    template = {"metadata": {"labels": {"app": "a"}}, "spec": _wrong("wrong")["spec"]}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "a"}}, "template": template}
    for namespace, fate in ((tried, "would be refused, but for audit"), (trial.served, "will be")):
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments?dryRun=All"
        status, answer = api.ask("POST", path, {"metadata": {"name": "a"}, "spec": spec})
        assert status == 201, answer
        assert f"its Pods {fate}" in " ".join(api.warnings)


def test_from_audit_to_enforce(trial: Trial, api: Api) -> None:
    """By a change of the settings or the label: the next Pod is rewritten, a wrong one refused."""
    _write(trial.file)
    unlabel = {"metadata": {"labels": {"berth.dev/mode": None}}}
    path = f"/api/v1/namespaces/{trial.labelled}"
    assert api.ask("PATCH", path, unlabel, "application/merge-patch+json")[0] == 200
    for number, namespace in enumerate((trial.named, trial.labelled)):
        assert raw.eventually(partial(_rewritten, api, namespace), within=30)
        stored = api.stored(gpu(f"enforced-{number}"), namespace)
        assert stored["spec"]["schedulerName"] == "hami-scheduler"
        assert "berth.dev/original-request" in stored["metadata"]["annotations"]
        (variable,) = stored["spec"]["containers"][0]["env"]
        assert variable == {"name": "LD_PRELOAD", "value": "/opt/ours.so"}
        assert api.create(_wrong("wrong-now"), namespace)[0] == 422
    _write(trial.file, trial.named)

    def registered() -> bool:
        """Both configurations: the API server may hear of one before the other."""
        before = len(trial.running.logged("admission.reviewed"))
        assert api.create(gpu("probe"), trial.named, dry_run=True)[0] == 201
        asked = {line["path"] for line in trial.running.logged("admission.reviewed")[before:]}
        return asked >= {"/audit/mutate", "/audit/validate"} and asked.isdisjoint(
            {"/mutate", "/validate"}
        )

    assert raw.eventually(registered, within=30), "and back"


def _rewritten(api: Api, namespace: str) -> bool:
    status, created = api.create(gpu("probe"), namespace, dry_run=True)
    assert status == 201, created
    return bool(created["spec"]["schedulerName"] == "hami-scheduler")


def test_our_outage_is_none_in_audit(trial: Trial, control_plane: ControlPlane, api: Api) -> None:
    """With failurePolicy Fail and the webhook gone, and then with the backstop alone.

    This is the last test of the trial, as it ends it.
    """
    trial.running.process.kill()
    trial.running.process.wait(10)
    assert api.create(gpu("down"), trial.served, dry_run=True)[0] == 500
    assert api.create(gpu("down"), trial.named)[0] == 201
    known = ("--kubeconfig", str(control_plane.kubeconfig))
    subprocess.run([sys.executable, "-m", "berth", "unregister", *known], check=True)

    def refused() -> bool:
        _, answer = api.create(gpu("gone"), trial.served, dry_run=True)
        return guarded.SAID in answer.get("message", "")

    guarded.eventually(refused)
    assert api.create(gpu("gone"), trial.named)[0] == 201
