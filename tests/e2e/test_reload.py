"""A new configuration on a real API server: what is registered follows what is in use."""

from pathlib import Path

from tests import pods
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
