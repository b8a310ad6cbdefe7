"""CPU and memory of a container that got a device and names none of its own."""

from collections.abc import Iterator

from berth.dialects.conversion import Defaults
from berth.model import quantity
from berth.model.edit import Change, Put
from berth.model.pod import Container, Pod
from berth.model.raw import Json
from berth.model.said import Said

_WHY = Said("why.default")


def fill(of: Container, pod: Pod, defaults: Defaults) -> Iterator[Change]:
    """Yield what lacks: no limit below the user's request.

    A limit of the user's without a request is a request too: Kubernetes takes it for both. A
    resource that the Pod has as a whole (KEP-2837) is its own to divide.
    """
    for name, request, limit in defaults.given:
        if of.limits.get(name) is not None or name in pod.pod_level:
            continue
        asked = of.requests.get(name)
        if limit:
            yield Put((*of.path, "resources", "limits", name), _larger(limit, asked), _WHY)
        if request and asked is None:
            yield Put((*of.path, "resources", "requests", name), request, _WHY)


def _larger(ours: str, theirs: Json) -> Json:
    return theirs if theirs is not None and _compared(theirs, ours) > 0 else ours


def _compared(one: Json, other: Json) -> int:
    """Return which is larger, as 1, 0 or -1; what is no quantity is as good as equal."""
    try:
        difference = quantity.parse(one) - quantity.parse(other)
    except quantity.NotAQuantity:
        return 0
    return (difference > 0) - (difference < 0)
