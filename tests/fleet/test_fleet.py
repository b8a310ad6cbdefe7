"""The ledger, one event after the other."""

import msgspec

from berth.cluster.fleet import Fleet
from berth.cluster.nodes import MOST_CARDS
from berth.cluster.projections import Amounts, Container, Node, Pod
from berth.cluster.store import Store
from berth.model import picture
from berth.model.charge import Charge, Claim
from berth.model.difference import differences
from berth.model.snapshot import Snapshot
from berth.model.terms import Terms
from berth.vendors import VENDORS
from tests.fleet.objects import container, holding, node, pod

WITH_RDMA = Container(name="main", resources=Amounts(requests={"rdma/hca": "1"}))


def left(fleet: Fleet, name: str = "n1") -> list[int]:
    """Return the MiB that are left of each of a node's cards."""
    row = fleet.snapshot.row[name]
    cards = len(fleet.snapshot.nodes[row].devices)
    return [int(free) for free in fleet.snapshot.mem_left[row, :cards]]


def one() -> Fleet:
    """Return a fleet of one node with two cards of 1000 MiB."""
    fleet = Fleet(VENDORS)
    fleet.node(None, node("n1", ["GPU-1", "GPU-2"]))
    return fleet


def test_a_pod_holds_its_cards_from_binding_until_it_is_over() -> None:
    """An annotation on a Pod that is not bound is no truth yet."""
    fleet = one()
    waiting = pod("x", "", holding(("GPU-1", 400, 30)), phase="Pending")
    fleet.pod(None, waiting)
    assert left(fleet) == [1000, 1000]
    bound = pod("x", "n1", holding(("GPU-1", 400, 30)))
    fleet.pod(waiting, bound)
    assert left(fleet) == [600, 1000]
    over = pod("x", "n1", holding(("GPU-1", 400, 30)), phase="Succeeded")
    fleet.pod(bound, over)
    assert left(fleet) == [1000, 1000]
    fleet.pod(over, None)
    assert left(fleet) == [1000, 1000]


def test_a_pod_may_come_before_its_node() -> None:
    """The watch on Pods may be faster."""
    fleet = Fleet(VENDORS)
    fleet.pod(None, pod("x", "n1", holding(("GPU-1", 400, 30))))
    fleet.node(None, node("n1", ["GPU-1"]))
    assert left(fleet) == [600]


def test_a_card_that_comes_back_is_still_held() -> None:
    """A node that registered fewer for a while, and in another order then."""
    fleet = one()
    fleet.pod(None, pod("x", "n1", holding(("GPU-2", 400, 30))))
    fleet.node(None, node("n1", ["GPU-1"]))
    assert left(fleet) == [1000]
    assert fleet.problems() == ("Pod a/x: GPU-2 is no card of its node",)
    fleet.node(None, node("n1", ["GPU-2", "GPU-1"]))
    assert left(fleet) == [600, 1000]
    assert fleet.problems() == ()


def test_a_node_that_was_made_again_under_its_name_is_held_by_those_on_it() -> None:
    """Kubernetes deletes them soon after; until then they may run."""
    nodes, pods = Store[Node]({}), Store[Pod]({})
    fleet = Fleet(VENDORS)
    nodes.listen(fleet.node)
    pods.listen(fleet.pod)
    nodes.put(node("n1", ["GPU-1"], uid="1"))
    pods.put(pod("x", "n1", holding(("GPU-1", 400, 30))))
    nodes.put(node("n1", ["GPU-1"], uid="2"))
    assert left(fleet) == [600]
    pods.remove(("a", "x"))
    assert left(fleet) == [1000]
    nodes.remove(("", "n1"))
    assert fleet.snapshot.row == {}


def test_what_a_node_does_not_list_is_not_given_back_to_it() -> None:
    """Its plugin had gone when the Pod was counted; another node lists such, and the Pod leaves."""
    fleet = one()
    holder = pod("x", "n1", containers=[WITH_RDMA])
    fleet.pod(None, holder)
    other = node("n2", [], allocatable={"rdma/hca": "4"})
    fleet.node(None, other)
    anew = Fleet.counted(VENDORS, [node("n1", ["GPU-1", "GPU-2"]), other], [holder])
    assert differences(fleet.snapshot, anew.snapshot) == ()
    fleet.pod(holder, None)
    assert [int(each) for each in fleet.snapshot.of_other("rdma/hca")[0]] == [0, 4]


