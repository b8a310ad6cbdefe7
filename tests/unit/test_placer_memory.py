"""What is left in memory of Pods that say very much: next to nothing.

Whoever may create Pods may send thousands of 3 MiB by dry run; what can be stored is found out
after us.
"""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from berth.model.holding import whole
from tests.placing import Cluster, asking
from tests.pods import Pod

_MANY = 3_000
_PODS = 10
_MOST_LEFT = 2 * 2**20
"""Bytes; an entry takes some hundred, and so a Pod more than this if it is remembered at all."""


def _selector(number: int, pod: Pod) -> None:
    pod["spec"]["nodeSelector"] = {f"key-{number}-{each}": "x" for each in range(_MANY)}


def _values(number: int, pod: Pod) -> None:
    _required(pod, [{"key": "k", "operator": "NotIn", "values": _texts(number)}])


def _requirements(number: int, pod: Pod) -> None:
    _required(pod, [{"key": key, "operator": "DoesNotExist"} for key in _texts(number)])


def _tolerations(number: int, pod: Pod) -> None:
    pod["spec"]["tolerations"] = [{"key": key, "operator": "Exists"} for key in _texts(number)]


def _uuids(number: int, pod: Pod) -> None:
    pod["metadata"]["annotations"] = {"nvidia.com/nouse-gpuuuid": ",".join(_texts(number))}


def _few_keys(number: int, pod: Pod) -> None:
    """Few in each Pod, and other ones in each."""
    _required(pod, [{"key": key, "operator": "DoesNotExist"} for key in _texts(number)[:600]])


def _texts(number: int) -> list[str]:
    return [f"{number}-{each}" for each in range(_MANY)]


def _required(pod: Pod, expressions: list[dict[str, Any]]) -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    pod["spec"]["affinity"] = {"nodeAffinity": required}


@pytest.mark.parametrize(
    "say", [_selector, _values, _requirements, _tolerations, _uuids], ids=lambda say: say.__name__
)
def test_a_pod_that_says_very_much_is_not_remembered(say: Callable[[int, Pod], None]) -> None:
    """It passes without a place: its scheduler reads all that it says."""
    assert _left(say, placed=False) < _MOST_LEFT


def test_labels_that_no_node_has_are_not_remembered() -> None:
    """A Pod that asks for some is placed, and another asks for other ones."""
    assert _left(_few_keys, placed=True) < _MOST_LEFT


def test_an_amount_that_is_too_long_for_one_is_not_remembered() -> None:
    """Of other resources than cards, which are read for placement alone."""
    kept = whole.cache_info().currsize

    def say(number: int, pod: Pod) -> None:
        pod["spec"]["containers"][0]["resources"]["limits"]["cpu"] = f"{number}" * 1000

    _left(say, placed=True)
    assert whole.cache_info().currsize < kept + _PODS / 2


def test_a_name_that_is_too_long_for_one_is_not_kept_with_what_its_pod_was_promised() -> None:
    """Not even where it is no dry run, and the promise stands for a while."""

    def say(number: int, pod: Pod) -> None:
        pod["metadata"]["generateName"] = f"{number}" * 2**20

    assert _left(say, placed=True, dry_run=False) < _MOST_LEFT


def test_a_pod_that_says_very_much_is_forgotten_when_it_is_gone() -> None:
    """Also where the API server took it, which takes 256 KiB of annotations, again and again."""
    cluster = Cluster("n1", "n2")

    def come_and_go(number: int) -> None:
        pod = asking()
        pod["metadata"]["annotations"] = {"hami.io/scheduling-policy": f"{number}" * 250_000}
        cluster.show(pod, "pod", on="n1")
        cluster.gone("pod")

    assert _grown(come_and_go) < _MOST_LEFT


def _left(say: Callable[[int, Pod], None], *, placed: bool, dry_run: bool = True) -> int:
    """Return the bytes that are left of Pods which say something, each with its number."""
    (replica,) = Cluster(*(f"n{number}" for number in range(20))).replicas
    replica.ask(asking())

    def ask(number: int) -> None:
        pod = asking()
        say(number, pod)
        assert (replica.ask(pod, dry_run=dry_run).placed is not None) is placed

    return _grown(ask)


def _grown(do: Callable[[int], None]) -> int:
    """Return the bytes that are left of something that is done with each number."""
    do(0)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(1, _PODS + 1):
            do(number)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
