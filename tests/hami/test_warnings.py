"""What the Pod's author hears: where, and short enough that nothing is cut."""

from pathlib import Path
from typing import Any

import pytest

from berth import names
from berth.admission import wire
from berth.words.catalogue import CATALOGUES
from tests.hami.deciding import GPU, PERCENT, PRIORITY, decide, rules
from tests.pods import Pod, container, gpu_pod, pod

LAST_OF_MANY = 16
PRIVILEGED = {"securityContext": {"privileged": True}}


def late(limits: dict[str, str] | None = None, **more: Any) -> Pod:
    """Return a Pod with a container like this in a place whose path is long."""
    inits = [container(f"i{index}") for index in range(LAST_OF_MANY)]
    return pod(container("app"), initContainers=[*inits, container("last", limits, **more)])


def env(name: str) -> list[dict[str, str]]:
    """Return one variable with a value that is not ours."""
    return [{"name": name, "value": "all"}]


SAID: dict[str, tuple[Pod, tuple[str, ...], dict[str, Any]]] = {
    "cards hidden": (late(env=env("NVIDIA_VISIBLE_DEVICES")), (), {"overwriteEnv": True}),
    "devices taken out": (late({GPU: "1"}, env=env("NVIDIA_VISIBLE_DEVICES")), (), {}),
    "limits taken out": (
        late({GPU: "1"}, env=env("CUDA_DEVICE_MEMORY_LIMIT_15")),
        ("policy.limitEnv=remove",),
        {},
    ),
    "the policy replaced": (
        late({GPU: "1"}, env=env("GPU_CORE_UTILIZATION_POLICY")),
        (),
        {"gpuCorePolicy": "disable"},
    ),
    "the priority replaced": (
        late({GPU: "1", PRIORITY: "1"}, env=env("CUDA_TASK_PRIORITY")),
        (),
        {},
    ),
    "privileged": (late({GPU: "1"}, **PRIVILEGED), (), {}),
    "a priority of nothing": (late({PRIORITY: "1"}), (), {}),
    "an annotation": (pod(container(), metadata={"annotations": {PERCENT: "1"}}), (), {}),
    "an annotation of conversions": (
        pod(container(limits={GPU: "1"}), metadata={"annotations": {names.MODEL_PRECISION: "fp8"}}),
        (),
        {},
    ),
    "Windows": (gpu_pod({GPU: "1"}, os={"name": "windows"}), (), {}),
    "a mount": (
        late({GPU: "1"}, volumeMounts=[{"mountPath": "/var/run/nvidia-container-devices/all"}]),
        (),
        {},
    ),
}


@pytest.mark.parametrize(("asked", "flags", "config"), SAID.values(), ids=SAID.keys())
def test_a_warning_begins_with_its_place_and_is_not_cut(
    asked: Pod, flags: tuple[str, ...], config: dict[str, Any], tmp_path: Path
) -> None:
    """Kubernetes asks for at most 120 characters (HAMi never warns: differences, "warnings")."""
    (warning,) = decide(asked, rules(tmp_path, *flags, **config)).warnings
    for language in CATALOGUES:
        text = warning.text(language)
        assert text.startswith(("spec", "metadata"))
        assert wire.clean([text]) == [text]
