"""Translations in a cluster whose cards are known: the same at /mutate and at /validate."""

from typing import Any

import msgspec
import pytest

from berth import names
from berth.admission import configuration, route
from berth.admission.live import Generation
from berth.model.decision import Decision, Verdict
from berth.model.reason import Reason
from berth.settings import Settings
from tests.dialects.converting import (
    EVERY,
    GPU,
    MEMORY,
    NUMBER,
    PERCENT,
    POOL,
    VMEMORY,
    asking,
    limits,
    said,
)
from tests.e2e import gpu_nodes
from tests.placing import Cluster
from tests.pods import Pod
from tests.reviews import review

A100, H100 = ("A100-PCIE-40GB", 40960), ("H100-80GB-HBM3", 81559)
SHARED = {GPU: "1", PERCENT: "40"}


class Server:
    """A replica that watches a cluster, and has a conversion for each written dialect."""

    def __init__(self, *, never: str = "warn", block: int = 1) -> None:
        """Start it in an empty cluster; Volcano has blocks of so many MiB."""
        self.cluster = Cluster()
        self.replica = self.cluster.replicas[0]
        conversions = [{"name": one, "reads": EVERY, "writes": one} for one in EVERY[:4]]
        stacks = {"volcano": {"blockMib": block}}
        every = {"conversions": conversions, "placement": {"never": never}, "stacks": stacks}
        settings = msgspec.convert(every, Settings)
        rules, _ = configuration.rules(settings, None)
        self.replica.placer.placing("default", rules, "", None)  # reads the fleet by these
        self.generation = Generation(number=1, settings=settings, rules=rules)

    def node(self, name: str, model: tuple[str, int]) -> None:
        """Let a node come, or register anew."""
        self.cluster.node(gpu_nodes.node(name, *model))

    def leave(self, name: str) -> None:
        """Let a node go."""
        self.cluster.nodes.remove(("", name))

    def ask(self, pod: Pod, path: str = "/mutate/volcano") -> Decision:
        """Ask about a Pod as the API server does."""
        return route.decide(review(pod), self.generation, path, self.replica.standings)


def refusal(decision: Decision) -> tuple[Reason, str]:
    """Return why a Pod is refused, for one reason."""
    assert decision.verdict is Verdict.REFUSED
    (problem,) = decision.problems
    return problem.reason, str(problem)


def test_percent_is_of_the_cards_that_there_are() -> None:
    """Of one size, of several, of the one that is named; each change of the fleet is seen."""
    server = Server()
    named = asking(SHARED, {names.GPU_MODEL: "H100"})
    assert "no such card is known" in refusal(server.ask(asking(SHARED)))[1]
    server.node("a", A100)
    assert limits(server.ask(asking(SHARED))) == {NUMBER: "1", VMEMORY: "16384"}
    server.node("b", H100)
    reason, words = refusal(server.ask(asking(SHARED)))
    assert (reason, "40960, 81559 MiB" in words) == (Reason.UNKNOWN_SIZE, True)
    assert limits(server.ask(named)) == {NUMBER: "1", VMEMORY: "32623"}
    server.leave("a")
    assert limits(server.ask(asking(SHARED))) == {NUMBER: "1", VMEMORY: "32623"}
    server.node("b", A100)
    assert limits(server.ask(asking(SHARED))) == {NUMBER: "1", VMEMORY: "16384"}


def test_a_fleet_that_volcano_registers_is_in_its_blocks() -> None:
    """A card of 40 blocks is one of 40960 MiB, of which 10 percent are four blocks."""
    server = Server(block=1024)
    node = gpu_nodes.node("a")
    register = {names.VOLCANO_REGISTER: "GPU-1,10,40,NVIDIA-A100,true,hami-core:"}
    node["metadata"]["annotations"] = register
    server.cluster.node(node)
    asked = asking({GPU: "1", PERCENT: "10"})
    assert limits(server.ask(asked)) == {NUMBER: "1", VMEMORY: "4"}
    assert "beyond.memory" not in server.ask(asking({GPU: "1", MEMORY: "40000"})).said


