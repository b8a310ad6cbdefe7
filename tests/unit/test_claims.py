"""Ids that are copied, forged or shared let no two Pods count once; and none counts twice."""

from copy import deepcopy
from typing import Any

import pytest

from berth import layered, names
from berth.admission import configuration
from berth.admission.claims import Claims
from berth.admission.standing import marked
from berth.model.decision import Decision, Verdict
from tests.pods import Pod, gpu_pod
from tests.quotas import Cluster, carrying, mark
from tests.reviews import SPACE

MEMORY = "nvidia.com/gpumem"
RULES, _ = configuration.rules(layered.settings(None), None)


@pytest.fixture
def cluster() -> Cluster:
    """Give a namespace in which two shares fit."""
    return Cluster(RULES, {f"limits.{MEMORY}": "2000"})


def asking(name: str = "", mark: str = "", generate: str = "") -> Pod:
    """Return a Pod that asks for half of the quota."""
    pod = gpu_pod({MEMORY: "1000"})
    pod["metadata"] = {"name": name} if name else {"generateName": generate}
    if mark:
        pod["metadata"]["annotations"] = {names.DECISION: carrying(mark)}
    return pod


def stored(decision: Decision) -> Pod:
    """Return the decided Pod, which must have been admitted."""
    assert decision.verdict is not Verdict.REFUSED
    return deepcopy(decision.pod)


def test_a_second_pass_finds_its_own_id_and_claims_once(cluster: Cluster) -> None:
    """The API server calls again after another webhook: nothing is left to do."""
    first = cluster.ask(asking("a"))
    second = cluster.ask(stored(first))
    assert second.verdict is Verdict.UNCHANGED
    assert cluster.claims.held(SPACE) == {MEMORY: 1000}


def test_a_second_pass_of_a_generated_name_finds_its_id(cluster: Cluster) -> None:
    """A Pod of a controller has no name yet, in neither pass."""
    first = cluster.ask(asking(generate="train-"))
    assert cluster.ask(stored(first)).verdict is Verdict.UNCHANGED
    assert len(cluster.claims) == 1


def test_a_second_pass_that_asks_for_more_holds_more(cluster: Cluster) -> None:
    """An injector adds a share: what is held is what the Pod asks for in the end."""
    pod: Any = stored(cluster.ask(asking("a")))
    resources = pod["spec"]["containers"][0]["resources"]
    resources["limits"][MEMORY] = resources["requests"][MEMORY] = "1500"
    assert cluster.ask(pod).verdict is not Verdict.REFUSED
    assert cluster.claims.held(SPACE)[MEMORY] == 1500
    assert cluster.ask(asking("b")).verdict is Verdict.REFUSED


def test_a_second_pass_that_is_refused_gives_back(cluster: Cluster) -> None:
    """What the first pass held is free at once."""
    pod: Any = stored(cluster.ask(asking("a")))
    resources = pod["spec"]["containers"][0]["resources"]
    resources["limits"][MEMORY] = resources["requests"][MEMORY] = "2001"
    assert cluster.ask(pod).verdict is Verdict.REFUSED
    assert len(cluster.claims) == 0


def test_pods_of_a_template_with_an_id_count_each(cluster: Cluster) -> None:
    """A Deployment made from a stored Pod: all its Pods come with the same id."""
    marks = set()
    for _ in range(2):
        decision = cluster.ask(asking(generate="web-", mark="id-7"))
        marks.add(mark(decision))
        assert cluster.ask(stored(decision)).verdict is Verdict.UNCHANGED
    assert len(marks) == 2
    assert "id-7" not in marks
    assert cluster.ask(asking(generate="web-", mark="id-7")).verdict is Verdict.REFUSED


def test_a_copy_of_a_stored_pod_counts(cluster: Cluster) -> None:
    """`kubectl get -o yaml`, another name, `kubectl apply`: an id that was seen is no claim."""
    first = cluster.ask(asking("a"))
    given = mark(first)
    assert given
    cluster.show(stored(first), "a")
    copy = cluster.ask(asking("b", mark=given))
    assert mark(copy) not in (given, None)
    assert cluster.ask(asking("c", mark=given)).verdict is Verdict.REFUSED


