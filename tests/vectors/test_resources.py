"""Vectors R1 to R22: what a container asks for, and what is made of it."""

from pathlib import Path
from typing import Any

import pytest

from berth.settings import Conversion
from tests.pods import Pod, container, gpu_pod, pod
from tests.vectors import laws

GPU = {"nvidia.com/gpu": "1"}
WHOLE = {"nvidia.com/gpu": "1", "nvidia.com/gpucores": "100"}


def resources(outcome: laws.Outcome, index: int = 0) -> dict[str, Any]:
    """Return the resources of an app container, without what `sown` put there."""
    found: dict[str, Any] = outcome.pod["spec"]["containers"][index]["resources"]
    return {key: value for key, value in found.items() if key != laws.FUTURE}


def asking(**resources: Any) -> Pod:
    """Return a Pod whose one container has exactly these resources."""
    return pod(container() | {"resources": resources})


def test_r1_limits_and_requests_are_completed_alike() -> None:
    """What is added to the limits is added to the requests in the same patch."""
    outcome = laws.patched(asking(limits=GPU, requests=GPU))
    assert resources(outcome) == {"limits": WHOLE, "requests": WHOLE}


def test_r2_limits_alone_stay_valid_after_defaulting() -> None:
    """Requests that lack are kube-apiserver's to default, and ours do not get in its way."""
    outcome = laws.patched(asking(limits=GPU))
    assert resources(outcome)["limits"] == WHOLE
    assert laws.defaulted(outcome.pod)["spec"]["containers"][0]["resources"]["requests"] == WHOLE


VOLCANO = laws.rules(
    conversions=(Conversion(name="v", namespaces=("*",), reads=("hami", "volcano", "pool")),)
)
RENAMED = {"volcano.sh/vgpu-number": "1"}


def test_r1_a_gpu_is_renamed_in_one_patch() -> None:
    """The old name goes from limits and requests, the new one comes to both."""
    outcome = laws.ask(asking(limits=GPU, requests=GPU), laws.deciding(VOLCANO))
    assert resources(outcome) == {"limits": RENAMED, "requests": RENAMED}
    laws.holds(asking(limits=GPU, requests=GPU), outcome.response, outcome.decision)
    again = laws.ask(outcome.pod, laws.deciding(VOLCANO))
    assert not laws.decoded(again.response)


def test_r2_limits_alone_are_renamed() -> None:
    """Nothing is removed that is not there, and the result is valid after defaulting."""
    outcome = laws.ask(asking(limits=GPU), laws.deciding(VOLCANO))
    laws.holds(asking(limits=GPU), outcome.response, outcome.decision)
    found = laws.defaulted(outcome.pod)["spec"]["containers"][0]["resources"]
    assert found == {"limits": RENAMED, "requests": RENAMED}


def test_r11_two_dialects_in_one_container_are_refused() -> None:
    """By name; where only one of the two is read, the other is none of our business."""
    asked = gpu_pod(GPU | RENAMED)
    message = laws.refused(asked, 422, laws.deciding(VOLCANO))
    assert "the dialects hami and volcano at once" in message
    assert laws.ask(asked).response["allowed"] is True


def test_r15_a_rename_leaves_no_empty_map() -> None:
    """Where the only resource is renamed, its successor stands in the same map."""
    outcome = laws.ask(gpu_pod({"hami.io/vgpu-memory": "1Gi"}), laws.deciding(VOLCANO))
    wanted = RENAMED | {"volcano.sh/vgpu-memory": "1024"}
    assert resources(outcome) == {"limits": wanted, "requests": wanted}


def test_r3_a_request_without_limit_is_refused() -> None:
    """Kubernetes refuses it for devices, and a patch would hide that."""
    message = laws.refused(asking(requests=GPU), 422)
    assert "spec.containers[0].resources.requests[nvidia.com/gpu]" in message
    assert "write nvidia.com/gpu: 1 under limits" in message


def test_r4_a_request_that_differs_from_its_limit_is_refused() -> None:
    """Devices cannot be overcommitted, and nobody can know which of the two was meant."""
    message = laws.refused(asking(limits={"nvidia.com/gpu": "2"}, requests=GPU), 422)
    assert "1 differs from the limit 2" in message


@pytest.mark.parametrize("amount", ["0.5", "500m", "1.5", "1n", ".5", "15e-1"])
@pytest.mark.parametrize("name", ["gpu", "gpumem", "gpumem-percentage", "gpucores", "priority"])
def test_r5_fractions_are_refused(name: str, amount: str) -> None:
    """Extended resources are whole numbers."""
    asked = GPU | {f"nvidia.com/{name}": amount}
    message = laws.refused(gpu_pod(asked), 422)
    assert f"limits[nvidia.com/{name}]: " in message
    assert "is not a whole number" in message


