"""A decision about a Pod's place, written into the Pod in Kubernetes' own words.

Devices in the words of a sharing stack are for its dialect to write.
"""

from collections.abc import Iterator

from berth import names
from berth.model.demand import Demand
from berth.model.edit import Append, Change, Put
from berth.model.eligibility import NODE_NAME
from berth.model.placed import Delivery, Placed
from berth.model.pod import Container, Pod
from berth.model.raw import Json, JsonObject, Path
from berth.model.said import Said

_NODE: Path = ("spec", "affinity", "nodeAffinity")
_TERMS: Path = (*_NODE, names.REQUIRED_AFFINITY, names.NODE_TERMS)
_PREFERRED: Path = (*_NODE, names.PREFERRED_AFFINITY)
_DECIDED = Said("why.decided")
_WEIGHTS = range(100, 0, -10)
"""Of the best nodes, as many as there are weights; Kubernetes takes 1 to 100."""


def changes(pod: Pod, demand: Demand, placed: Placed) -> Iterator[Change]:
    """Yield what leads the Pod to where it was decided; nothing where no node fits.

    A second time, on its own result, it changes nothing.
    """
    if not placed.decided.node or not (placed.hosts or placed.pinned):
        return
    if placed.delivery is Delivery.PREFER:
        yield from _prefer(pod, placed)
    elif placed.delivery is Delivery.REQUIRE:
        hosts: JsonObject = {"key": names.HOST_LABEL, "operator": "In", "values": [*placed.hosts]}
        fit = Said("why.fits", {"count": placed.decided.candidates})
        yield from _require(pod, "matchExpressions", hosts, fit)
    elif placed.delivery is Delivery.PIN:
        node = placed.decided.node
        name: JsonObject = {"key": NODE_NAME, "operator": "In", "values": [node]}
        yield from _require(pod, "matchFields", name, Said("why.node"))
        yield from _told(demand, placed)
    if pod.annotations.get(names.INJECTED) != "true":
        yield Put(("metadata", "annotations", names.INJECTED), "true", Said("why.told"))


def bound(pod: Pod) -> bool:
    """Whether the Pod goes to one node whatever we say: set, or by affinity as of a DaemonSet.

    With a decision it is what another replica has pinned in an earlier pass, and is ours to place.
    """
    if pod.node_name:
        return True
    named = {_named(term) for term in pod.affinity.terms}
    one = pod.affinity.required and None not in named and len(named) < 2
    return one and names.DECISION not in pod.annotations


def _named(term: JsonObject) -> str | None:
    """Return what a term asks for as the name of a node, which is one, or None."""
    fields = term.get("matchFields")
    for one in fields if isinstance(fields, list) else ():
        if isinstance(one, dict) and (one.get("key"), one.get("operator")) == (NODE_NAME, "In"):
            return str(one.get("values"))
    return None


def _require(pod: Pod, kind: str, one: JsonObject, why: Said) -> Iterator[Change]:
    """Let each of the terms, of which one must hold, ask for ours too.

    A term that is empty holds on no node, and would hold on ours with it: it stays empty. Ours
    comes last, also beside the same of the author's, so that `unplaced` takes out no other.
    """
    again = names.DECISION in pod.annotations
    if not pod.affinity.terms:
        yield Put(_TERMS, [{kind: [one]}], why)
    for at, term in enumerate(pod.affinity.terms):
        there = term.get(kind)
        full = term.get("matchExpressions") or term.get("matchFields")
        if full and not (again and isinstance(there, list) and one in there):
            yield Append((*_TERMS, at, kind), one, why)


def _prefer(pod: Pod, placed: Placed) -> Iterator[Change]:
    entries: list[JsonObject] = []
    for weight, host in zip(_WEIGHTS, placed.hosts, strict=False):
        expression: Json = {"key": names.HOST_LABEL, "operator": "In", "values": [host]}
        entries.append({"weight": weight, "preference": {"matchExpressions": [expression]}})
    if not pod.affinity.preferred:
        yield Put(_PREFERRED, [*entries], Said("why.best"))
        return
    for entry in entries:
        if entry not in pod.affinity.preferred:
            yield Append(_PREFERRED, entry, Said("why.best"))


def _told(demand: Demand, placed: Placed) -> Iterator[Change]:
    """Tell each container which devices were chosen for it. What it is given is not up to that."""
    for wanted in demand.containers:
        container, share = wanted.container, wanted.share
        mine = [one.uuid for one in placed.decided.devices if one.container == container.name]
        if share is None or not mine:
            continue
        text = ",".join(dict.fromkeys(mine))
        yield from _variable(container, names.CHOSEN_ENV, text)
        if placed.visible and share.vendor.visible_env:
            yield from _variable(container, share.vendor.visible_env, text)


def _variable(container: Container, name: str, text: str) -> Iterator[Change]:
    places, path = container.places(name), (*container.path, "env")
    if not places:
        yield Append(path, {"name": name, "value": text}, _DECIDED)
    elif container.value(places[-1]) != text:
        yield Said("kept.variable", {"path": path, "name": name, "why": _DECIDED})
