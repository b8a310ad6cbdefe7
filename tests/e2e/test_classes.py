"""Classes of a real cluster that a Pod depends on without its author, and what he hears of them."""

import json
from collections.abc import Iterator

import pytest

from tests.e2e.api import Api, Object
from tests.e2e.conftest import Register
from tests.pods import gpu_pod
from tests.wire import raw

RUNTIMES = "/apis/node.k8s.io/v1/runtimeclasses"
DEVICES = "/apis/resource.k8s.io/v1/deviceclasses"
GPU = "nvidia.com/gpu"
LACKS = "spec.runtimeClassName: berth-test is set here, and there is no such RuntimeClass"
MAPPED = f"spec.containers[0].resources.limits[{GPU}]: DeviceClass gpus.example.com maps it to cl"


@pytest.fixture(scope="module")
def classes(
    api: Api, register: Register, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Run a webhook that sets a RuntimeClass, which is there, and watches both kinds."""
    made = {"metadata": {"name": "berth-test"}, "handler": "nvidia"}
    assert api.ask("POST", RUNTIMES, made)[0] == 201
    config = tmp_path_factory.mktemp("config") / "device-config.yaml"
    config.write_text(json.dumps({"nvidia": {"runtimeClassName": "berth-test"}}))
    flags = ("--set", "classes.runtime=true", "--set", "classes.device=true")
    with register("--device-config", str(config), *flags):
        yield
    api.ask("DELETE", f"{RUNTIMES}/berth-test")
    api.ask("DELETE", f"{DEVICES}/gpus.example.com")


def tried(api: Api, space: str) -> tuple[int, Object, str]:
    """Return what comes of a Pod, and the warnings to its author."""
    pod = gpu_pod({GPU: "1"})
    del pod["metadata"]["namespace"]
    status, answer = api.create(pod, space, dry_run=True)
    return status, answer, "\n".join(api.warnings)


@pytest.mark.usefixtures("classes")
def test_a_runtime_class_that_is_set_and_not_there_is_told_beside_the_refusal(
    api: Api, space: str
) -> None:
    """Bug report 35: the API server refuses what nobody wrote; the warning says that we did."""
    status, answer, warnings = tried(api, space)
    assert (status, "RuntimeClass" in warnings) == (201, False), answer
    assert api.ask("DELETE", f"{RUNTIMES}/berth-test")[0] == 200
    assert raw.eventually(lambda: LACKS in tried(api, space)[2])
    assert raw.eventually(lambda: tried(api, space)[0] == 403)
    status, answer, warnings = tried(api, space)
    assert (status, LACKS in warnings) == (403, True)
    assert 'RuntimeClass "berth-test" not found' in answer["message"]
    made = {"metadata": {"name": "berth-test"}, "handler": "nvidia"}
    assert api.ask("POST", RUNTIMES, made)[0] == 201
    assert raw.eventually(lambda: LACKS not in tried(api, space)[2])


@pytest.mark.usefixtures("classes")
def test_a_device_class_that_maps_the_resource_is_told(api: Api, space: str) -> None:
    """Bug report 76, KEP-5004: with DRA, the scheduler makes a claim of the same request."""
    assert MAPPED not in tried(api, space)[2]
    spec = {"extendedResourceName": GPU, "selectors": [{"cel": {"expression": "true"}}]}
    made = {"metadata": {"name": "gpus.example.com"}, "spec": spec}
    status, answer = api.ask("POST", DEVICES, made)
    assert (status, answer["spec"].get("extendedResourceName")) == (201, GPU), answer
    assert raw.eventually(lambda: MAPPED in tried(api, space)[2])
    assert api.ask("DELETE", f"{DEVICES}/gpus.example.com")[0] == 200
    assert raw.eventually(lambda: MAPPED not in tried(api, space)[2])
