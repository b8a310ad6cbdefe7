"""Public bug reports about quota, by their number: the small input of each, and what is right."""

from typing import Any

import pytest

from berth import layered
from berth.admission import configuration
from berth.model.decision import Verdict
from tests.clauses import what
from tests.hami.deciding import GPU, MEMORY, PERCENT
from tests.pods import Pod, container, gpu_pod, pod
from tests.quotas import Cluster
from tests.reviews import SPACE

RULES, _ = configuration.rules(layered.settings(None), None)


def placed(asked: Pod, cluster: Cluster, record: str) -> None:
    """Store a Pod with the devices that HAMi's scheduler gave it."""
    decision = cluster.ask(asked)
    assert decision.verdict is not Verdict.REFUSED
    made: Any = decision.pod
    made["metadata"]["annotations"]["hami.io/vgpu-devices-allocated"] = record
    made["spec"]["nodeName"] = "n1"
    cluster.show(made, "placed")


@pytest.mark.parametrize("init", [[], [container("chown")]], ids=["alone", "beside chown"])
def test_r2_an_init_container_that_asks_for_nothing_changes_no_count(init: list[Pod]) -> None:
    """2 (HAMi#3052): 40 % of a card twice is 32000 MiB, with or without such a neighbour."""
    cluster = Cluster(RULES, {f"limits.{MEMORY}": "24000"})
    apps = [container(name, {GPU: "1", PERCENT: "40"}) for name in ("a", "b")]
    slot = "GPU-1,NVIDIA,16000,0:;"
    placed(pod(*apps, initContainers=init), cluster, ";" * len(init) + slot + slot)
    (problem,) = cluster.ask(gpu_pod({MEMORY: "1"})).problems
    assert "uses 32000 MiB" in what(problem)


@pytest.mark.parametrize("kind", ["initContainers", "containers"])
@pytest.mark.parametrize("each", [16000, 12000], ids=["too much", "just enough"])
def test_r2_nor_does_it_change_what_is_asked_for(kind: str, each: int) -> None:
    """2: two containers of 16000 MiB are refused under 24000 beside one that asks for nothing."""
    cluster = Cluster(RULES, {f"limits.{MEMORY}": "24000"})
    apps = pod(*(container(name, {GPU: "1", MEMORY: str(each)}) for name in ("a", "b")))
    apps["spec"].setdefault(kind, []).append(container("chown"))
    assert (cluster.ask(apps, dry_run=True).verdict is Verdict.REFUSED) == (each > 12000)


def test_r13_what_is_not_named_counts_when_it_is_known() -> None:
    """13 (HAMi#2468): a whole card of 40960 MiB under 25600; the next Pod hears of it."""
    cluster = Cluster(RULES, {f"limits.{MEMORY}": "25600"})
    whole = gpu_pod({GPU: "1"})
    assert cluster.ask(whole, dry_run=True).warnings
    assert cluster.ask(whole, dry_run=True, deny_unsized=True).verdict is Verdict.REFUSED
    placed(whole, cluster, "GPU-1,NVIDIA,40960,100:;")
    for asked in (whole, gpu_pod({MEMORY: "100"})):
        (problem,) = cluster.ask(asked).problems
        assert "uses 40960 MiB" in what(problem)


def test_r13_every_vendor_is_checked() -> None:
    """13 (HAMi#2157): 9000 of 10000 are used, 2000 are asked for."""
    names = ("hygon.com/dcunum", "hygon.com/dcumem")
    cluster = Cluster(RULES, {f"limits.{names[1]}": "10000"})
    assert cluster.create(gpu_pod(dict(zip(names, ("1", "9000"), strict=True))), "old")
    decision = cluster.ask(gpu_pod(dict(zip(names, ("1", "2000"), strict=True))))
    assert decision.verdict is Verdict.REFUSED


def test_r53_what_failed_after_us_is_free_again() -> None:
    """53 (HAMi#1896): neither a creation that failed nor a Pod that is gone holds anything."""
    cluster = Cluster(RULES, {f"limits.{MEMORY}": "1000"})
    asked = gpu_pod({MEMORY: "1000"})
    assert cluster.ask(asked).verdict is not Verdict.REFUSED
    cluster.now += 10
    assert cluster.create(asked, "a")
    cluster.pods.remove((SPACE, "a"))
    assert cluster.stored() == cluster.claims.held(SPACE) == {}
