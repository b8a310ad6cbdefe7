"""Rule A.9.16: a translation is no way out of a quota, whichever name stands in it."""

from typing import Any

import msgspec
import pytest
import yaml

from berth.admission import configuration
from berth.admission.rules import Rules
from berth.model.decision import Verdict
from berth.model.reason import Reason
from berth.settings import Settings
from tests.clauses import what
from tests.dialects.converting import CORES, GPU, MEMORY, NUMBER, POOL, VCORES, VMEMORY
from tests.pods import gpu_pod
from tests.quotas import Cluster


def rules(writes: str) -> Rules:
    """Return the rules of a cluster that writes one dialect everywhere."""
    conversion = {
        "name": "all",
        "namespaces": ["*"],
        "reads": ["hami", "volcano", "pool"],
        "writes": writes,
    }
    return configuration.rules(msgspec.convert({"conversions": [conversion]}, Settings), None)[0]


RULES = {writes: rules(writes) for writes in ("hami", "volcano", "pool", "plain")}
ASKED = {"hami": {GPU: "1", MEMORY: "3000"}, "volcano": {NUMBER: "1", VMEMORY: "3000"}}
ENTRIES: dict[str, tuple[str, str]] = {
    "memory by HAMi's name": (f"limits.{MEMORY}", "5000"),
    "memory by Volcano's": (f"limits.{VMEMORY}", "5000"),
    "memory by the pool's, in bytes": (f"limits.{POOL}", "5000Mi"),
    "memory that Kubernetes kept": (f"requests.{MEMORY}", "5000"),
    "cards that Kubernetes kept": (f"requests.{GPU}", "1"),
    "cards by Volcano's name": (f"requests.{NUMBER}", "1"),
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("writes", ["hami", "volcano"])
def test_a9_16_each_name_of_a_quota_counts_every_dialect(
    writes: str, asked: dict[str, str], entry: tuple[str, str]
) -> None:
    """One Pod fits; a second is refused, by the entry as it stands, with what is used."""
    key, amount = entry
    cluster = Cluster(RULES[writes], {key: amount})
    assert cluster.create(gpu_pod(asked), "first")
    (problem,) = cluster.ask(gpu_pod(asked)).problems
    assert problem.reason is Reason.QUOTA
    assert f"({key})" in what(problem)
    assert "uses 3000 MiB" in what(problem) or "uses 1," in what(problem)


def test_a9_16_cores_are_counted_alike() -> None:
    """In whichever words they were asked for."""
    cluster = Cluster(RULES["volcano"], {f"limits.{CORES}": "50"})
    assert cluster.create(gpu_pod({GPU: "1", MEMORY: "1", CORES: "30"}), "first")
    assert not cluster.create(gpu_pod({NUMBER: "1", VMEMORY: "1", VCORES: "30"}), "second")
    assert cluster.create(gpu_pod({NUMBER: "1", VMEMORY: "1", VCORES: "20"}), "third")


def test_a_whole_card_counts_once_volcano_has_chosen_it() -> None:
    """By Volcano's record, in which containers without a device have no place."""
    cluster = Cluster(RULES["volcano"], {f"limits.{MEMORY}": "50000"})
    asked = gpu_pod({GPU: "1"})
    asked["spec"]["containers"].insert(0, {"name": "proxy", "image": "i"})
    decision = cluster.ask(asked)
    assert decision.verdict is Verdict.PATCHED
    made: Any = decision.pod
    made["metadata"]["annotations"]["volcano.sh/vgpu-ids-new"] = "GPU-1,NVIDIA,40960,0:;"
    made["spec"]["nodeName"] = "n1"
    cluster.show(made, "placed")
    assert cluster.stored()[MEMORY] == 40960
    assert not cluster.create(gpu_pod({GPU: "1", MEMORY: "20000"}), "next")


def test_without_conversions_kubernetes_keeps_its_own() -> None:
    """Entries of `requests.` are counted by nobody but the API server."""
    plain, _ = configuration.rules(msgspec.convert(yaml.safe_load("{}"), Settings), None)
    cluster = Cluster(plain, {f"requests.{GPU}": "0"})
    assert cluster.create(gpu_pod({GPU: "1", MEMORY: "1"}), "first")
