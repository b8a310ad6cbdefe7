"""What is added to a Pod's affinity never changes what its author's own terms mean."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from berth.admission import affinity, patch, project, standing, unplaced
from berth.admission.wanted import wanted
from berth.model.decided import Decided
from berth.model.demand import Demand
from berth.model.eligibility import Eligibility
from berth.model.placed import Delivery, Placed
from berth.model.problem import Problem
from berth.model.request import PodRequest
from berth.model.said import Said
from tests.pods import Pod, gpu_pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NAMES = ["n1", "n2", "n3", "n4"]
NODES = [
    {"metadata.name": name, "kubernetes.io/hostname": f"h-{name}", "zone": zone, "disk": disk}
    for name, zone, disk in zip(NAMES, "aabb", ("ssd", "", "ssd", "3"), strict=True)
]

EXPRESSION = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["zone", "disk", "kubernetes.io/hostname"]),
        "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    },
    optional={"values": st.lists(st.sampled_from(["a", "b", "ssd", "h-n1", "h-n3"]), max_size=2)},
)
FIELD = st.fixed_dictionaries(
    {
        "key": st.just("metadata.name"),
        "operator": st.sampled_from(["In", "NotIn"]),
        "values": st.lists(st.sampled_from(NAMES), min_size=1, max_size=1),
    }
)
TERM = st.fixed_dictionaries(
    {},
    optional={
        "matchExpressions": st.none() | st.lists(EXPRESSION, max_size=2),
        "matchFields": st.lists(FIELD, max_size=1),
    },
)
TERMS = st.none() | st.lists(TERM, min_size=1, max_size=3)
LIKED = st.lists(st.fixed_dictionaries({"weight": st.integers(1, 100), "preference": TERM}))
HOSTS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)


def holds(one: dict[str, Any], node: dict[str, str]) -> bool:
    """Say whether a node meets one requirement."""
    value, values = node.get(one["key"]) or None, one.get("values", [])
    return {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }[str(one["operator"])]


def selected(pod: Pod) -> set[str]:
    """Return the nodes that required affinity leaves: Kubernetes' rule, written down once more."""
    node_affinity = ((pod["spec"].get("affinity") or {}).get("nodeAffinity")) or {}
    required = node_affinity.get(REQUIRED)
    if required is None:
        return set(NAMES)
    found = set()
    for node in NODES:
        for term in required["nodeSelectorTerms"]:
            each = [*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ())]
            if each and all(holds(one, node) for one in each):
                found.add(node["metadata.name"])
    return found


def told(pod: Pod, placed: Placed) -> Pod:
    """Return the Pod with what leads it to its place, and the mark by which it is known."""
    read = project.pod(pod)
    changes = [*affinity.changes(read, Demand(()), placed)]
    changes += standing.mark(read, placed.decided, Said("why.known-again"))
    edits = [one for one in changes if not isinstance(one, Said | Problem)]
    return patch.record(pod, edits)[1]


def accepted(pod: Pod) -> Eligibility:
    """Return which nodes the author of a Pod accepts, as is known once it was placed."""
    read = project.pod(pod)
    request = wanted(read, Demand(()), frozenset())
    return unplaced.eligible(read, request).eligibility


@settings(max_examples=150, deadline=None)
@given(TERMS, LIKED, HOSTS, st.sampled_from([Delivery.PREFER, Delivery.REQUIRE, Delivery.PIN]))
def test_each_or_term_gets_what_is_added_and_a_second_time_nothing(
    terms: list[Any] | None, liked: list[Any], hosts: list[str], delivery: Delivery
) -> None:
    """Of the nodes that its author accepts, those that were decided on, and no other.

    What he accepts is still known from the Pod that was led.
    """
    pod = gpu_pod({"nvidia.com/gpu": "1"})
    node: dict[str, Any] = {PREFERRED: liked} if liked else {}
    if terms is not None:
        node[REQUIRED] = {"nodeSelectorTerms": terms}
    if node:
        pod["spec"]["affinity"] = {"nodeAffinity": node}
    placed = Placed(
        request=PodRequest(),
        decided=Decided(id="x", node=hosts[0], delivery=delivery.value, candidates=len(hosts)),
        delivery=delivery,
        hosts=tuple(f"h-{name}" for name in hosts),
    )
    after = told(pod, placed)
    ours = {
        Delivery.PREFER: set(NAMES),
        Delivery.REQUIRE: set(hosts),
        Delivery.PIN: {hosts[0]},
    }[delivery]
    assert selected(after) == selected(pod) & ours
    kept = after["spec"]["affinity"]["nodeAffinity"].get(PREFERRED, [])
    assert kept[: len(liked)] == liked
    if delivery is not Delivery.PREFER:
        assert len(kept) == len(liked)
    assert told(after, placed) == after
    assert accepted(after) == accepted(pod)
