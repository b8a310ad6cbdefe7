"""Clusters that translate: one conversion for each written dialect, and what a Pod comes to."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from berth.admission import configuration, mutate, project
from berth.admission.rules import Rules
from berth.admission.standing import Standing
from berth.dialects import translate
from berth.model.card import Card
from berth.model.decision import Decision, Verdict
from berth.model.demand import Share
from berth.model.vendor import Vendor
from berth.settings import Settings
from tests.pods import Pod, gpu_pod

GPU, MEMORY = "nvidia.com/gpu", "nvidia.com/gpumem"
PERCENT, CORES = "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"
PRIORITY = "nvidia.com/priority"
NUMBER, VMEMORY = "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory"
VPERCENT, VCORES = "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores"
POOL, POOL_COUNT, POOL_CORES = "hami.io/vgpu-memory", "hami.io/vgpu-count", "hami.io/vgpu-cores"

WRITTEN = ("hami", "volcano", "pool", "plain")
EVERY = ("hami", "volcano", "pool", "plain", "kai")
A100 = Card("nvidia", "NVIDIA-A100-SXM4-40GB", 40960, 8)
H100 = Card("nvidia", "NVIDIA-H100-80GB-HBM3", 81559, 8)
T4 = Card("nvidia", "Tesla-T4", 15360, 4)

Limits = dict[str, Any]


@cache
def _rules(text: str, cards: tuple[Card, ...], device_config: Path | None) -> Rules:
    settings = msgspec.convert(yaml.safe_load(text), Settings)
    return configuration.rules(settings, device_config)[0].knowing(cards)


def converting(
    writes: str,
    *cards: Card,
    stacks: Mapping[str, Any] | None = None,
    device_config: Path | None = None,
    never: str = "warn",
    **more: Any,
) -> Rules:
    """Return the rules of a namespace that reads every dialect and writes one."""
    conversion = {"name": "tested", "reads": list(EVERY), "writes": writes, **more}
    every = {"conversions": [conversion], "stacks": dict(stacks or {})}
    text = yaml.safe_dump({**every, "placement": {"never": never}})
    return _rules(text, cards, device_config).zones["tested"]


def words(by: Rules) -> Vendor:
    """Return the words in which NVIDIA's cards are written."""
    assert by.options.conversion is not None
    return by.options.conversion.targets["nvidia"]


def decide(pod: Pod, by: Rules) -> Decision:
    """Decide about `pod`, and again about the result: a second pass must find nothing to do."""
    known = Standing(decision="")
    decision = mutate.decide(pod, "default", by, standing=known)
    again = mutate.decide(decision.pod, "default", by, standing=known)
    assert again.operations == []
    assert again.problems == decision.problems
    return decision


def patched(pod: Pod, by: Rules) -> Decision:
    """Decide about `pod`, which has to be patched."""
    decision = decide(pod, by)
    assert decision.verdict is Verdict.PATCHED, decision
    return decision


def asking(limits: Limits, annotations: Mapping[str, str] | None = None, **spec: Any) -> Pod:
    """Return a Pod of one container with these limits, as the API server shows it."""
    pod = gpu_pod(limits, **spec)
    if annotations:
        pod["metadata"]["annotations"] = dict(annotations)
    return pod


def limits(decision: Decision, index: int = 0, kind: str = "containers") -> Limits:
    """Return the limits of one container, which its requests of devices equal."""
    pod: Any = decision.pod
    resources = pod["spec"][kind][index]["resources"]
    found: Limits = resources.get("limits", {})
    requests = resources.get("requests", {})
    assert {k: v for k, v in found.items() if "/" in k} == {
        k: v for k, v in requests.items() if "/" in k
    }
    return found


def annotations(decision: Decision) -> dict[str, str]:
    """Return the annotations of the Pod that was decided."""
    pod: Any = decision.pod
    return dict(pod["metadata"].get("annotations") or {})


def said(decision: Decision) -> list[str]:
    """Return the warnings in English."""
    return [str(warning) for warning in decision.warnings]


def only_share(pod: Pod, by: Rules) -> Share:
    """Return the share of the one container that has one."""
    reading = translate.read(project.pod(pod), by.options, skip_privileged=True)
    assert reading.problems == ()
    (share,) = reading.demand.shares
    return share
