"""Random Pods of every dialect, rightly and wrongly, that the API server itself takes."""

import random
from typing import Any

from berth import names

Pod = dict[str, Any]

GPU, MEMORY, CORES = "nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpucores"
PERCENT, PRIORITY = "nvidia.com/gpumem-percentage", "nvidia.com/priority"
NUMBER, VMEMORY, VCORES = (f"volcano.sh/vgpu-{one}" for one in ("number", "memory", "cores"))

AMOUNTS: dict[str, tuple[str, ...]] = {
    GPU: ("1", "2", "0"),
    MEMORY: ("3000", "8k", "16384"),
    PERCENT: ("50", "100"),
    CORES: ("30", "100", "0"),
    PRIORITY: ("1",),
    NUMBER: ("1", "2", "0"),
    VMEMORY: ("1000", "2k"),
    VCORES: ("50", "100"),
    "volcano.sh/vgpu-memory-percentage": ("25", "100"),
    "hami.io/vgpu-memory": ("16Gi", "512Mi", "1073741824"),
    "hami.io/vgpu-count": ("1", "3"),
    "hami.io/vgpu-cores": ("25",),
    "nvidia.com/mig-1g.10gb": ("1",),
}
DIALECTS = (
    (GPU, MEMORY, PERCENT, CORES, PRIORITY),
    (GPU,),
    (NUMBER, VMEMORY, VCORES, "volcano.sh/vgpu-memory-percentage"),
    ("hami.io/vgpu-memory", "hami.io/vgpu-count", "hami.io/vgpu-cores"),
    tuple(AMOUNTS),
)
CHOICES = {
    names.GPU_MEMORY: ("16Gi", "40%", "100%", "c0=1Gi", "16"),
    names.GPU_MODEL: ("A100,H100",),
    names.MODEL: ("7b", "large"),
    "nvidia.com/use-gputype": ("A100",),
    "nvidia.com/use-gpuuuid": ("GPU-1",),
    "nvidia.com/vgpu-mode": ("mig", "hami-core"),
    "nvidia.com/numa-bind": ("true",),
    "volcano.sh/vgpu-mode": ("mig",),
    "volcano.sh/vgpu-nouse-gpuuuid": ("GPU-2",),
    names.NODE_POLICY: ("spread", "random"),
    names.WEIGHTS: ("slot=1,core=2,memory=3",),
    names.OVERSUBSCRIPTION: ("memory=2",),
    "gpu-fraction": ("0.5", "0.999"),
    "gpu-memory": ("4096",),
    names.ORIGINAL_REQUEST: ('{"v":1,"containers":{"c0":{"nvidia.com/gpu":"1"}}}', "{}"),
}


def random_pod(dice: random.Random, number: int) -> Pod:
    """Return a Pod whose containers ask in one dialect or another, some in several at once."""
    spec: Pod = {
        "containers": [_container(dice, f"c{index}") for index in range(dice.randint(1, 2))],
        "schedulerName": dice.choice(
            ("default-scheduler", "default-scheduler", "volcano", "hami-scheduler", "kai-scheduler")
        ),
    }
    if dice.random() < 0.15:
        spec["initContainers"] = [_container(dice, "init")]
        if dice.random() < 0.5:
            spec["initContainers"][0]["restartPolicy"] = "Always"
    metadata: Pod = {"name": f"random-{number}"}
    if dice.random() < 0.3:
        keys = dice.sample(sorted(CHOICES), dice.randint(1, 2))
        metadata["annotations"] = {key: dice.choice(CHOICES[key]) for key in keys}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def by_annotation(dice: random.Random, number: int) -> Pod:
    """Return a Pod of which KAI's annotations give one container a share, or none of them."""
    pod = random_pod(dice, number)
    containers = [*pod["spec"]["containers"], *pod["spec"].get("initContainers", [])]
    for container in containers:
        container["resources"] = {}
    names_there = ["", *(one["name"] for one in containers), "stranger"]
    pod["metadata"]["annotations"] = {
        dice.choice(("gpu-memory", "gpu-memory", "gpu-fraction")): dice.choice(("4096", "0.5")),
        "gpu-fraction-container-name": dice.choice(names_there),
    }
    return pod


def _container(dice: random.Random, name: str) -> Pod:
    known = dice.choice(DIALECTS)
    chosen = dice.sample(known, dice.randint(0, min(3, len(known))))
    limits = {one: dice.choice(AMOUNTS[one]) for one in chosen}
    if dice.random() < 0.3:
        limits["cpu"] = "1"
    container: Pod = {"name": name, "image": "i", "resources": {"limits": limits}}
    if dice.random() < 0.2:
        container["env"] = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
    if dice.random() < 0.1:
        container["securityContext"] = {"privileged": True}
    return container
