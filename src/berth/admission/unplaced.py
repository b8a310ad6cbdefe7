"""What a Pod wanted before Berth led it to a place: for those who ask where else it could go.

`affinity` writes last in each term, so the last such requirement is taken for its own. Cards that
the author named himself stand in the decision.
"""

from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

from berth import names
from berth.model import decided
from berth.model.decided import Decided
from berth.model.demand import ContainerDemand, Demand
from berth.model.eligibility import NODE_NAME, Eligibility, Expression
from berth.model.placed import Delivery
from berth.model.pod import Pod
from berth.model.request import PodRequest

Term = tuple[Expression, ...]


def wished(pod: Pod, demand: Demand) -> Demand:
    """Return what a Pod, which asks for `demand` as it stands, asked for before it was placed."""
    found = _led(pod)
    if found is None or found.delivery != Delivery.PIN.value:
        return demand
    return Demand(tuple(_own(one, found) for one in demand.containers))


def eligible(pod: Pod, request: PodRequest) -> PodRequest:
    """Return the request of a Pod as it was before it was placed, but for its cards.

    Where nodes were only preferred, that is what it is.
    """
    found = _led(pod)
    ours = _REQUIRED.get(found.delivery) if found else None
    if found is None or ours is None:
        return request
    return replace(request, eligibility=_freed(request.eligibility, partial(ours, found)))


def named(pod: Pod, demand: Demand) -> dict[str, tuple[str, ...]]:
    """Return the devices that the author names, by the container that is to have some of them."""
    if all(share.wishes.uuids is None for share in demand.shares):
        return {}
    return {
        one.container.name: tuple(sorted(one.share.wishes.uuids))
        for one in wished(pod, demand).containers
        if one.share and one.share.wishes.uuids is not None
    }


def _led(pod: Pod) -> Decided | None:
    """Return the decision by which the Pod was led somewhere."""
    if names.DECISION not in pod.annotations or pod.annotations.get(names.INJECTED) != "true":
        return None
    found = decided.read(pod.annotations[names.DECISION])
    return found if found and found.node else None


def _own(wanted: ContainerDemand, found: Decided) -> ContainerDemand:
    """Let a container have what its author names, where it has what was chosen for it."""
    share = wanted.share
    chosen = {one.uuid for one in found.devices}
    if share is None or not chosen.issuperset(share.wishes.uuids or ()):
        return wanted
    own = found.named.get(wanted.container.name)
    wishes = replace(share.wishes, uuids=None if own is None else frozenset(own))
    return replace(wanted, share=replace(share, wishes=wishes))


def _pins(found: Decided, one: Expression) -> bool:
    return one == Expression(NODE_NAME, "In", (found.node,))


def _lists(_: Decided, one: Expression) -> bool:
    return one.key == names.HOST_LABEL and one.operator == "In"


_REQUIRED: Mapping[str, Callable[[Decided, Expression], bool]] = {
    Delivery.PIN.value: _pins,
    Delivery.REQUIRE.value: _lists,
}


def _freed(wish: Eligibility, ours: Callable[[Expression], bool]) -> Eligibility:
    """Leave out the last such expression of each term, which is where it was added."""
    terms = tuple(_without(term, ours) for term in wish.any_of)
    freed = any(before and not after for before, after in zip(wish.any_of, terms, strict=True))
    return replace(wish, any_of=() if freed else terms)


def _without(term: Term, ours: Callable[[Expression], bool]) -> Term:
    places = [place for place, one in enumerate(term) if ours(one)]
    return term[: places[-1]] + term[places[-1] + 1 :] if places else term
