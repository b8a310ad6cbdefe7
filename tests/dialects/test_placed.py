"""Devices that a placement has chosen, in the words of the stack that is to give them."""

from berth import layered
from berth.admission import configuration, patch, project
from berth.dialects import translate
from berth.model.charge import Claim
from berth.model.decided import Decided
from berth.model.problem import Problem
from berth.model.said import Said
from tests.pods import Pod, container, pod

RULES, _ = configuration.rules(layered.settings(None), None)
LIMITS = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "3000"}


def written(asked: Pod, *devices: tuple[str, str]) -> Pod:
    """Return the Pod as it is written, with devices (container, UUID) chosen for it."""
    placed = Decided(
        id="d", node="n1", devices=tuple(Claim(container=name, uuid=one) for name, one in devices)
    )
    read = project.pod(asked)
    reading = translate.read(read, RULES.options, skip_privileged=True)
    changes = translate.write(reading.demand, placed, read, RULES.options)
    edits = [one for one in changes if not isinstance(one, Said | Problem)]
    return patch.record(asked, edits)[1]


def test_hami_is_told_the_devices_by_their_uuid() -> None:
    """Its scheduler then gives out none but these; each stands once, in the Pod's order."""
    two = pod(container("a", LIMITS), container("b", LIMITS), container("c"))
    found = written(two, ("a", "GPU-2"), ("b", "GPU-1"), ("b", "GPU-2"), ("c", "GPU-9"))
    assert found["metadata"]["annotations"] == {"nvidia.com/use-gpuuuid": "GPU-2,GPU-1"}


def test_a_node_without_devices_names_none() -> None:
    """A placement that speaks of the node alone leaves the choice of devices to the scheduler."""
    assert "annotations" not in written(pod(container("a", LIMITS)))["metadata"]
