"""What a Pod wants of a node, of its cards and of all else, as placement counts it.

The same for every dialect: cards come from the Demand, the rest from the Pod.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from berth.admission import project
from berth.model import holding
from berth.model.asked import pod_request
from berth.model.demand import Demand
from berth.model.eligibility import NODE_NAME, OPERATORS, Eligibility, Expression, Toleration
from berth.model.holding import Asking
from berth.model.pod import Pod
from berth.model.raw import Json, JsonObject, Path, dotted
from berth.model.request import PodRequest

_TERMS: Path = ("spec", "affinity", "nodeAffinity")
NOWHERE = Expression(NODE_NAME, "In")
"""What no node fulfils."""


def wanted(pod: Pod, demand: Demand, known: AbstractSet[str], stack: str = "") -> PodRequest:
    """Return all that a Pod wants. Raises BadReview where its affinity has not the shape of one.

    `known` are the resources that are counted as cards and not beside them (`Rules.known`), and
    `stack` is the one whose cards it must be (`Options.stack`). What is no quantity counts as
    nothing here: the API server refuses it after us.
    """
    amounts, _ = holding.held(_asking(pod), pod.pod_level, pod.overhead)
    of_node = PodRequest(
        cpu_milli=amounts.cpu_milli,
        memory_mib=amounts.memory_mib,
        other=amounts.without(known),
        eligibility=_eligibility(pod),
    )
    return pod_request(demand, of_node, stack)


def _asking(pod: Pod) -> Iterator[Asking]:
    """Yield each container's requests; a limit without a request is one, as Kubernetes has it."""
    for one in pod.containers:
        requests = {**one.limits, **one.requests} if one.limits else one.requests
        yield Asking(dotted(one.path), requests, one.init)


def _eligibility(pod: Pod) -> Eligibility:
    wishes = pod.affinity
    terms = tuple(_term(term) for term in wishes.terms)
    return Eligibility(
        all_of=tuple(Expression(key, "In", (str(one),)) for key, one in wishes.selector.items()),
        any_of=terms or (((NOWHERE,),) if wishes.required else ()),
        tolerations=tuple(_toleration(one) for one in pod.tolerations),
    )


def _term(term: JsonObject) -> tuple[Expression, ...]:
    """Return one term; an empty one holds on no node, and neither does what Kubernetes refuses."""
    return tuple(
        _expression(one)
        for kind in ("matchExpressions", "matchFields")
        for one in project.objects(term, kind, _TERMS)
    )


def _expression(raw: JsonObject) -> Expression:
    key, operator, values = raw.get("key"), raw.get("operator"), raw.get("values")
    if not isinstance(key, str) or not isinstance(operator, str) or operator not in OPERATORS:
        return NOWHERE
    listed = values if isinstance(values, list) else []
    return Expression(key, operator, tuple(str(one) for one in listed))


def _toleration(raw: JsonObject) -> Toleration:
    return Toleration(
        key=_text(raw, "key"),
        operator=_text(raw, "operator") or "Equal",
        value=_text(raw, "value"),
        effect=_text(raw, "effect"),
    )


def _text(raw: Mapping[str, Json], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""
