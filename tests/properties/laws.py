"""What holds of every answer, and Pods made by dice, which come far faster than by strategies."""

import random
from typing import Any

Pod = dict[str, Any]

_NAMES = (
    *("nvidia.com/gpu", "nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage"),
    *("nvidia.com/gpucores", "nvidia.com/priority", "cpu", "memory", "nvidia.com/mig-1g.10gb"),
)
_USUAL = ("1", "1", "2", "0", "50", "100", "30", 1)
_ODD: tuple[Any, ...] = (
    "16Gi",
    "4k",
    "500m",
    "0.5",
    "-1",
    "",
    "x",
    " 1",
    "1e999",
    "\uff18",
    None,
    True,
    0.5,
    [],
    {},
)
_ENV = (
    "A",
    "A",
    "NVIDIA_VISIBLE_DEVICES",
    "CUDA_TASK_PRIORITY",
    "LD_PRELOAD",
    "CUDA_DISABLE_CONTROL",
)
_WRONG: tuple[Any, ...] = (None, 7, "text", [], {}, [None], {"a": None})


def random_pod(dice: random.Random) -> Pod:
    """Return a Pod as a client might send it: usual, odd in a number, or wrong in shape."""
    odd = dice.random() < 0.2
    spec: Pod = {
        "containers": [_container(dice, odd=odd) for _ in range(dice.randint(1, 3))],
        "schedulerName": dice.choice(
            ("default-scheduler", "default-scheduler", "hami-scheduler", "kai-scheduler", "")
        ),
        "futureField": {"nested": [1, {"~/": "kept"}]},
    }
    if dice.random() < 0.4:
        spec["initContainers"] = [_container(dice, odd=odd)]
        spec["initContainers"][0]["restartPolicy"] = "Always"
    for key, values in (
        ("nodeName", ("", "n1")),
        ("runtimeClassName", (None, "nvidia")),
        ("os", ({"name": "linux"}, {"name": "windows"})),
        ("volumes", ([{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}],)),
        ("resources", ({"limits": {"cpu": "1"}}, {"limits": {"nvidia.com/gpu": "1"}})),
    ):
        if dice.random() < 0.1:
            spec[key] = dice.choice(values)
    pod: Pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    if dice.random() < 0.3:
        pod["metadata"]["annotations"] = {"a/b~c": "kept", "nvidia.com/use-gputype": "A100"}
    if dice.random() < 0.05:
        _spoil(dice, pod)
    return pod


def _container(dice: random.Random, *, odd: bool) -> Pod:
    container: Pod = {"name": dice.choice("abcdef"), "image": "i", "fooBeta": {"x": [1]}}
    names = dice.sample(_NAMES, dice.randint(0, 3))
    limits = {
        name: dice.choice(_ODD) if odd and dice.random() < 0.5 else dice.choice(_USUAL)
        for name in names
    }
    if limits or dice.random() < 0.5:
        container["resources"] = {"limits": limits, "requests": dict(limits)}
    if dice.random() < 0.4:
        container["env"] = [
            {"name": dice.choice(_ENV), "value": dice.choice(("", "1", "all"))}
            if dice.random() < 0.8
            else {"name": dice.choice(_ENV), "valueFrom": {"fieldRef": {"fieldPath": "m"}}}
            for _ in range(dice.randint(0, 6))
        ]
    if dice.random() < 0.1:
        container["securityContext"] = {"privileged": dice.random() < 0.5}
    return container


def _spoil(dice: random.Random, pod: Pod) -> None:
    """Put a value of a wrong kind somewhere that we read."""
    container = pod["spec"]["containers"][0]
    container.setdefault("resources", {})["limits"] = {"nvidia.com/gpu": "1"}
    place, key = dice.choice(
        [
            *((pod, "metadata"), (pod["metadata"], "annotations"), (pod["metadata"], "labels")),
            *((pod["spec"], key) for key in ("containers", "volumes", "schedulerName", "os")),
            *((container, key) for key in ("resources", "env", "securityContext", "volumeMounts")),
            *((container["resources"], key) for key in ("limits", "requests")),
        ]
    )
    place[key] = dice.choice(_WRONG)


def check_nothing_is_lost(before: Any, after: Any) -> None:
    """Every field that stood in the Pod still does, but for variables that we take out."""
    if isinstance(before, dict):
        assert isinstance(after, dict)
        for name, value in before.items():
            if value is None:
                continue
            assert name in after
            if name == "env":
                kept = [e for e in value if e.get("name") in ("A", "LD_PRELOAD")]
                assert all(entry in after[name] for entry in kept)
            elif name not in ("schedulerName", "berth.dev/original-request"):
                check_nothing_is_lost(value, after[name])
    elif isinstance(before, list):
        assert isinstance(after, list)
        assert len(after) >= len(before)
        for old, new in zip(before, after, strict=False):
            check_nothing_is_lost(old, new)
    else:
        assert before == after