@pytest.mark.parametrize(
    "amount", ["1k", "1e3", "1Ki", "1000m", "+1", "1.0", "1.", "0.1e1", "01", " 1", "1 "]
)
def test_r6_the_grammar_of_quantities_is_read(amount: str) -> None:
    """Whatever Kubernetes reads as a whole number counts as that number, and its text stays.

    The API server takes spaces around it, which one would not think.
    """
    outcome = laws.patched(gpu_pod({"nvidia.com/gpu": amount}))
    expected = {"nvidia.com/gpu": amount, "nvidia.com/gpucores": "100"}
    assert resources(outcome) == {"limits": expected, "requests": expected}


@pytest.mark.parametrize(
    "amount",
    [
        " ",
        "",
        "\uff11",
        "1_0",
        "0x1",
        "1kk",
        "1e",
        "e3",
        "--1",
        "1,0",
        "1ki",
        "1 Ki",
        "NaN",
        "abc",
    ],
)
def test_r6_what_is_no_quantity_is_refused(amount: str) -> None:
    """A text outside the grammar is an error, not a zero."""
    message = laws.refused(gpu_pod({"nvidia.com/gpu": amount}), 422)
    assert repr(amount) in message
    assert "write a whole number from 0 to 1024" in message


@pytest.mark.parametrize("amount", ["1k", "1e3", "1000", "1000000m"])
def test_r6_amounts_are_compared_by_value(amount: str) -> None:
    """A request that says the limit in another way is equal to it."""
    limits = GPU | {"nvidia.com/gpumem": amount}
    outcome = laws.ask(asking(limits=limits, requests=limits | {"nvidia.com/gpumem": "1k"}))
    assert outcome.response["allowed"] is True


@pytest.mark.parametrize("amount", ["-1", -2, "-1k", "-0.5"])
def test_r7_negative_amounts_are_refused(amount: object) -> None:
    """Less than nothing cannot be asked for."""
    assert f"{amount} is negative" in laws.refused(gpu_pod({"nvidia.com/gpu": amount}), 422)


@pytest.mark.parametrize("amount", ["0", 0.0, "0m", "-0", "0Ki", None])
def test_r8_zero_is_not_a_request(amount: object) -> None:
    """Helm charts write 0 for "off", or nothing at all, which the API server stores as 0."""
    laws.untouched(gpu_pod({"nvidia.com/gpu": amount}))


@pytest.mark.parametrize("amount", [1, 1.0])
def test_r9_a_json_number_is_read_as_its_text(amount: float) -> None:
    """Raw manifests carry numbers, where kube-apiserver sends text."""
    outcome = laws.patched(asking(limits={"nvidia.com/gpu": amount}))
    assert resources(outcome)["limits"] == {"nvidia.com/gpu": amount, "nvidia.com/gpucores": "100"}


@pytest.mark.parametrize(
    "amount",
    [
        "9223372036854775808",
        2**63 + 1,
        2**64,
        "1" + "0" * 60,
        "8Ei",
        "1E",
        "1e300",
        1e301,
        "2147483648",
    ],
)
@pytest.mark.parametrize("name", ["gpu", "gpumem", "priority"])
def test_r10_what_no_node_has_is_refused(name: str, amount: object) -> None:
    """Numbers beyond 64 bits are read exactly and refused, with no overflow."""
    message = laws.refused(gpu_pod(GPU | {f"nvidia.com/{name}": amount}), 422)
    assert f"limits[nvidia.com/{name}]" in message


@pytest.mark.parametrize("name", ["gpu", "NVIDIA.com/gpu", "nvidia.com/GPU", "nvidia/gpu"])
def test_r12_a_misspelt_name_is_left_to_the_api_server(name: str) -> None:
    """Resource names are case-sensitive; one that we do not know is none of our business."""
    laws.untouched(gpu_pod({name: "1"}))


@pytest.mark.parametrize(
    "name",
    ["nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared", "nvidia.com/gpux", "example.com/gpu"],
)
def test_r13_names_that_only_look_alike_are_left_alone(name: str) -> None:
    """Names are compared whole, never by their beginning."""
    laws.untouched(gpu_pod({name: "1"}))


@pytest.mark.parametrize("lacking", [{}, {"requests": None}, {"requests": {}}])
def test_r14_lacking_parents_are_made_once(lacking: Pod) -> None:
    """The first key makes the map, and the second is added to it."""
    outcome = laws.patched(asking(limits={"nvidia.com/gpumem-percentage": "100"}, **lacking))
    assert resources(outcome)["requests"] == WHOLE
    assert resources(outcome)["limits"] == {"nvidia.com/gpumem-percentage": "100"} | WHOLE


