"""Vectors I1 to I4: we among other webhooks, asked again after them."""

import json
from collections.abc import Callable
from copy import deepcopy
from itertools import permutations

import pytest

from berth import names
from tests.pods import Pod, container, gpu_pod, pod
from tests.vectors import laws

PRIORITY = {"nvidia.com/gpu": "1", "nvidia.com/priority": "1"}
VARIABLE = {"name": "CUDA_TASK_PRIORITY", "value": "1"}


def us(pod: Pod) -> Pod:
    """Return the Pod after our webhook."""
    return laws.ask(pod).pod


def injector(pod: Pod) -> Pod:
    """Return the Pod after a webhook that adds a sidecar with a device, once."""
    after = deepcopy(pod)
    if len(after["spec"]["containers"]) == 1:
        after["spec"]["containers"].append(container("mesh", {"nvidia.com/gpumem": "1024"}))
    return after


def limit_ranger(pod: Pod) -> Pod:
    """Return the Pod after LimitRanger, which gives every container cpu."""
    after = deepcopy(pod)
    for one in after["spec"]["containers"]:
        for kind in ("limits", "requests"):
            one["resources"].setdefault(kind, {}).setdefault("cpu", "500m")
    return after


def test_i1_our_own_output_is_left_alone() -> None:
    """Asked again about what we answered, we add nothing: f(f(x)) = f(x)."""
    outcome = laws.patched(gpu_pod(PRIORITY))
    assert laws.untouched(outcome.pod).response.keys() == {"uid", "allowed"}


def test_i2_a_container_that_came_later_is_completed() -> None:
    """Of a Pod of ours to which a webhook added a container, that container alone is patched."""
    outcome = laws.patched(injector(us(gpu_pod(PRIORITY))))
    paths = [one["path"] for one in outcome.operations]
    spec = [path for path in paths if path.startswith("/spec")]
    assert spec
    assert all(path.startswith("/spec/containers/1/resources/") for path in spec)
    record = json.loads(outcome.pod["metadata"]["annotations"][names.ORIGINAL_REQUEST])
    assert record["containers"] == {"main": PRIORITY, "mesh": {"nvidia.com/gpumem": "1024"}}


def test_i3_what_another_webhook_took_out_comes_back() -> None:
    """A variable of ours that was removed is restored in one pass."""
    first = us(gpu_pod(PRIORITY))
    robbed = deepcopy(first)
    assert robbed["spec"]["containers"][0].pop("env") == [VARIABLE]
    assert laws.patched(robbed).pod["spec"]["containers"][0]["env"] == [VARIABLE]
    assert us(robbed) == first


@pytest.mark.parametrize("order", [*permutations((us, injector, limit_ranger))])
def test_i4_the_order_of_webhooks_does_not_matter(order: tuple[Callable[[Pod], Pod], ...]) -> None:
    """Whoever comes first, after the reinvocation the Pod is the same."""
    expected = us(limit_ranger(injector(gpu_pod(PRIORITY))))
    after = pod(container(limits=PRIORITY))
    for _ in range(2):  # the API server runs the chain again after a change
        for webhook in order:
            after = webhook(after)
    assert after == expected
