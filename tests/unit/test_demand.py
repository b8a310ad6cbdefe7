"""A Pod's whole demand: Kubernetes' rule of init containers and sidecars, and the wishes."""

from typing import Any

import pytest

from berth import layered
from berth.admission import configuration, project
from berth.dialects.reading import read
from berth.model.demand import Demand, Total, Wishes
from tests.pods import Pod, container, pod

RULES, _ = configuration.rules(layered.settings(None), None)
GPU, MEMORY, CORES = "nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpucores"


def demand(asked: Pod) -> Demand:
    """Return what the Pod wants."""
    found = read(project.pod(asked), RULES.options, skip_privileged=True)
    assert found.problems == ()
    return found.demand


def share(name: str, mib: int, count: int = 1, cores: int = 10) -> Pod:
    """Return a container with a share of NVIDIA cards."""
    return container(name, {GPU: str(count), MEMORY: str(mib), CORES: str(cores)})


def sidecar(name: str, mib: int) -> Pod:
    """Return a native sidecar with a share."""
    return {**share(name, mib), "restartPolicy": "Always"}


def total(count: int, mib: int, cores: int) -> Total:
    """Return a total of sized shares."""
    return Total(count=count, memory_mib=mib, cores=cores)


TOTALS: dict[str, tuple[list[Pod], list[Pod], Total]] = {
    "app containers are added": ([], [share("a", 100), share("b", 200)], total(2, 300, 20)),
    "each of several devices counts": ([], [share("a", 1024, count=2)], total(2, 2048, 20)),
    "init containers come one after another": (
        [share("i", 800), share("j", 800)],
        [share("a", 500)],
        total(1, 800, 10),
    ),
    "the larger side counts": ([share("i", 1500)], [share("a", 100)], total(1, 1500, 10)),
    "each number by itself": (
        [share("i", 50, cores=90)],
        [share("a", 100), share("b", 100)],
        total(2, 200, 90),
    ),
    "a sidecar runs on beside the app": ([sidecar("s", 300)], [share("a", 500)], total(2, 800, 20)),
    "a sidecar runs beside the init containers after it": (
        [sidecar("s", 300), share("i", 900)],
        [share("a", 500)],
        total(2, 1200, 20),
    ),
    "a sidecar does not run beside those before it": (
        [share("i", 900), sidecar("s", 300)],
        [share("a", 500)],
        total(2, 900, 20),
    ),
}


@pytest.mark.parametrize(("inits", "apps", "expected"), TOTALS.values(), ids=TOTALS.keys())
def test_a_pods_total_is_counted_as_kubernetes_does(
    inits: list[Pod], apps: list[Pod], expected: Total
) -> None:
    """HAMi counts sidecars as if they ended before the app starts (weakness 20)."""
    assert demand(pod(*apps, initContainers=inits)).totals() == {"nvidia": expected}


def test_totals_are_kept_apart_by_accelerator() -> None:
    """One number for cards of two kinds would mean nothing."""
    asked = pod(
        share("a", 100),
        container("b", {"hygon.com/dcunum": "1", "hygon.com/dcumem": "700"}),
        container("c", {"huawei.com/Ascend910A": "2"}),
        container("d", {"cpu": "1"}),
    )
    assert demand(asked).totals() == {
        "nvidia": total(1, 100, 10),
        "hygon": total(1, 700, 100),
        "Ascend910A": total(2, 65536, 0),
    }


def test_a_share_without_a_size_is_not_taken_for_nothing() -> None:
    """A percentage or a whole card has MiB that only the card knows (weakness 28)."""
    asked = pod(container("a", {GPU: "1"}), share("b", 100))
    assert demand(asked).totals() == {
        "nvidia": Total(count=2, memory_mib=100, cores=110, sized=False)
    }


WISHES: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "none": ({"example.com/x": "y"}, {}),
    "models": (
        {"nvidia.com/use-gputype": "A100, h100,", "nvidia.com/nouse-gputype": "1080"},
        {"models": ("a100", "h100"), "not_models": ("1080",)},
    ),
    "devices": (
        {"nvidia.com/use-gpuuuid": "GPU-1,GPU-2", "nvidia.com/nouse-gpuuuid": "GPU-3"},
        {"uuids": frozenset({"GPU-1", "GPU-2"}), "not_uuids": frozenset({"GPU-3"})},
    ),
    "blank is no constraint": ({"nvidia.com/use-gpuuuid": " ", "nvidia.com/use-gputype": ""}, {}),
    "one NUMA node": ({"nvidia.com/numa-bind": "T"}, {"numa": True}),
    "no NUMA node": ({"nvidia.com/numa-bind": "f"}, {}),
    "a mode": ({"nvidia.com/vgpu-mode": "mps"}, {"mode": "mps"}),
    "policies": (
        {"hami.io/node-scheduler-policy": "spread", "hami.io/gpu-scheduler-policy": "binpack,numa"},
        {"node_policy": "spread", "device_policy": ("binpack", "numa")},
    ),
    "weights": (
        {"hami.io/device-scoring-weights": "slot=1, core=0,memory=3"},
        {"weights": {"slot": 1, "core": 0, "memory": 3}},
    ),
    "another vendor's choice": ({"hygon.com/use-dcutype": "K100"}, {}),
}


@pytest.mark.parametrize(("annotations", "expected"), WISHES.values(), ids=WISHES.keys())
def test_the_annotations_that_choose_are_part_of_the_demand(
    annotations: dict[str, str], expected: dict[str, Any]
) -> None:
    """What comes later reads the demand, and no annotation again."""
    asked = pod(share("a", 100), metadata={"annotations": annotations})
    (one,) = demand(asked).containers
    assert one.share is not None
    assert one.share.wishes == Wishes(**expected)


def test_a_device_must_stand_in_every_list() -> None:
    """Kunlunxin has two annotations for one choice, and HAMi asks both."""
    lists = {"hami.io/use-xpu-uuid": "x1,x2", "baidu.com/use-gpuuuid": "x2,x3"}
    asked = pod(container("a", {"kunlunxin.com/xpu": "1"}), metadata={"annotations": lists})
    (one,) = demand(asked).containers
    assert one.share is not None
    assert one.share.wishes.uuids == frozenset({"x2"})


@pytest.mark.parametrize(
    "weights",
    [
        *("", "slot=1", "slot=1,core=1,memory=-1", "slot=0,core=0,memory=0", "a=1,b=1,c=1"),
        *(f"slot=1,core=1,memory={'9' * digits}" for digits in (16, 400, 5_000)),
    ],
)
def test_weights_that_the_scheduler_would_fail_on_are_refused(weights: str) -> None:
    """HAMi's filter answers with an error for every node, and the Pod waits for ever."""
    annotations = {"hami.io/device-scoring-weights": weights}
    asked = pod(share("a", 100), metadata={"annotations": annotations})
    found = read(project.pod(asked), RULES.options, skip_privileged=True)
    assert [problem.reason.value for problem in found.problems] == ["annotation"]
    idle = pod(container("a"), metadata={"annotations": annotations})
    assert read(project.pod(idle), RULES.options, skip_privileged=True).problems == ()