def test_the_generation_grows_with_what_is_known_and_only_then() -> None:
    """A heartbeat or a Pod that becomes ready changes nothing."""
    fleet = one()
    bound = pod("x", "n1", holding(("GPU-1", 400, 30)))
    fleet.pod(None, bound)
    before = fleet.generation
    fleet.pod(bound, pod("x", "n1", holding(("GPU-1", 400, 30)), phase="Running"))
    fleet.node(None, node("n1", ["GPU-1", "GPU-2"]))
    fleet.pod(None, pod("y"))
    assert fleet.generation == before
    fleet.pod(bound, None)
    assert fleet.generation > before


def test_what_nothing_says_is_guessed_once_and_kept_until_it_is_said() -> None:
    """The guess sees the node with all others on it."""

    def fullest(_pod: Pod, snapshot: Snapshot) -> tuple[Claim, ...]:
        card = int(snapshot.mem_left[snapshot.row["n1"]].argmin())
        uuid = snapshot.nodes[snapshot.row["n1"]].devices[card].uuid
        return (Claim(container="main", uuid=uuid, memory_mib=100, cores=0),)

    fleet = Fleet(VENDORS, fullest)
    fleet.node(None, node("n1", ["GPU-1", "GPU-2"]))
    fleet.pod(None, pod("x", "n1", holding(("GPU-2", 400, 30))))
    guessed = pod("y", "n1", containers=[container("main", gpu="1")])
    fleet.pod(None, guessed)
    assert left(fleet) == [1000, 500]
    fleet.pod(None, pod("z", "n1", holding(("GPU-1", 900, 30))))
    assert left(fleet) == [100, 500]
    fleet.node(None, node("n1", ["GPU-2"]))
    assert left(fleet) == [500]
    said = pod("y", "n1", holding(("GPU-2", 50, 0)), containers=[container("main", gpu="1")])
    fleet.pod(guessed, said)
    assert left(fleet) == [550]


def _free(bound: Pod, snapshot: Snapshot) -> tuple[Claim, ...]:
    """Guess a whole card that nobody holds, as a plain device plugin gives one."""
    row = snapshot.row[bound.spec.node_name]
    free = (
        one for at, one in enumerate(snapshot.nodes[row].devices) if not snapshot.holders[row, at]
    )
    return tuple(
        [Claim(container="main", uuid=one.uuid, memory_mib=1000, cores=100) for one in free][:1]
    )


def test_a_promise_keeps_no_bound_pod_from_its_card() -> None:
    """Two Pods that the scheduler has bound the other way round each hold the card they are on."""
    fleet = Fleet(VENDORS, _free)
    fleet.node(None, node("n1", ["GPU-1"]))
    claim = Claim(container="main", uuid="GPU-1", memory_mib=1000, cores=100)
    promised = Charge(namespace="a", name="x", uid="id", node="n1", claims=(claim,))
    fleet.hold(promised)
    fleet.pod(None, pod("y", "n1", containers=[container("main", gpu="1")]))
    fleet.release("id")  # bound to another node
    assert left(fleet) == [0]


def test_who_found_no_card_is_guessed_again_when_one_is_free() -> None:
    """A card was sick, and a Pod more was there than cards; then one of the others ended."""
    fleet = Fleet(VENDORS, _free)
    fleet.node(None, node("n1", ["GPU-1", "GPU-2"]))
    each = [pod(name, "n1", containers=[container("main", gpu="1")]) for name in "xy"]
    for one_of in each:
        fleet.pod(None, one_of)
    fleet.node(None, node("n1", ["GPU-1"]))
    fleet.pod(each[0], None)
    assert left(fleet) == [0]
    fleet.pod(each[1], None)
    assert left(fleet) == [1000]


def test_who_found_no_card_is_guessed_again_when_a_pod_stands_elsewhere() -> None:
    """A StatefulSet's Pod that was made anew while nothing was heard has its old name."""
    fleet = Fleet(VENDORS, _free)
    for name in ("n1", "n2"):
        fleet.node(None, node(name, [f"GPU-{name}"]))
    asks = [container("main", gpu="1")]
    first, second = (pod(name, "n1", containers=asks) for name in "xy")
    fleet.pod(None, first)
    fleet.pod(None, second)
    fleet.pod(first, pod("x", "n2", uid="other", containers=asks))
    held = {one.name: [claim.uuid for claim in one.claims] for one in fleet.picture().pods}
    assert held == {"x": ["GPU-n2"], "y": ["GPU-n1"]}


