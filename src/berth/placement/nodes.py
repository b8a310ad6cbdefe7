"""What a node must have apart from cards: the part that Kubernetes' own scheduler looks at too."""

from berth.model.request import PodRequest
from berth.model.snapshot import Bools, Snapshot
from berth.placement.eligible import eligible


def node_part(wanted: PodRequest, snapshot: Snapshot) -> Bools:
    """Say of each node whether it is ready and has CPU, memory and all else for the Pod."""
    good: Bools = snapshot.cpu >= wanted.cpu_milli
    good &= snapshot.memory >= wanted.memory_mib
    good &= snapshot.pods >= 1
    good &= snapshot.ready
    good &= eligible(wanted.eligibility, snapshot).both
    for name, amount in wanted.other.items():
        if amount:
            has = snapshot.other.get(name)
            good &= has >= amount if has is not None else False
    return good
