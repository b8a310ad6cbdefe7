"""Where a Pod could go, by a fleet as it stands: what `berth explain` says of it, as values."""

from collections.abc import Sequence

import msgspec

from berth import names
from berth.admission import project
from berth.admission.placing import claims, policy_of
from berth.admission.rules import Rules
from berth.model.card import Card, known
from berth.model.charge import Charge, Claim
from berth.model.decided import Decided
from berth.model.device import Device
from berth.model.placement import Candidate, Placement, Refusal, Without
from berth.model.raw import JsonObject
from berth.model.request import PodRequest
from berth.model.said import Fact, Said
from berth.model.snapshot import Snapshot
from berth.placement.decide import UNSCORED, Extent, decide
from berth.placement.learned import Learned, learned
from berth.placement.policies import POLICIES
from berth.placement.policy import Policy
from berth.placement.scarcity import Scarcity

MOST = 100
"""Candidates that are ranked."""


class Fleet(msgspec.Struct, frozen=True):
    """A fleet to ask: the cluster's, or that of a file."""

    source: str
    """Where it is from, in words."""
    snapshot: Snapshot
    generation: int = 0

    @property
    def cards(self) -> tuple[Card, ...]:
        """The kinds of cards that it has."""
        return known(self.snapshot.nodes[row].devices for row in self.snapshot.row.values())


class Ranked(msgspec.Struct, frozen=True):
    """A node that fits, and what the Pod would hold there."""

    node: str
    score: float | None
    """Within the policy, higher is better; None where it has not come to this node yet."""
    devices: tuple[Claim, ...]


class Now(msgspec.Struct, frozen=True, kw_only=True):
    """How a Pod of the cluster stands."""

    phase: str
    held: Charge | None = None
    """What it holds, once it is bound."""
    decided: Decided | None = None
    """What was decided at its creation."""


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one Pod's place."""

    policy: str
    chosen_by: Fact
    """Who says that it is this policy."""
    nodes: int
    fitting: int
    candidates: tuple[Ranked, ...]
    """The best first."""
    without: tuple[Without, ...]
    generation: int
    models: dict[str, str]
    """Of the cards that are named, by UUID."""
    request: PodRequest
    learned: Learned | None = None
    """Under the policy that learns."""
    now: Now | None = None
    """How it stands, where it is in the cluster."""

    @property
    def waiting_helps(self) -> bool:
        """Whether more nodes may fit once others have left."""
        return any(one.waiting_helps for one in self.without)


def where(request: PodRequest, chosen: tuple[Policy, Fact], fleet: Fleet, now: Now | None) -> Where:
    """Say where a Pod could go by a policy, and where it is `now`.

    Beside the policy stands who says that it is this one.
    """
    snapshot, (policy, by) = fleet.snapshot, chosen
    found = decide(request, snapshot, policy, Extent(candidates=MOST))
    ranked = _ranked(snapshot, found)
    return Where(
        policy=policy.name,
        chosen_by=by,
        nodes=len(snapshot.row),
        fitting=found.fitting if isinstance(found, Placement) else 0,
        candidates=ranked,
        without=found.without,
        generation=fleet.generation,
        models=_models(snapshot, [*(one.node for one in ranked), *_home(now)]),
        request=request,
        learned=learned(snapshot) if policy.name == Scarcity.name else None,
        now=now,
    )


def policy_for(
    raw: JsonObject, namespace: str, rules: Rules, asked: str | None
) -> tuple[Policy, Fact]:
    """Return the policy that is asked for, else the Pod's own, and who says so."""
    if asked:
        return POLICIES[asked], "--policy"
    pod, manner = project.pod(raw), rules.placements.of(namespace)
    chosen = policy_of(pod, manner)
    for key in (names.SCHEDULING_POLICY, names.NODE_POLICY):
        if pod.annotations.get(key) == chosen.name:
            return chosen, Said("part.by-annotation", {"key": key})
    if manner is rules.placements.usual:
        return chosen, Said("part.by-settings")
    return chosen, Said("part.by-namespace", {"namespace": namespace})


def _ranked(snapshot: Snapshot, found: Placement | Refusal) -> tuple[Ranked, ...]:
    each = found.candidates if isinstance(found, Placement) else ()
    return tuple(_on(candidate, snapshot) for candidate in each)


def _on(candidate: Candidate, snapshot: Snapshot) -> Ranked:
    """Return a candidate with its cards."""
    score = None if candidate.score <= UNSCORED else candidate.score
    holds, cards = candidate.allocation.holds, devices(snapshot, candidate.node)
    return Ranked(candidate.node, score, claims(holds, cards))


def devices(snapshot: Snapshot, node: str) -> Sequence[Device]:
    """Return the cards of a node."""
    return snapshot.nodes[snapshot.row[node]].devices


def _home(now: Now | None) -> list[str]:
    return [now.held.node] if now and now.held else []


def _models(snapshot: Snapshot, nodes: Sequence[str]) -> dict[str, str]:
    known = [name for name in nodes if name in snapshot.row]
    return {card.uuid: card.model for name in known for card in devices(snapshot, name)}