def test_guesses_come_after_all_that_is_known_of_a_node() -> None:
    """Though the Pod of which nothing is known came first, before its node."""

    def emptiest(_pod: Pod, snapshot: Snapshot) -> tuple[Claim, ...]:
        card = int(snapshot.mem_left[snapshot.row["n1"]].argmax())
        uuid = snapshot.nodes[snapshot.row["n1"]].devices[card].uuid
        return (Claim(container="main", uuid=uuid, memory_mib=100, cores=0),)

    fleet = Fleet(VENDORS, emptiest)
    fleet.pod(None, pod("y", "n1", containers=[container("main", gpu="1")]))
    fleet.pod(None, pod("x", "n1", holding(("GPU-1", 400, 30))))
    fleet.node(None, node("n1", ["GPU-1", "GPU-2"]))
    assert left(fleet) == [600, 900]


def test_rows_of_nodes_that_left_are_used_again() -> None:
    """A cluster that scales up and down for weeks grows no snapshot."""
    fleet = Fleet(VENDORS)
    for at in range(200):
        fleet.node(None, node(f"n{at}", [f"GPU-{at}"]))
        if at >= 10:
            fleet.node(node(f"n{at - 10}"), None)
    assert len(fleet.snapshot.row) == 10
    assert len(fleet.snapshot) < 20


def test_an_event_costs_one_row_however_many_pods_there_are() -> None:
    """Counted, not timed: one Pod more changes its node's row once, and no other."""
    fleet = Fleet(VENDORS)
    for at in range(20):
        fleet.node(None, node(f"n{at}", [f"GPU-{at}"]))
    for at in range(100):
        fleet.pod(None, pod(f"x{at}", f"n{at % 20}", holding((f"GPU-{at % 20}", 10, 1))))
    before = fleet.snapshot.clock
    fleet.pod(None, pod("new", "n3", holding(("GPU-3", 10, 1))))
    assert fleet.snapshot.clock == before + 1
    assert fleet.snapshot.changed_since(before).tolist() == [fleet.snapshot.row["n3"]]


def test_the_ledger_knows_which_classes_are_on_a_card_and_which_jobs_on_a_node() -> None:
    """By the Pods' labels, also when they change; a class that no pair names is none."""
    terms = Terms(apart=(("inference", "training"),))
    fleet = Fleet(VENDORS, terms=terms)
    fleet.node(None, node("n1", ["GPU-1", "GPU-2"]))

    def labelled(workload: str) -> Pod:
        labels = {terms.workload_key: workload, "job-name": "j"}
        one = pod("x", "n1", holding(("GPU-2", 400, 30)))
        return msgspec.structs.replace(
            one, metadata=msgspec.structs.replace(one.metadata, labels=labels)
        )

    training, other = labelled("training"), labelled("something")
    fleet.pod(None, training)
    assert fleet.snapshot.classes["training"].tolist() == [[0, 1]]
    assert fleet.snapshot.groups == {"a/job-name=j": {0: 1}}
    assert fleet.picture().pods[0].workload == "training"
    fleet.node(None, node("n2", ["GPU-3", "GPU-4", "GPU-5"]))
    fleet.node(node("n2"), None)  # of which a count anew knows nothing
    read = picture.read(picture.write(fleet.picture()))
    assert differences(fleet.snapshot, read.snapshot()) == ()
    fleet.pod(training, other)
    assert not fleet.snapshot.classes["training"].any()
    fleet.pod(other, None)
    assert fleet.snapshot.groups == {}


def test_one_nodes_many_devices_and_resources_cost_the_others_nothing() -> None:
    """4,096 columns of cards, or 5,000 of resources, for 5,000 nodes are 2 GB and 400 MB."""
    fleet = Fleet(VENDORS)
    fleet.node(None, node("n1", ["GPU-1"], allocatable={"rdma/hca": "4"}))
    many = {f"example.com/{number}": "1" for number in range(5_000)}
    fleet.node(None, node("n2", None, allocatable={"nvidia.com/gpu": "4000", **many}))
    assert fleet.snapshot.kind.shape[1] == len(fleet.picture().nodes[1].devices) == MOST_CARDS
    assert fleet.problems() == ("Node n2: 4000 devices are announced; the first 256 count",)
    asking = pod("x", "n1")
    wanted = msgspec.structs.replace(asking.spec, containers=(WITH_RDMA,))
    fleet.pod(None, msgspec.structs.replace(asking, spec=wanted))
    assert {name: column.tolist()[0] for name, column in fleet.snapshot.other.items()} == {
        "rdma/hca": 3
    }
