"""The ledger against a count from scratch, under any order of what may happen to a cluster."""

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from berth.cluster.fleet import Fleet
from berth.cluster.projections import Container, Node, NodeSpec, Pod
from berth.cluster.store import Store
from berth.cluster.wire import Kind
from berth.model import picture
from berth.model.charge import Claim
from berth.model.difference import differences
from berth.model.snapshot import Snapshot
from berth.vendors import VENDORS
from tests.fleet import objects

NAMES = st.sampled_from(["n1", "n2", "n3"])
PODS = st.sampled_from(["p1", "p2", "p3", "p4", "p5"])
Held = list[tuple[str, str, str]]
CARDS = st.lists(st.sampled_from(["A", "B", "C"]), unique=True, max_size=3)
HELD = st.lists(
    st.tuples(
        st.sampled_from(["A", "B", "C", "D"]),
        st.sampled_from(["1", "250", "1000", "?"]),
        st.sampled_from(["0", "50", "100"]),
    ),
    max_size=3,
)
MIG = (
    '[{"containerIndex":%d,"deviceIndex":0,"gpuUUID":"A","profile":"2g","placement":'
    '{"start":%d,"size":2}}]'
)


def guess(pod: Pod, snapshot: Snapshot) -> tuple[Claim, ...]:
    """Take the card with the most left: what it is depends on the order of events."""
    row = snapshot.row[pod.spec.node_name]
    devices = snapshot.nodes[row].devices
    if not devices:
        return ()
    card = int(snapshot.mem_left[row, : len(devices)].argmax())
    return (Claim(container="main", uuid=devices[card].uuid, memory_mib=300, cores=20),)


def _versioned(one: Kind, version: str) -> Kind:
    metadata = msgspec.structs.replace(one.metadata, resource_version=version)
    return msgspec.structs.replace(one, metadata=metadata)


class Ledger(RuleBasedStateMachine):
    """Two stores, told of changes in any order, and the fleet that listens to both."""

    def __init__(self) -> None:
        """Start with an empty cluster."""
        super().__init__()
        self.nodes, self.pods = Store[Node]({}), Store[Pod]({})
        self.fleet = Fleet(VENDORS, guess)
        self.nodes.listen(self.fleet.node)
        self.pods.listen(self.fleet.pod)
        self.version = 0

    def next(self) -> str:
        """Return a resourceVersion, and as good a uid, that nothing had before."""
        self.version += 1
        return str(self.version)

    @rule(name=NAMES, cards=CARDS, cordoned=st.booleans(), cpu=st.sampled_from(["4", "8"]))
    def register(self, name: str, cards: list[str], *, cordoned: bool, cpu: str) -> None:
        """Let a node come, or register anew: more cards, fewer, in another order."""
        known = self.nodes.get("", name)
        uid = known.metadata.uid if known else self.next()
        spec = NodeSpec(unschedulable=cordoned)
        self._put_node(objects.node(name, cards, uid, cpu=cpu, spec=spec))

    @rule(name=NAMES, count=st.integers(0, 3))
    def announce(self, name: str, count: int) -> None:
        """Let a node come without a registration; under its old name, with a new uid."""
        allocatable = {"nvidia.com/gpu": str(count), "rdma/hca": "4"}
        self._put_node(objects.node(name, None, self.next(), allocatable=allocatable))

    @rule(name=NAMES, text=st.sampled_from(["[", "x", "A,1:", '[{"id":"A"},{}]']))
    def garble(self, name: str, text: str) -> None:
        """Let an agent write what nobody can read."""
        self._put_node(objects.node(name, (), self.next(), register=text))

    @rule(name=NAMES)
    def leave(self, name: str) -> None:
        """Delete a node, whatever runs there."""
        self.nodes.remove(("", name))

    @rule(name=PODS, on=NAMES, held=HELD, init=st.booleans(), again=st.booleans())
    def bind(self, name: str, on: str, held: Held, *, init: bool, again: bool) -> None:
        """Bind a Pod; or another of its name; or let its annotation come, or change."""
        each = "".join(f"{uuid},NVIDIA,{memory},{cores}:" for uuid, memory, cores in held)
        text = f"{each};{each};" if init else f"{each};"
        annotations = {objects.ALLOCATED: text} if held else {}
        if held and len(held) % 2:
            annotations["hami.io/vgpu-mig-allocations"] = MIG % (int(init), len(each) % 6)
        first = (objects.container("init", cpu="6"),) if init else ()
        self._put_pod(name, on, annotations, first, again=again)

    @rule(name=PODS, on=NAMES, decided=NAMES, uuid=st.sampled_from(["A", "D"]))
    def bind_as_decided(self, name: str, on: str, decided: str, uuid: str) -> None:
        """Bind a Pod with our decision, which may have named another node."""
        claim = f'{{"container":"main","uuid":"{uuid}","memoryMib":70,"cores":5}}'
        text = f'{{"id":"d","node":"{decided}","devices":[{claim}]}}'
        self._put_pod(name, on, {"berth.dev/decision": text}, (), again=False)

    @rule(name=PODS, phase=st.sampled_from(["Pending", "Running", "Succeeded", "Failed"]))
    def proceed(self, name: str, phase: str) -> None:
        """Let a Pod start, or be over."""
        known = self.pods.get("a", name)
        if known is not None:
            self._write(known.spec.node_name, known, phase)

    @rule(name=PODS)
    def delete(self, name: str) -> None:
        """Remove a Pod."""
        self.pods.remove(("a", name))

    def _put_node(self, one: Node) -> None:
        self.nodes.put(_versioned(one, self.next()))

    def _put_pod(
        self,
        name: str,
        on: str,
        annotations: dict[str, str],
        init: tuple[Container, ...],
        *,
        again: bool,
    ) -> None:
        known = self.pods.get("a", name)
        bound = known.spec.node_name if known and not again else on
        uid = known.metadata.uid if known and not again else self.next()
        main = objects.container("main", gpu="1", cpu="1", memory="1Gi")
        made = objects.pod(name, bound, annotations, uid=uid, containers=[main], init=init)
        self.pods.put(_versioned(made, self.next()))

    def _write(self, on: str, known: Pod, phase: str) -> None:
        made = objects.pod(
            known.metadata.name,
            on,
            known.metadata.annotations,
            uid=known.metadata.uid,
            containers=known.spec.containers,
            init=known.spec.init_containers,
            phase=phase,
        )
        self.pods.put(_versioned(made, self.next()))

    @invariant()
    def a_count_from_scratch_agrees(self) -> None:
        """Every number of every node and card, who holds what, and what is wrong."""
        again = Fleet.counted(VENDORS, self.nodes, self.pods, self.fleet.guessed)
        assert differences(self.fleet.snapshot, again.snapshot) == ()
        ours = self.fleet.picture()
        theirs = msgspec.structs.replace(again.picture(), generation=ours.generation)
        assert ours == theirs

    @invariant()
    def what_is_written_down_is_read_again(self) -> None:
        """Get the same picture, and from it the same snapshot."""
        ours = self.fleet.picture()
        read = picture.read(picture.write(ours))
        assert read == ours
        assert differences(self.fleet.snapshot, read.snapshot()) == ()


Ledger.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestLedger = Ledger.TestCase
