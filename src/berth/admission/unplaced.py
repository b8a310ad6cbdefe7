"""What a Pod wanted before Berth led it to a place: for those who ask where else it could go.

Nothing in a Pod says which requirement is whose, so what `affinity` and a dialect would have
written is taken for theirs. Cards that the author named himself are lost where others were pinned.
"""

from collections.abc import Callable

from msgspec.structs import replace

from berth import names
from berth.admission import project
from berth.model import decided
from berth.model.decided import Decided
from berth.model.eligibility import NODE_NAME, Eligibility, Expression
from berth.model.pod import Pod
from berth.model.raw import JsonObject
from berth.model.request import DeviceRequest, PodRequest

Term = tuple[Expression, ...]
Named = tuple[str, DeviceRequest]


def unplaced(raw: JsonObject, request: PodRequest) -> PodRequest:
    """Return what a Pod, which wants `request` as it stands, wanted before it was placed."""
    pod = project.pod(raw)
    found = decided.read(pod.annotations.get(names.DECISION))
    if found is None or not found.node or pod.annotations.get(names.INJECTED) != "true":
        return request
    wish = request.eligibility
    if not any(_pins(one, found) for term in wish.any_of for one in term):
        return request if _prefers(pod) else replace(request, eligibility=_freed(wish, _lists))
    return replace(
        request,
        eligibility=_freed(wish, lambda one: _pins(one, found)),
        devices=_of_any_uuid(request.devices, found),
        init_devices=_of_any_uuid(request.init_devices, found),
    )


def _pins(one: Expression, found: Decided) -> bool:
    return one == Expression(NODE_NAME, "In", (found.node,))


def _lists(one: Expression) -> bool:
    return one.key == names.HOST_LABEL and one.operator == "In"


def _prefers(pod: Pod) -> bool:
    """Whether the best node has been preferred: then none was required."""
    each = [one.get("preference") for one in pod.nodes.preferred if one.get("weight") == 100]
    return any(names.HOST_LABEL in str(preference) for preference in each)


def _freed(wish: Eligibility, ours: Callable[[Expression], bool]) -> Eligibility:
    """Leave out the last such expression of each term, which is where it was added."""
    terms = tuple(_without(term, ours) for term in wish.any_of)
    freed = any(before and not after for before, after in zip(wish.any_of, terms, strict=True))
    return replace(wish, any_of=() if freed else terms)


def _without(term: Term, ours: Callable[[Expression], bool]) -> Term:
    places = [place for place, one in enumerate(term) if ours(one)]
    return term[: places[-1]] + term[places[-1] + 1 :] if places else term


def _of_any_uuid(requests: tuple[Named, ...], found: Decided) -> tuple[Named, ...]:
    chosen = {one.uuid for one in found.devices}
    return tuple(
        (name, replace(one, uuids=()) if chosen.issuperset(one.uuids) else one)
        for name, one in requests
    )
