"""What the Pods of each namespace hold of its quotas, kept change by change.

A Pod that is stored is read as one that is created, by the same functions: what it was admitted
with is what it counts for, until it has ended or is gone. Pods that wait for a node count too.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest

import msgspec
from msgspec.structs import replace

from berth import names
from berth.admission import mutate, quota, stored
from berth.admission.quota import Uses
from berth.admission.rules import Rules
from berth.cluster.projections import Pod
from berth.model.demand import ContainerDemand, Demand

_NOTHING: Uses = {}


class Usage:
    """A listener of a store of Pods that keeps the sums."""

    def __init__(self, rules: Rules) -> None:
        """Start with nothing; `rules` say what a Pod holds."""
        self.rules = rules
        self._pods: dict[tuple[str, str], Uses] = {}
        """Only those that hold something."""
        self._held: dict[str, Counter[str]] = {}

    def __call__(self, old: Pod | None, new: Pod | None) -> None:
        """Take one change."""
        if old is not None and new is not None and _alike(old, new):
            return  # most news of a Pod is of what is not kept
        if old is not None:
            self._add(old.metadata.namespace, self._pods.pop(old.key, _NOTHING), -1)
        if new is not None and (held := holds(new, self.rules)):
            self._pods[new.key] = held
            self._add(new.metadata.namespace, held, 1)

    def held(self, namespace: str) -> Uses:
        """Return what all Pods of a namespace hold together."""
        return self._held.get(namespace, _NOTHING)

    def recount(self, pods: Iterable[Pod], rules: Rules) -> None:
        """Begin anew under other rules."""
        self.rules, self._pods, self._held = rules, {}, {}
        for pod in pods:
            self(None, pod)

    def _add(self, namespace: str, uses: Uses, sign: int) -> None:
        if uses:
            sums = self._held.setdefault(namespace, Counter())
            for resource, amount in uses.items():
                sums[resource] += sign * amount
                if not sums[resource]:
                    del sums[resource]
            if not sums:
                del self._held[namespace]


def _alike(old: Pod, new: Pod) -> bool:
    one, other = old.metadata, new.metadata
    return (
        old.spec == new.spec
        and old.status == new.status
        and (one.labels, one.annotations) == (other.labels, other.annotations)
    )


def holds(pod: Pod, rules: Rules) -> Uses:
    """Return what a stored Pod holds now."""
    if pod.status.over or not stored.names_known(pod, rules):
        return _NOTHING
    raw = msgspec.json.decode(msgspec.json.encode(pod))  # lists and maps, as it came
    demand = mutate.understood(raw, pod.metadata.namespace, rules)
    if demand is None:
        return _NOTHING
    return quota.asked(_still(_with_given(demand, pod), pod)).amounts


def _still(demand: Demand, pod: Pod) -> Demand:
    """Leave out init containers once all have ended well: HAMi gives back what they had."""
    init = {wanted.container.name for wanted in demand.containers if wanted.container.init}
    if not init or not init <= pod.status.init_ended:
        return demand
    return Demand(tuple(one for one in demand.containers if not one.container.init))


def _with_given(demand: Demand, pod: Pod) -> Demand:
    """Fill in memory that is known from the device alone, once HAMi's scheduler has given one.

    It records, for each container in order, ended by ";", each of its devices, ended by ":": the
    device's uuid, its kind, MiB and cores, with commas between. So does Volcano's. Before a Pod
    has a node, the record may be anybody's.
    """
    annotations, containers = pod.metadata.annotations, demand.containers
    record, listed = annotations.get(names.ALLOCATED), [one.container.name for one in containers]
    if not record:
        record = annotations.get(names.VOLCANO_ALLOCATED)
        # Volcano counts app containers with a device alone: the others have no place there.
        listed = [one.container.name for one in containers if one.share and one.container.app]
    if not record or not pod.spec.node_name:
        return demand
    given = dict(zip_longest(listed, record.split(";")[: len(listed)], fillvalue=""))
    return Demand(tuple(_filled(one, given.get(one.container.name, "")) for one in containers))


def _filled(wanted: ContainerDemand, slot: str) -> ContainerDemand:
    share = wanted.share
    if share is None or share.memory_mib is not None or share.vendor.family != "nvidia":
        return wanted
    devices = (device.split(",") for device in slot.split(":"))
    sizes = [int(one[2]) for one in devices if len(one) >= 4 and one[2].isdecimal()]
    if not sizes:
        return wanted
    each = -(-sum(sizes) // share.count)
    return replace(wanted, share=replace(share, memory_mib=each))
