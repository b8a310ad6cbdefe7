"""One admission decision from real files: settings by flags, an nvidia section of device-config."""

import json
from pathlib import Path
from typing import Any

import yaml

from berth import layered, names
from berth.admission import configuration, mutate, project
from berth.admission.rules import Rules
from berth.dialects.reading import read
from berth.model import demand
from berth.model.decision import Decision
from berth.model.raw import JsonObject, dotted
from berth.model.reason import Reason
from tests.pods import Pod

GPU = "nvidia.com/gpu"
MEMORY = "nvidia.com/gpumem"
PERCENT = "nvidia.com/gpumem-percentage"
CORES = "nvidia.com/gpucores"
PRIORITY = "nvidia.com/priority"

Limits = dict[str, Any]
Share = tuple[int, int | None, int | None, int | None]
"""Devices, MiB of each, percent of each one's memory, percent of each one's cores."""


def rules(folder: Path, *flags: str, **nvidia: Any) -> Rules:
    """Return the rules of settings `flags` and a device-config.yaml with these `nvidia` keys."""
    file = folder / "device-config.yaml"
    file.write_text(yaml.safe_dump({"nvidia": nvidia}))
    found, warnings = configuration.rules(layered.settings(None, flags), file)
    assert not warnings
    return found


def decide(pod: Pod, by: Rules, namespace: str = "default") -> Decision:
    """Decide about `pod`, and again about the result: a second pass must find nothing to do."""
    decision = mutate.decide(pod, namespace, by)
    again = mutate.decide(decision.pod, namespace, by)
    assert not again.operations
    assert again.problems == decision.problems
    return decision


def shares(pod: JsonObject, by: Rules) -> list[Share | None]:
    """Return what each container asks of devices, as the scheduler will read it."""
    reading = read(project.pod(pod), by.options, skip_privileged=False)
    return [_numbers(wanted.share) for wanted in reading.demand.containers]


def _numbers(share: demand.Share | None) -> Share | None:
    if share is None:
        return None
    return share.count, share.memory_mib, share.memory_percent, share.cores


def spec(decision: Decision) -> dict[str, Any]:
    """Return the spec of the Pod that was decided."""
    found = decision.pod["spec"]
    assert isinstance(found, dict)
    return found


def main(decision: Decision) -> dict[str, Any]:
    """Return the first app container of the Pod that was decided."""
    found: dict[str, Any] = spec(decision)["containers"][0]
    return found


def faults(decision: Decision) -> list[tuple[Reason, str]]:
    """Return what is wrong and where, in the order in which it is said."""
    return [(problem.reason, dotted(problem.path)) for problem in decision.problems]


def original(decision: Decision) -> dict[str, Any] | None:
    """Return the record of what each container asked for, if one is kept."""
    metadata: Any = decision.pod["metadata"]
    text: str | None = metadata.get("annotations", {}).get(names.ORIGINAL_REQUEST)
    found: dict[str, Any] = json.loads(text) if text else {}
    assert found.keys() <= {"v", "containers", "written"}
    return found.get("containers")
