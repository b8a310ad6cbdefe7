"""Where one Pod goes, by the fleet as it stands: placement's answer, made ready to be written."""

from collections.abc import Iterable, Sequence
from zlib import crc32

import msgspec

from berth import names
from berth.admission.placements import Manner
from berth.model.charge import Claim
from berth.model.decided import Decided
from berth.model.demand import Demand
from berth.model.device import Device
from berth.model.placed import Delivery, Placed
from berth.model.placement import Hold, Placement
from berth.model.pod import Pod
from berth.model.request import PodRequest
from berth.model.snapshot import Snapshot
from berth.placement.decide import Extent, decide
from berth.placement.held import allocate
from berth.placement.policies import POLICIES
from berth.placement.policy import Policy

MOST_NODES = {Delivery.PIN: 1, Delivery.PREFER: 10, Delivery.REQUIRE: 100}
"""So many of the nodes that fit are named in a Pod."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How a Pod is to be placed, and what the decision is called."""

    id: str
    policy: Policy
    delivery: Delivery
    visible: bool = False
    among: int = 1
    """Of how many of the best nodes one is pinned: the first in this `replica`'s own order."""
    replica: str = ""
    refuses_full: bool = False
    """Whether a Pod for which no node has room now is refused."""
    refuses_never: bool = False
    """Whether one that can never fit is."""
    generation: int = 0
    named: dict[str, tuple[str, ...]] = {}
    """By container, the devices out of which its author lets it have some."""


def place(request: PodRequest, snapshot: Snapshot, wish: Wish) -> Placed:
    """Decide where a Pod goes. Nothing is held for it yet."""
    among = wish.among if wish.delivery is Delivery.PIN else 1
    extent = Extent(among, MOST_NODES.get(wish.delivery, 1), why=False)
    found = decide(request, snapshot, wish.policy, extent)
    if not isinstance(found, Placement):
        never = not found.waiting_helps
        why = "no node can run it" if never else "no node has room now"
        return Placed(
            request=request,
            decided=Decided(
                id=wish.id, policy=wish.policy.name, reason=why, generation=wish.generation
            ),
            delivery=wish.delivery,
            without=found.without,
            refused=wish.refuses_never if never else wish.refuses_full,
        )
    held = found.allocation
    if among > 1:
        best = min(found.candidates, key=lambda one: _turn(wish.replica, one.node))
        held = best.allocation
    hosts = _hosts(snapshot, found.nodes)
    if hosts and wish.delivery is not Delivery.PIN and held.node not in hosts:
        named = allocate(request, snapshot, snapshot.row[next(iter(hosts))], wish.policy.choice)
        held = named or held
    node = snapshot.nodes[snapshot.row[held.node]]
    decided = Decided(
        id=wish.id,
        policy=wish.policy.name,
        node=node.name,
        delivery=wish.delivery.value,
        devices=claims(held.holds, node.devices),
        named=wish.named if wish.delivery is Delivery.PIN else {},
        candidates=found.fitting,
        reason=_reason(found, held.node, wish.policy.name),
        generation=wish.generation,
    )
    return Placed(
        request=request,
        decided=decided,
        delivery=wish.delivery,
        visible=wish.visible,
        hosts=tuple(dict.fromkeys(hosts.values())),
    )


def _turn(replica: str, node: str) -> int:
    """Return how early a replica comes to a node: as good as random, and lasting.

    So each fills a node of its own before it comes to the next (rendezvous hashing).
    """
    return crc32(f"{replica}/{node}".encode())


def _reason(found: Placement, node: str, policy: str) -> str:
    ranked = [one.node for one in found.candidates]
    place = (ranked if node in ranked else found.nodes).index(node) + 1
    best = "the best" if place == 1 else f"the best but {place - 1}"
    return f"{best} of {found.fitting} by {policy}"


def _hosts(snapshot: Snapshot, nodes: Iterable[str]) -> dict[str, str]:
    """Return the labels by which nodes are named in affinity; a kubelet sets each its own.

    A node without one cannot be named so, and is left out.
    """
    labels = snapshot.settled("hosts", _labels)
    each = ((name, labels[snapshot.row[name]]) for name in nodes)
    return {name: label for name, label in each if label}


def _labels(snapshot: Snapshot) -> list[str]:
    return [node.labels.get(names.HOST_LABEL, "") for node in snapshot.nodes]


def claims(holds: Sequence[Hold], devices: Sequence[Device]) -> tuple[Claim, ...]:
    """Return what each container holds, by UUID.

    Of an init container, placement says what it needs of a card beyond what others hold of it;
    its claims are all that it gets there.
    """
    each = (one for hold in holds for one in hold.own or (hold,))
    return tuple([_claim(one, devices[one.device].uuid) for one in each])


def _claim(hold: Hold, uuid: str) -> Claim:
    return Claim(
        container=hold.container,
        uuid=uuid,
        memory_mib=hold.memory_mib,
        cores=hold.cores,
        profile=hold.profile,
        slices=hold.slices,
    )


def has_cards(demand: Demand, stack: str, snapshot: Snapshot) -> bool:
    """Whether some node has a card of what is asked for: else nobody knows what will come."""
    there = snapshot.settled("vendors", _vendors)
    names = {name for name, of in there if not (stack and of) or stack == of}
    return all(one.share.vendor.name in names for one in demand.containers if one.share)


def _vendors(snapshot: Snapshot) -> frozenset[tuple[str, str]]:
    """Return whose cards the nodes have, each with the stack that hands it out.

    A kind of card stays known when its last node leaves, so the kinds do not say it.
    """
    each = [device for row in snapshot.row.values() for device in snapshot.nodes[row].devices]
    return frozenset([(one.vendor, one.stack) for one in each])


def policy_of(pod: Pod, manner: Manner) -> Policy:
    """Return the policy that a Pod chooses, by our annotation or HAMi's; else its namespace's."""
    for key in (names.SCHEDULING_POLICY, names.NODE_POLICY):
        word = pod.annotations.get(key)
        if isinstance(word, str) and word in POLICIES:
            return POLICIES[word]
    return POLICIES[manner.policy]
