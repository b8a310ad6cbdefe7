"""Vectors K3 to K5 and I5: affinity that is there already, and tolerations of what is renamed."""

from copy import deepcopy
from typing import Any

import pytest

from tests.dialects.converting import GPU, asking, converting, patched
from tests.placing import Cluster, given
from tests.placing import asking as sharing

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HOSTS = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["host-n1"]}


def placed(affinity: Any) -> Any:
    """Return the affinity to nodes of a Pod that had this one, after it was placed on node n1."""
    pod = sharing()
    pod["spec"]["affinity"] = deepcopy(affinity)
    return given(Cluster("n1").replicas[0].ask(pod))["spec"]["affinity"]["nodeAffinity"]


def term(key: str) -> dict[str, Any]:
    """Return a term that holds on every node: the label is on none."""
    return {"matchExpressions": [{"key": key, "operator": "DoesNotExist"}]}


def test_k3_a_daemonsets_pod_keeps_its_one_term() -> None:
    """Its controller has chosen the node; what we would add could only keep it from there."""
    field = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    its = {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    assert placed({"nodeAffinity": its}) == its


def test_k4_each_of_three_terms_gets_ours() -> None:
    """One of them has to hold: a fourth would let the Pod go where none of the three does."""
    terms = [term("a"), term("b"), term("c")]
    found = placed({"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}})
    assert found[REQUIRED]["nodeSelectorTerms"] == [
        {"matchExpressions": [*one["matchExpressions"], HOSTS]} for one in terms
    ]


@pytest.mark.parametrize(
    "affinity",
    [None, {}, {"nodeAffinity": None}, {"nodeAffinity": {}}, {"nodeAffinity": {REQUIRED: None}}],
    ids=str,
)
def test_k5_parents_that_lack_are_made(affinity: Any) -> None:
    """Whether they are absent, empty or null."""
    assert placed(affinity)[REQUIRED] == {"nodeSelectorTerms": [{"matchExpressions": [HOSTS]}]}


def test_k5_what_is_merely_preferred_stays_beside_ours() -> None:
    """A preference of the author's is none of the required terms."""
    liked = [{"weight": 1, "preference": term("a")}]
    found = placed({"nodeAffinity": {PREFERRED: liked}})
    assert found[PREFERRED] == liked
    assert found[REQUIRED] == {"nodeSelectorTerms": [{"matchExpressions": [HOSTS]}]}


@pytest.mark.parametrize("stack", ["volcano", "pool"])
def test_i5_a_toleration_of_a_renamed_resource_is_kept(stack: str) -> None:
    """The nodes are tainted as before, by whatever name the devices are asked for."""
    toleration = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
    pod: Any = patched(asking({GPU: "1"}, tolerations=[toleration]), converting(stack)).pod
    assert pod["spec"]["tolerations"] == [toleration]
