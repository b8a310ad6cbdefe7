"""A new configuration on a real API server: what is registered follows what is in use."""

from functools import partial
from pathlib import Path

import yaml

from tests import pods
from tests.cluster.kubectl import Kubectl
from tests.e2e.api import Api
from tests.e2e.conftest import Register
from tests.wire import raw

CARD = pods.gpu_pod({"example.com/card": "1"})
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/berth"


def test_a_new_resource_name_is_registered_and_served(
    api: Api, register: Register, space: str, tmp_path: Path
) -> None:
    """Without a restart: first nobody asks us about such a Pod, then it comes back rewritten."""
    devices = tmp_path / "device-config.yaml"
    devices.write_text("nvidia: {resourceCountName: nvidia.com/gpu}")
    pod = {**CARD, "metadata": {"name": "card"}}
    with register("--device-config", str(devices), "--set", "reload.everySeconds=0.5"):
        status, created = api.create(pod, space, dry_run=True)
        assert (status, created["spec"]["schedulerName"]) == (201, "default-scheduler")
        devices.write_text("nvidia: {resourceCountName: example.com/card}")

        def rewritten() -> bool:
            _, created = api.create(pod, space, dry_run=True)
            return bool(created["spec"]["schedulerName"] == "hami-scheduler")

        assert raw.eventually(rewritten, within=30)
        _, stored = api.ask("GET", CONFIGURATION)
        conditions = stored["webhooks"][0]["matchConditions"]
        (named,) = (one["expression"] for one in conditions if one["name"] == "names-a-device")
        assert "example.com/card" in named
        assert 'nvidia.com/gpu"' not in named


def test_what_kubectl_applied_goes_with_its_settings(
    api: Api, register: Register, kubectl: Kubectl, tmp_path: Path
) -> None:
    """A conversion that the settings lose loses its entries, and Pods of its namespace are made."""
    file, namespace = tmp_path / "settings.yaml", kubectl.namespace
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"})
    pod["metadata"] = {"name": "card"}
    gone = {"name": "gone", "namespaces": [namespace], "reads": ["hami"], "writes": "volcano"}
    file.write_text(yaml.safe_dump({"conversions": [gone]}))

    def scheduler() -> str:
        created = api.create(pod, namespace, dry_run=True)[1]
        return str(created.get("spec", {}).get("schedulerName"))

    with register("--config", str(file), "--set", "reload.everySeconds=0.5"):
        assert scheduler() == "volcano"
        for kind in ("mutatingwebhookconfiguration", "validatingwebhookconfiguration"):
            found = yaml.safe_load(kubectl("get", kind, "berth", "-o", "yaml").stdout)
            for entry in found["webhooks"]:
                del entry["clientConfig"]["caBundle"]  # what `berth manifests` prints has none
            found["metadata"] = {"name": found["metadata"]["name"]}
            kubectl("apply", "-f", "-", input=yaml.safe_dump(found))
        file.write_text("{}")
        assert raw.eventually(lambda: len(api.ask("GET", CONFIGURATION)[1]["webhooks"]) == 1, 20)
        assert raw.eventually(lambda: scheduler() == "hami-scheduler", 20)


def test_where_it_is_registered_waits_for_a_new_process(
    api: Api, register: Register, tmp_path: Path
) -> None:
    """By which name the API server calls is what the certificate was made for; the rest is taken.

    A second configuration under another name would outlive the one that we keep.
    """
    file = tmp_path / "settings.yaml"
    file.write_text("{}")
    quick = ("--set", "reload.everySeconds=0.5", "--set", "log.level=debug")
    with register("--config", str(file), *quick) as running:
        file.write_text("registration: {name: another, service: another, timeoutSeconds: 7}")

        def taken() -> bool:
            _, stored = api.ask("GET", CONFIGURATION)
            return bool(stored["webhooks"][0]["timeoutSeconds"] == 7)

        try:
            assert raw.eventually(taken, within=30)
            assert api.ask("GET", CONFIGURATION.replace("/berth", "/another"))[0] == 404
            ready = running.operator("/readyz").body
            assert b"needed for registration.name, registration.service" in ready
            applied = partial(running.figure, "berth_registrations_total", result="ok")
            assert raw.eventually(lambda: applied() >= 2)
            events = {line["event"] for line in running.log}
            assert not [event for event in events if " " in event], "libraries have no say in it"
        finally:
            api.ask("DELETE", CONFIGURATION.replace("/berth", "/another"))
