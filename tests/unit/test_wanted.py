"""What a Pod wants of a node, beside its cards."""

from typing import Any

from berth import layered
from berth.admission import configuration, mutate, project
from berth.admission.wanted import NOWHERE, wanted
from berth.model.eligibility import Expression, Toleration
from berth.model.request import PodRequest
from tests.pods import Pod, gpu_pod

RULES, _ = configuration.rules(layered.settings(None), None)


def read(pod: Pod) -> PodRequest:
    """Return what is wanted."""
    demand = mutate.understood(pod, "default", RULES)
    assert demand is not None
    return wanted(project.pod(pod), demand, RULES.known)


def affine(*terms: dict[str, Any]) -> dict[str, Any]:
    """Return required node affinity."""
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def test_cpu_memory_and_other_resources_are_the_peak_and_cards_are_apart() -> None:
    """Numbers may come as numbers; a limit without a request is one."""
    pod = gpu_pod({"nvidia.com/gpu": "1", "cpu": 2, "memory": "1Gi", "rdma/hca": "1"})
    first = {"name": "first", "resources": {"requests": {"cpu": "3500m"}}}
    side = {**first, "name": "side", "restartPolicy": "Always"}
    pod["spec"] |= {"initContainers": [side, first], "overhead": {"memory": "1"}}
    found = read(pod)
    assert (found.cpu_milli, found.memory_mib, found.other) == (7000, 1025, {"rdma/hca": 1})
    assert [name for name, _ in found.devices] == ["main"]


def test_selector_affinity_and_tolerations_say_which_nodes() -> None:
    """Fields beside labels; what Kubernetes would refuse holds on no node."""
    pod = gpu_pod({"nvidia.com/gpu": "1"})
    pod["spec"]["nodeSelector"] = {"zone": "a"}
    pod["spec"]["tolerations"] = [{"key": "gpu", "operator": "Exists"}, {}]
    pod["spec"]["affinity"] = affine(
        {
            "matchExpressions": [{"key": "disk", "operator": "Exists"}],
            "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
        },
        {"matchExpressions": [{"key": "disk", "operator": "Like", "values": ["x"]}]},
        {},
    )
    found = read(pod).eligibility
    assert found.all_of == (Expression("zone", "In", ("a",)),)
    named = Expression("metadata.name", "In", ("n1",))
    assert found.any_of == ((Expression("disk", "Exists"), named), (NOWHERE,), ())
    assert found.tolerations == (Toleration("gpu", "Exists"), Toleration())