def test_a_copy_that_is_quicker_than_the_watch_counts(cluster: Cluster) -> None:
    """The claim is alive, but for a Pod of another name."""
    given = mark(cluster.ask(asking("a")))
    assert given
    assert mark(cluster.ask(asking("b", mark=given))) not in (given, None)
    assert cluster.ask(asking("c", mark=given)).verdict is Verdict.REFUSED


def test_an_id_is_believed_once(cluster: Cluster) -> None:
    """The API server calls twice at most, so a third Pod with it is another one."""
    given = mark(cluster.ask(asking(generate="train-")))
    assert given
    assert mark(cluster.ask(asking(generate="train-", mark=given))) == given
    assert mark(cluster.ask(asking(generate="train-", mark=given))) != given
    assert cluster.claims.held(SPACE)[MEMORY] == 2000


def test_an_id_of_another_namespace_is_nobodys() -> None:
    """Neither believed nor ended there."""
    claims = Claims(10, lambda: 0)
    claims.claim("x", "here", "a", {MEMORY: 1})
    assert claims.known("x", "there", "a") is None
    claims.drop("x", "there")
    assert claims.held("here") == {MEMORY: 1}
    assert claims.held("there") == {}


def test_a_dry_run_with_an_id_that_is_alive_changes_nothing(cluster: Cluster) -> None:
    """`kubectl apply --dry-run=server` of a Pod that is being made."""
    first = cluster.ask(asking("a"))
    dry = cluster.ask(stored(first), dry_run=True)
    assert mark(dry) != mark(first)
    assert cluster.ask(stored(first)).verdict is Verdict.UNCHANGED
    assert len(cluster.claims) == 1


def test_a_pod_that_is_never_seen_gives_back_after_its_time(cluster: Cluster) -> None:
    """Another webhook refused it, and nobody tells us."""
    cluster.ask(asking("a"))
    cluster.now = 5
    cluster.ask(asking("b"))
    assert cluster.ask(asking("c")).verdict is Verdict.REFUSED
    cluster.now = 10
    assert cluster.ask(asking("c")).verdict is not Verdict.REFUSED
    assert cluster.ask(asking("d")).verdict is Verdict.REFUSED
    cluster.now = 15
    assert cluster.ask(asking("d")).verdict is not Verdict.REFUSED


def test_a_pod_that_is_seen_counts_once(cluster: Cluster) -> None:
    """In the sum of the stored from then on, whatever becomes of its claim's time."""
    first = cluster.ask(asking("a"))
    cluster.show(stored(first), "a")
    assert len(cluster.claims) == 0
    cluster.now = 100
    assert cluster.create(asking("b"), "b")
    assert not cluster.create(asking("c"), "c")


def test_a_share_of_unknown_size_is_claimed_as_nothing(cluster: Cluster) -> None:
    """Several such claims come and go without a trace."""
    whole = gpu_pod({"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "10"})
    for name in ("a", "b"):
        cluster.ask({**whole, "metadata": {"name": name}})
    assert len(cluster.claims) == 2
    cluster.now = 10
    assert len(cluster.claims) == 0
    assert cluster.claims.held(SPACE) == {}


def test_what_is_refused_at_the_end_is_free_at_once(cluster: Cluster) -> None:
    """/validate has the last word; in a dry run it has none about claims."""
    made = stored(cluster.ask(asking("a")))
    cluster.last(made, refused=True, dry_run=True)
    assert len(cluster.claims) == 1
    cluster.last(made, refused=True)
    assert len(cluster.claims) == 0


def test_an_id_that_could_have_been_read_is_believed_no_more(cluster: Cluster) -> None:
    """Copied faster than the watch, under the same generateName: both count."""
    made = stored(cluster.ask(asking(generate="train-")))
    cluster.last(made)
    copy = cluster.ask(made)
    assert mark(copy) != marked(made)
    assert cluster.claims.held(SPACE)[MEMORY] == 2000
    assert cluster.ask(made).verdict is Verdict.REFUSED