@pytest.mark.parametrize("other", [{}, {"resources": {}}, {"resources": None}])
def test_r14_containers_without_resources_stay_so(other: Pod) -> None:
    """A container that asks for nothing is not given empty maps."""
    plain = {"name": "plain", "image": "registry.example/app:1"} | other
    outcome = laws.patched(pod(plain, container(limits=GPU)))
    assert not [one for one in outcome.operations if "/containers/0" in one["path"]]


def test_r16_only_the_container_that_asks_is_changed() -> None:
    """Each container's request is its own."""
    outcome = laws.patched(pod(container("a", {"cpu": "1"}), container("b", GPU)))
    assert resources(outcome, 0) == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}
    assert resources(outcome, 1)["limits"] == WHOLE
    assert not [one for one in outcome.operations if "/containers/0" in one["path"]]


def test_r17_pod_level_cpu_and_memory_stay_beside_devices() -> None:
    """Resources of the Pod as a whole change nothing for its containers."""
    level = {"limits": {"cpu": "4", "memory": "8Gi"}, "requests": {"cpu": "2"}}
    outcome = laws.patched(gpu_pod(GPU, resources=level))
    assert outcome.pod["spec"]["resources"] == level
    assert outcome.operations == laws.patched(gpu_pod(GPU)).operations


@pytest.mark.parametrize("kind", ["limits", "requests"])
def test_r18_a_device_for_the_pod_as_a_whole_is_refused(kind: str) -> None:
    """Kubernetes has only cpu, memory and hugepages there."""
    message = laws.refused(pod(container(), resources={kind: GPU}), 422)
    assert "spec.resources: nvidia.com/gpu" in message
    assert "under the limits of the container" in message


def test_r19_hugepages_stay_beside_devices() -> None:
    """Resources that are not ours keep their amounts."""
    asked = GPU | {"hugepages-2Mi": "64Mi", "cpu": "500m", "memory": "1.5Gi"}
    assert resources(laws.patched(gpu_pod(asked)))["limits"] == asked | WHOLE


def test_r20_claims_are_left_to_their_own_allocator(tmp_path: Path) -> None:
    """A container with DRA claims alone stays as it is, also where cards are hidden."""
    claims: Pod = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}
    user = container() | {"resources": {"claims": [{"name": "gpu"}]}}
    laws.untouched(pod(user, **claims))
    hiding = tmp_path / "device-config.yaml"
    hiding.write_text("nvidia:\n  overwriteEnv: true\n")
    laws.untouched(pod(user, **claims), laws.deciding(laws.rules(hiding)))
    both = user | {"resources": user["resources"] | {"limits": GPU, "requests": GPU}}
    outcome = laws.patched(pod(both, **claims))
    assert resources(outcome)["claims"] == [{"name": "gpu"}]
    assert outcome.pod["spec"]["resourceClaims"] == claims["resourceClaims"]


@pytest.mark.parametrize(
    ("name", "amount", "fix"),
    [
        ("gpumem", "16Gi", "write 16384"),
        ("gpumem", "1100000", "write at most"),
        ("gpumem-percentage", "101", "write at most 100"),
        ("gpucores", "101", "write at most 100"),
        ("gpucores", "1k", "write at most 100"),
    ],
)
def test_r21_a_share_of_more_than_a_card_is_refused(name: str, amount: str, fix: str) -> None:
    """No card has more than 100 percent, nor as many MiB as a size in bytes makes."""
    message = laws.refused(gpu_pod(GPU | {f"nvidia.com/{name}": amount}), 422)
    assert message.startswith(f"spec.containers[0].resources.limits[nvidia.com/{name}]: {amount} ")
    assert fix in message


def test_r22_order_and_strangers_inside_resources_stay() -> None:
    """Keys keep their order, ours come last, and what we do not know is kept."""
    limits = {"zeta.example/a": "1", **GPU, "cpu": "1", "alpha.example/b": "2"}
    outcome = laws.patched(asking(resizeHint={"a": [1]}, requests=dict(limits), limits=limits))
    after = resources(outcome)
    assert list(after) == ["resizeHint", "requests", "limits"]
    assert list(after["limits"]) == [*limits, "nvidia.com/gpucores"]
    assert list(after["requests"]) == [*limits, "nvidia.com/gpucores"]
    assert after["resizeHint"] == {"a": [1]}


def test_r8_no_memory_beside_a_card_is_the_whole_card() -> None:
    """Null for a size is as good as leaving it out; the API server sends 0 for it."""
    asked = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": None}
    outcome = laws.patched(gpu_pod(asked))
    assert resources(outcome)["limits"] == {**asked, "nvidia.com/gpucores": "100"}
