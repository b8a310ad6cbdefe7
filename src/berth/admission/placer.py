"""Places new Pods: the fleet as two stores show it, the policies, and what is promised already."""

from collections.abc import Callable, Iterator
from itertools import chain

import msgspec

from berth.admission import affinity, placing, stored, unplaced
from berth.admission.placements import Manner
from berth.admission.placing import Wish
from berth.admission.review import Review
from berth.admission.rules import Rules
from berth.admission.standing import Placing
from berth.admission.wanted import wanted
from berth.cluster import projections
from berth.cluster.charges import Reader
from berth.cluster.fleet import Fleet
from berth.cluster.reservations import Reservations, Times
from berth.cluster.store import Store
from berth.model.card import Card
from berth.model.charge import Charge, Claim, Source
from berth.model.demand import Demand
from berth.model.eligibility import ANYWHERE
from berth.model.placed import Delivery, Placed
from berth.model.pod import Pod
from berth.model.request import PodRequest, Shape
from berth.model.snapshot import Snapshot
from berth.placement.held import allocate

_TEMPLATES = 4_096
"""Different Pods whose shape is remembered."""
_LARGEST = 16_000
"""Of a request; some 275 UUIDs. Placement remembers thousands of requests, and a Pod of 3 MiB, of
which nobody knows yet whether it can be stored, would have thousands of requirements."""
_ENTRY = 16
"""What a text counts for beside its characters."""


class Placer:
    """Decides where Pods go, and keeps the fleet up to date."""

    def __init__(
        self,
        nodes: Store[projections.Node],
        pods: Store[projections.Pod],
        rules: Rules,
        clock: Callable[[], float],
        times: Times,
    ) -> None:
        """Read what the stores show by `rules`; `clock` never goes back."""
        self.synced = False
        """Whether the stores show the whole cluster; before, it is not to be asked."""
        self.required = False
        """Whether no Pod may pass before."""
        self.name = ""
        """What sets this replica apart from others."""
        self._nodes, self._pods, self._rules = nodes, pods, rules.reading
        self._shapes: dict[bytes, Shape | None] = {}
        self.fleet = Fleet(rules.vendors, self._guess, rules.terms)
        reader = Reader(rules.vendors, rules.terms)
        self.reservations = Reservations(self.fleet, reader, clock, times)
        nodes.listen(self._node_changed)
        pods.listen(self._pod_changed)

    @property
    def cards(self) -> tuple[Card, ...]:
        """The kinds of cards of the fleet: the same object until there are others."""
        return self.fleet.census.cards

    def placing(self, namespace: str, rules: Rules, decision: str, known: Placed | None) -> Placing:
        """Return what decides about one Pod, or again about one that was placed as `known`."""
        self._follow(rules)
        manner = rules.placements.of(namespace)

        def place(pod: Pod, demand: Demand) -> Placed | None:
            asked = wanted(pod, demand, rules.known, rules.options.stack)
            request = rules.terms.applied(asked, namespace, pod.labels, pod.annotations)
            if known is not None and _alike(known.request, request):
                return known
            if manner.delivery is Delivery.OFF or (known is None and affinity.bound(pod)):
                return None
            if _size(request) > _LARGEST:
                return None
            self.reservations.drop(decision)  # what an earlier pass was promised
            self.reservations.expire()
            if not placing.has_cards(demand, rules.options.stack, self.fleet.snapshot):
                return None
            wish = self._wish(pod, manner, decision)
            wish = msgspec.structs.replace(wish, named=unplaced.named(pod, demand))
            return placing.place(request, self.fleet.snapshot, wish)

        return place

    def hold(self, review: Review, placed: Placed) -> None:
        """Hold the place of a Pod that was admitted."""
        if placed.decided.node:
            self.reservations.hold(_charge(review, placed))

    def drop(self, decision: str) -> None:
        """Hold nothing for this decision any more."""
        self.reservations.drop(decision)

    def _wish(self, pod: Pod, manner: Manner, decision: str) -> Wish:
        return Wish(
            id=decision,
            policy=placing.policy_of(pod, manner),
            delivery=manner.delivery,
            visible=manner.visible,
            among=manner.among,
            replica=self.name,
            refuses_full=manner.refuses(pod.priority_class),
            refuses_never=manner.refuses_never,
            generation=self.fleet.generation,
        )

    def _node_changed(self, old: projections.Node | None, new: projections.Node | None) -> None:
        self.fleet.node(old, new)

    def _pod_changed(self, old: projections.Pod | None, new: projections.Pod | None) -> None:
        self.reservations.pod(old, new)
        self.fleet.pod(old, new)
        before, now = _alive(old), _alive(new)
        if now and not before:
            self._learn(now)
        elif before and not now and stored.names_known(before, self._rules):
            self.fleet.snapshot.mix.departed()

    def _learn(self, pod: projections.Pod) -> None:
        """Count what is asked for, here or at another replica; Pods without devices do not come."""
        if not stored.names_known(pod, self._rules):
            return
        shape = self._shape(pod)
        if shape is not None:
            self.fleet.snapshot.mix.arrived(shape)

    def _shape(self, pod: projections.Pod) -> Shape | None:
        """Return a Pod's shape; most Pods are made from few templates, and are read once."""
        spec, annotations = pod.spec, pod.metadata.annotations
        steers = [each for each in annotations.items() if each[0] in self._rules.steering]
        workload = self._rules.terms.workload(pod.metadata.labels, annotations)
        parts = (pod.metadata.namespace, steers, workload, spec.containers, spec.init_containers)
        key = msgspec.json.encode((*parts, spec.resources, spec.overhead))
        if len(key) > _LARGEST:  # who says so much is one of a kind, and in memory for long
            return None
        if key not in self._shapes:
            if len(self._shapes) >= _TEMPLATES:
                self._shapes.clear()
            read = stored.asking(pod, self._rules)
            self._shapes[key] = read[1].shape if read else None
        return self._shapes[key]

    def _follow(self, rules: Rules) -> None:
        """Count anew where there are other accelerators, or other classes of workload."""
        rules = rules.reading  # of Pods of whichever zone
        ours, self._rules = self._rules, rules
        if rules is ours:
            return
        self._shapes.clear()
        vendors, terms = rules.vendors, rules.terms
        if (ours.vendors, ours.terms.counting) != (vendors, terms.counting):
            before = self.fleet
            self.fleet = Fleet.counted(vendors, self._nodes, self._pods, before.guessed, terms)
            self.fleet.guess = self._guess  # or the ledger before would be kept, and believed
            self.fleet.snapshot.mix = before.snapshot.mix
            self.reservations.move(self.fleet, Reader(vendors, terms))

    def _guess(self, pod: projections.Pod, snapshot: Snapshot) -> tuple[Claim, ...]:
        return guess(pod, snapshot, self._rules)


