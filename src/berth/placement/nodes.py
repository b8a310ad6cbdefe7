"""What a node must have apart from cards: the part that Kubernetes' own scheduler looks at too."""

from berth.model.request import PodRequest
from berth.model.snapshot import Bools, Snapshot
from berth.placement.eligible import eligible


def node_part(wanted: PodRequest, snapshot: Snapshot) -> Bools:
    """Say of each node whether it is ready and has CPU, memory and all else for the Pod.

    What a Pod does not ask for, a node may have less than none of: its kubelet was given less.
    """
    good: Bools = snapshot.ready & (snapshot.pods >= 1)
    if wanted.cpu_milli:
        good &= snapshot.cpu >= wanted.cpu_milli
    if wanted.memory_mib:
        good &= snapshot.memory >= wanted.memory_mib
    good &= eligible(wanted.eligibility, snapshot).all
    for name, amount in wanted.other.items():
        if amount:
            good &= snapshot.of_other(name)[0] >= amount
    return good
