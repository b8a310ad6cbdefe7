"""Public bug reports that a translation must not repeat, by their number."""

from typing import Any

import pytest

from berth import names
from berth.model.card import known
from berth.model.decision import Verdict
from berth.model.device import Device
from berth.model.reason import Reason
from tests.dialects.converting import (
    A100,
    GPU,
    MEMORY,
    NUMBER,
    PERCENT,
    POOL,
    VMEMORY,
    VPERCENT,
    annotations,
    asking,
    converting,
    decide,
    limits,
    patched,
    said,
)
from tests.pods import container, pod

VOLCANO = converting("volcano", A100)
WRITTEN = ("hami", "volcano", "pool", "plain")


@pytest.mark.parametrize("writes", ["hami", "pool", "plain"])
@pytest.mark.parametrize("more", [{}, {"restartPolicy": "Always"}], ids=["init", "sidecar"])
def test_r1_an_init_container_is_translated_too(writes: str, more: dict[str, str]) -> None:
    """1 (HAMi#2558): no list of containers is left out; Volcano, which would, has a refusal."""
    asked = pod(container(), initContainers=[container("fetch", {NUMBER: "1"}, **more)])
    asked["spec"]["schedulerName"] = "default-scheduler"
    found = limits(patched(asked, converting(writes)), 0, "initContainers")
    assert NUMBER not in found
    assert found
    (problem,) = decide(asked, VOLCANO).problems
    assert problem.reason is Reason.LOSS


@pytest.mark.parametrize("writes", WRITTEN)
@pytest.mark.parametrize("name", [GPU, NUMBER, POOL])
def test_r4_nothing_is_no_request_in_any_dialect(writes: str, name: str) -> None:
    """4 (k8s-device-plugin#61): 0 gets no scheduler, no other name and no default."""
    by = converting(writes, memory="4Gi", defaults={"cpuRequest": "4"})
    asked = asking({name: "0"})
    assert decide(asked, by).pod == asked


@pytest.mark.parametrize("amount", ["16Gi", "18014398509481985", "-1", "9223372036854775808"])
@pytest.mark.parametrize("name", [MEMORY, VMEMORY])
def test_r7_bytes_are_no_mib(name: str, amount: str) -> None:
    """7 (HAMi#2284): what wraps elsewhere is refused in Volcano's words as in HAMi's."""
    count = GPU if name == MEMORY else NUMBER
    decision = decide(asking({count: "1", name: amount}), VOLCANO)
    assert decision.verdict is Verdict.REFUSED
    assert f"limits[{name}]" in str(decision.problems[0])


@pytest.mark.parametrize("name", [NUMBER, VMEMORY, POOL])
def test_r10_a_resource_as_annotation_is_warned_about(name: str) -> None:
    """10 (KAI-Scheduler#257): in whichever dialect it was misplaced."""
    decision = decide(asking({}, {name: "1"}), VOLCANO)
    assert decision.verdict is Verdict.UNCHANGED
    assert any(name in one and "no effect" in one for one in said(decision))


def test_r11_the_request_that_counts_is_shown() -> None:
    """11 (HAMi#194): a number is of cards, memory of each; the record holds what was written."""
    decision = patched(asking({GPU: "2"}), VOLCANO)
    assert limits(decision) == {NUMBER: "2"}
    assert annotations(decision)[names.ORIGINAL_REQUEST].count("nvidia.com/gpu") == 1


PERCENTS = [({GPU: "1", PERCENT: "20"}, "8192"), ({NUMBER: "1", VPERCENT: "20"}, "8192")]


@pytest.mark.parametrize(("asked", "mib"), PERCENTS, ids=str)
def test_r13_percent_is_known_before_it_is_counted(asked: dict[str, str], mib: str) -> None:
    """13 (HAMi#2468): resolved at admission where it can be, so that a quota sees MiB."""
    decision = patched(asking(asked), VOLCANO)
    assert limits(decision)[VMEMORY] == mib
    assert decision.demand is not None
    assert decision.demand.totals()["nvidia"].memory_mib == int(mib)


def test_r23_percent_is_rounded_down_and_never_to_nothing() -> None:
    """23 (volcano#3465): 20 % of 32768 MiB are 6553; 1 % of the smallest card is not 0."""
    card = Device(uuid="u", vendor="nvidia", model="m", memory_mib=32768)
    by = converting("volcano", *known([[card]]))
    found = patched(asking({NUMBER: "1", VPERCENT: "20"}), by)
    assert limits(found) == {NUMBER: "1", VMEMORY: "6553"}
    tiny = Device(uuid="u", vendor="nvidia", model="m", memory_mib=64)
    by = converting("volcano", *known([[tiny]]))
    assert limits(patched(asking({GPU: "1", PERCENT: "1"}), by))[VMEMORY] == "1"


def test_r23_a_card_whose_memory_nobody_tells_is_no_size() -> None:
    """23 (KAI-Scheduler#1847): what is not known is left out, and is no minimum of anything."""
    silent = Device(uuid="u", vendor="nvidia", model="m", memory_mib=1)
    assert known([[silent], []]) == ()
    node = [Device(uuid=str(i), vendor="nvidia", model="m", memory_mib=40900) for i in range(2)]
    assert [(one.memory_mib, one.most) for one in known([node, [silent]])] == [(40900, 2)]


def test_r29_the_record_is_kept_by_name() -> None:
    """29 (volcano#4505): containers 1 and 3 ask for two cards each, container 2 for none."""
    asked = pod(
        container("a", {GPU: "2", MEMORY: "2000"}),
        container("b"),
        container("c", {GPU: "2", MEMORY: "3000"}),
    )
    decision = patched(asked, VOLCANO)
    assert limits(decision, 0) == {NUMBER: "2", VMEMORY: "2000"}
    assert limits(decision, 2) == {NUMBER: "2", VMEMORY: "3000"}
    record = annotations(decision)[names.ORIGINAL_REQUEST]
    assert '"a":' in record
    assert '"c":' in record
    assert '"b":' not in record


def test_r34_what_another_webhook_adds_later_is_translated_in_the_next_pass() -> None:
    """34 (kueue#4681): a container that came meanwhile, first in the list, is no container 0."""
    first: Any = patched(asking({GPU: "1", MEMORY: "1000"}), VOLCANO).pod
    first["spec"]["containers"].insert(0, container("late", {GPU: "1", MEMORY: "500"}))
    decision = patched(first, VOLCANO)
    assert limits(decision, 0) == {NUMBER: "1", VMEMORY: "500"}
    assert limits(decision, 1) == {NUMBER: "1", VMEMORY: "1000"}
    record = annotations(decision)[names.ORIGINAL_REQUEST]
    assert record.count("nvidia.com/gpumem") == 2


def test_r61_who_looks_for_the_usual_name_is_told() -> None:
    """61 (HAMi#1099): an autoscaler matches nvidia.com/gpu; that it goes is said, and kept.

    We judge otherwise than the report, which keeps the name in the Pod: under Volcano no node has
    it, and the Pod would wait for ever.
    """
    decision = patched(asking({GPU: "1"}), VOLCANO)
    assert any(GPU in one and NUMBER in one for one in said(decision))
    assert GPU not in limits(decision)