def guess(pod: projections.Pod, snapshot: Snapshot, rules: Rules) -> tuple[Claim, ...]:
    """Return which cards placement would take of a bound Pod's own node."""
    read = stored.asking(pod, rules)
    if read is None:
        return ()
    new, request = read
    if _size(request) > _LARGEST:
        return ()
    policy = placing.policy_of(new, rules.placements.of(pod.metadata.namespace))
    row = snapshot.row[pod.spec.node_name]
    found = allocate(request, snapshot, row, policy.choice)
    return () if found is None else placing.claims(found.holds, snapshot.nodes[row].devices)


def _alive(pod: projections.Pod | None) -> projections.Pod | None:
    return pod if pod is not None and not pod.status.over else None


def _alike(one: PodRequest, other: PodRequest) -> bool:
    """Whether two requests differ at most in what a decision itself writes: nodes and UUIDs."""
    return _plain(one) == _plain(other)


def _plain(request: PodRequest) -> PodRequest:
    anywhere = msgspec.structs.replace(request, eligibility=ANYWHERE)
    return anywhere.each(lambda one: msgspec.structs.replace(one, uuids=()))


def _size(request: PodRequest) -> int:
    """Return how much a request says in texts that its author chooses."""
    return sum([len(text) + _ENTRY for text in _texts(request)])


def _texts(request: PodRequest) -> Iterator[str]:
    wish = request.eligibility
    for requirement in chain(wish.all_of, *wish.any_of):
        yield requirement.key
        yield from requirement.values
    for toleration in wish.tolerations:
        yield from (toleration.key, toleration.value)
    for name, one in chain(request.devices, request.init_devices):
        yield name
        yield from chain(one.models, one.models_not, one.uuids, one.uuids_not)
    yield from chain(request.other, (request.workload, request.group))


def _charge(review: Review, placed: Placed) -> Charge:
    """Return what a Pod will hold of the node that was chosen."""
    request, decided = placed.request, placed.decided
    return Charge(
        namespace=review.namespace,
        name=review.shown_name,
        uid=decided.id,
        node=decided.node,
        cpu_milli=request.cpu_milli,
        memory_mib=request.memory_mib,
        other=request.other,
        claims=decided.devices,
        source=Source.DECIDED,
        init=tuple([name for name, _ in request.init_devices]),
        sidecars=request.sidecars,
        workload=request.workload,
        group=request.group,
    )