def test_half_a_fleet_is_none() -> None:
    """Until the first list is read, the other half may have cards of another size."""
    server = Server()
    server.replica.placer.synced = False
    server.node("a", A100)
    assert refusal(server.ask(asking(SHARED)))[0] is Reason.UNKNOWN_SIZE
    server.replica.placer.synced = True
    assert limits(server.ask(asking(SHARED)))[VMEMORY] == "16384"


def test_rules_are_made_for_new_cards_and_not_for_each_request() -> None:
    """Neither a Pod nor a heartbeat, nor one more node of a known kind, changes anything."""
    server = Server()
    server.node("a", A100)
    plain = server.generation.rules

    def known() -> object:
        return server.replica.standings.knowing(plain)

    first = known()
    assert first is not plain
    server.cluster.show(asking({GPU: "1", MEMORY: "1000"}), "p", on="a")
    beat: Any = gpu_nodes.node("a", *A100)
    beat["status"]["conditions"][0]["reason"] = "again"
    server.cluster.node(beat)
    server.node("b", A100)
    server.leave("a")
    assert known() is first
    server.node("a", H100)
    assert known() is not first
    assert known() is known()
    bare, _ = configuration.rules(Settings(), None)
    assert server.replica.standings.knowing(bare) is bare, "no conversion, nothing to know"


@pytest.mark.parametrize("writes", ["hami", "volcano", "pool", "plain"])
@pytest.mark.parametrize("never", ["warn", "refuse"])
def test_validate_refuses_nothing_for_a_fleet_that_has_changed(writes: str, never: str) -> None:
    """What was written a moment ago stands, whichever cards this or another replica sees now."""
    written = []
    for asked in (SHARED, {GPU: "1", MEMORY: "30000"}, {GPU: "4"}, {POOL: "24Gi"}):
        server = Server(never=never)
        server.node("a", A100)
        decision = server.ask(asking(asked), f"/mutate/{writes}")
        assert decision.verdict is not Verdict.REFUSED
        written.append(decision.pod)
    small, other, empty = Server(never=never), Server(never=never), Server(never=never)
    small.node("c", ("T4", 15360))
    other.node("a", A100)
    other.node("b", H100)
    for later in (small, other, empty):
        for pod in written:
            judged = later.ask(pod, f"/validate/{writes}")
            assert judged.problems == ()


def test_validate_knows_a_pod_that_no_one_has_rewritten() -> None:
    """It says what is missing, not that nobody knows the card."""
    server = Server()
    server.node("a", A100)
    judged = server.ask(asking(SHARED), "/validate/volcano")
    assert {one.reason for one in judged.problems} == {Reason.UNDONE}


def test_a_template_hears_of_cards_that_differ() -> None:
    """At `kubectl apply`, before its first Pod is refused."""
    server = Server()
    server.node("a", A100)
    template = {"metadata": {}, "spec": asking(SHARED)["spec"]}
    deployed = {"kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": template}}
    asked = msgspec.structs.replace(review(deployed), kind="Deployment", group="apps")
    asked = msgspec.structs.replace(asked, resource="deployments")

    def told() -> str:
        path = "/validate/volcano"
        decision = route.decide(asked, server.generation, path, server.replica.standings)
        return " ".join(said(decision))

    assert "will be refused" not in told()
    server.node("b", H100)
    assert "40960, 81559 MiB" in told()


def test_a_lack_is_said_once() -> None:
    """By its number, and not again by what every node lacks; or refused, where that is wanted."""
    for never in ("warn", "refuse"):
        server = Server(never=never)
        server.node("a", A100)
        decision = server.ask(asking({POOL: "41Gi"}), "/mutate/pool")
        told = [one.code for one in decision.warnings]
        assert told == (["beyond.memory"] if never == "warn" else [])
        assert [one.code for one in decision.problems] == (
            ["no-such-card.memory"] if never == "refuse" else []
        )
