"""A bound Pod as the ledger counts it: what it holds of its node, and how we know."""

from collections import Counter
from collections.abc import Mapping, Sequence

from berth import names
from berth.cluster import amounts
from berth.cluster.projections import Amounts, Pod
from berth.dialects import allocated
from berth.dialects.allocated import Recorded
from berth.model.charge import Charge, Claim, Source, roles
from berth.model.decided import parse
from berth.model.holding import whole
from berth.model.terms import NO_TERMS, Terms, group
from berth.model.vendor import Vendor

_DECISION = f"metadata.annotations[{names.DECISION}]"


class Reader:
    """Reads Pods under one set of vendors and terms."""

    def __init__(self, vendors: Sequence[Vendor], terms: Terms = NO_TERMS) -> None:
        """Work out once whose the resources are, in the words of every dialect."""
        self._terms = terms
        self._keys = allocated.keys(vendors)
        words = terms.words or tuple(vendors)
        self._owned = frozenset(name for one in words for name in one.resources)
        self._cards = {one.count: 1 for one in words}
        """Resources that ask for cards, and how much of each is one."""
        self._cards |= {one.cores: one.core_unit for one in words if "cores" in one.of_all}

    def charge(self, pod: Pod) -> tuple[Charge, tuple[str, ...]]:
        """Return what a bound Pod holds and what is wrong with its annotations.

        Where nothing says which cards it holds, the source is GUESSED, and the claims are still
        to be made: `guess` of the fleet.
        """
        held, wrong = amounts.of_pod(pod)
        claims, source, problems = self._claims(pod)
        before = [(one.name, one.restart_policy == "Always") for one in pod.spec.init_containers]
        init, sidecars = roles(before) if claims and before else ((), ())
        if init and pod.status.init_ended.issuperset(init):
            claims = tuple(claim for claim in claims if claim.container not in init)
            init, sidecars = (), ()
        labels, annotations = pod.metadata.labels, pod.metadata.annotations
        charge = Charge(
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            uid=pod.metadata.uid,
            node=pod.spec.node_name,
            cpu_milli=held.cpu_milli,
            memory_mib=held.memory_mib,
            other=held.without(self._owned),
            claims=claims,
            source=source,
            init=init,
            sidecars=sidecars,
            workload=self._terms.workload(labels, annotations) if source is not Source.NONE else "",
            group=group(pod.metadata.namespace, labels) if source is not Source.NONE else "",
        )
        return charge, (*wrong, *problems)

    def _claims(self, pod: Pod) -> tuple[tuple[Claim, ...], Source, tuple[str, ...]]:
        annotations = pod.metadata.annotations
        found = Recorded()
        if annotations:
            each = (*pod.spec.init_containers, *pod.spec.containers)
            found = allocated.read(annotations, self._keys, [one.name for one in each])
            if found.claims:
                return found.claims, Source.RECORDED, found.problems
        if not self._asks(pod):
            return (), Source.NONE, found.problems
        claims, problem = decided(annotations, pod.spec.node_name)
        if not self._asks_for(claims, pod):
            claims, problem = (), f"{_DECISION}: names more cards than the Pod asks for"
        problems = (*found.problems, *([problem] if problem else ()))
        return claims, Source.DECIDED if claims else Source.GUESSED, problems

    def _asks_for(self, claims: Sequence[Claim], pod: Pod) -> bool:
        """Whether a Pod asks for so many cards: whoever forges a decision holds no more."""
        each = (*pod.spec.init_containers, *pod.spec.containers)
        most = {one.name: self._most(one.resources) for one in each}
        named = Counter(claim.container for claim in claims)
        return all(count <= most.get(name, 0) for name, count in named.items())

    def _most(self, asked: Amounts) -> int:
        """Return how many cards a container may get: one where it names but a size."""
        amounts = {**asked.requests, **asked.limits}
        if self._owned.isdisjoint(amounts):
            return 0
        counts = ((whole(amounts.get(name, "0")) or 0, unit) for name, unit in self._cards.items())
        return max(1, sum(-(-count // unit) for count, unit in counts))

    def _asks(self, pod: Pod) -> bool:
        return any(
            not self._owned.isdisjoint(quantities)
            for one in (*pod.spec.init_containers, *pod.spec.containers)
            for quantities in (one.resources.limits, one.resources.requests)
        )


def decided(annotations: Mapping[str, str], node: str) -> tuple[tuple[Claim, ...], str]:
    """Return what our decision gave a Pod, if it names this node, and why it cannot be read."""
    text = annotations.get(names.DECISION)
    if not text:
        return (), ""
    try:
        decision = parse(text)
    except ValueError as error:
        return (), f"{_DECISION}: {error}"
    return (decision.devices if decision.node == node else ()), ""
