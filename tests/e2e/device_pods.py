"""Random Pods that the API server itself takes, around all that the webhook reads and writes."""

import random
from typing import Any

Pod = dict[str, Any]

# The same amounts in several forms, as the API server writes them its own way.
_AMOUNTS = {
    "nvidia.com/gpu": ("1", "1", "2", "0", "1k", "1e0", "1000m"),
    "nvidia.com/gpumem": ("3000", "0", "4k", "1e3", "2000000m", "1Ki"),
    "nvidia.com/gpumem-percentage": ("50", "100", "1e2", "0.1k", "0", "0e3"),
    "nvidia.com/gpucores": ("30", "100", "0"),
    "nvidia.com/priority": ("1", "0", "1k", "1000"),
    "nvidia.com/mig-1g.10gb": ("1", "0"),
    "cpu": ("1", "500m"),
}
_ENV = {
    "A": ("", "1"),
    "NVIDIA_VISIBLE_DEVICES": ("none", "none", "all", ""),
    "CUDA_TASK_PRIORITY": ("1", "0", "1000", "1k"),
    "GPU_CORE_UTILIZATION_POLICY": ("force", "force", "disable"),
    "CUDA_DISABLE_CONTROL": ("false", "true"),
}
_SCHEDULERS = ("default-scheduler", "default-scheduler", *["hami-scheduler"] * 3, "volcano", "")


_RARE: dict[str, tuple[Any, ...]] = {
    "nodeName": ("n1",),
    "runtimeClassName": ("nvidia",),
    "os": ({"name": "linux"}, {"name": "windows"}),
    "nodeSelector": ({"kubernetes.io/os": "windows"}, {"kubernetes.io/os": "linux"}),
    "resourceClaims": ([{"name": "claim", "resourceClaimName": "mine"}],),
    "tolerations": ([{"operator": "Exists"}],),
}
_MARKS = (
    ("labels", {"hami.io/webhook": "ignore"}),
    ("labels", {"hami.io/webhook": "enabled"}),
    ("annotations", {"kubernetes.io/config.mirror": "x"}),
    ("annotations", {"berth.dev/original-request": "{}", "nvidia.com/gpu": "1"}),
)


def random_pod(dice: random.Random, name: str) -> Pod:
    """Return a Pod, most of whose containers ask for a device in one of many ways."""
    spec: Pod = {
        "containers": [_container(dice, f"c{index}") for index in range(dice.randint(1, 3))],
        "schedulerName": dice.choice(_SCHEDULERS),
    }
    for key, values in _RARE.items():
        if dice.random() < 0.06:
            spec[key] = dice.choice(values)
    if "resourceClaims" in spec:
        spec["containers"][0].setdefault("resources", {})["claims"] = [{"name": "claim"}]
    if dice.random() < 0.3:
        spec["initContainers"] = [_container(dice, f"i{index}") for index in range(2)]
        if dice.random() < 0.5:
            spec["initContainers"][0]["restartPolicy"] = "Always"
    pod: Pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    if dice.random() < 0.2:
        kind, marks = dice.choice(_MARKS)
        pod["metadata"][kind] = dict(marks)
        if "kubernetes.io/config.mirror" in marks:
            spec["nodeName"] = "n1"  # Kubernetes knows no other mirrors
    return pod


def _container(dice: random.Random, name: str) -> Pod:
    container: Pod = {"name": name, "image": "registry.example/app:1"}
    limits = {
        resource: dice.choice(_AMOUNTS[resource])
        for resource in dice.sample(sorted(_AMOUNTS), dice.randint(0, 3))
    }
    if "nvidia.com/gpu" not in limits and dice.random() < 0.5:
        limits["nvidia.com/gpu"] = dice.choice(_AMOUNTS["nvidia.com/gpu"])
    if limits or dice.random() < 0.5:
        container["resources"] = {"limits": limits}
        if dice.random() < 0.3:
            container["resources"]["requests"] = dict(limits)
    if dice.random() < 0.4:
        container["env"] = [_variable(dice) for _ in range(dice.randint(0, 3))]
    if dice.random() < 0.2:
        container["securityContext"] = dice.choice(
            ({"privileged": True}, {"privileged": False}, {})
        )
    return container


def _variable(dice: random.Random) -> Pod:
    name = dice.choice(sorted(_ENV))
    if dice.random() < 0.1:
        return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    return {"name": name, "value": dice.choice(_ENV[name])}
