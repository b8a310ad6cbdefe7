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
    for name, request, limit in (
        ("cpu", defaults.cpu_request, defaults.cpu_limit),
        ("memory", defaults.memory_request, defaults.memory_limit),
    ):
        if name in pod.pod_level or not (request or limit):
            continue
        asked, most = of.requests.get(name), of.limits.get(name)
        if most is None and limit:
            yield Put((*of.path, "resources", "limits", name), _larger(limit, asked), _WHY)
        if asked is None and most is None and request:
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
