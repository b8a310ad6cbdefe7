"""A recording: its lines, one event after the other, and that no name gets out."""

from collections.abc import Iterator

import msgspec
import pytest

from berth.cluster.hashed import Hashed
from berth.cluster.recorder import Recorder
from berth.errors import UsageError
from berth.model import recording
from berth.model.charge import Claim
from berth.model.eligibility import NODE_NAME, Eligibility, Expression, Toleration
from berth.model.node import Node, Taint
from berth.model.recording import Arrived, Begin, Bound, End, Entry, Left, Shown, Withdrawn
from berth.model.request import DeviceRequest, PodRequest
from berth.vendors import VENDORS
from tests.fleet.objects import holding, node, pod

KEY = Hashed(b"k" * 32)
WANTED = PodRequest(cpu_milli=1000, devices=(("main", DeviceRequest(vendor="nvidia")),))


class Taken:
    """A recorder whose clock stands until it is set."""

    def __init__(self) -> None:
        """Begin at 0."""
        self.lines: list[Entry] = []
        self.recorder = Recorder(VENDORS, lambda _: WANTED, KEY, self.lines.append)

    def at(self, seconds: float) -> Recorder:
        """Let it be so late."""
        self.recorder.clock = lambda: seconds
        return self.recorder


def test_a_pod_arrives_is_bound_and_leaves_once() -> None:
    """Whatever else is said of it: it becomes ready, ends, and is deleted."""
    taken, record = Taken(), holding(("GPU-1", 400, 30))
    taken.at(0).node(None, node("n1", ["GPU-1"]))
    waiting, bound = pod("x", "", phase="Pending"), pod("x", "n1", record)
    over = pod("x", "n1", record, phase="Succeeded")
    taken.at(1).pod(None, waiting)
    taken.at(2).pod(waiting, bound)
    taken.at(3).pod(bound, pod("x", "n1", record))
    taken.at(4).pod(bound, over)
    taken.at(5).pod(over, None)
    kinds = [(type(line), line.at) for line in taken.lines]
    assert kinds == [(Shown, 0), (Arrived, 1), (Bound, 2), (Left, 4)]
    (_, came, placed, _) = taken.lines
    assert isinstance(came, Arrived)
    assert came.request == KEY.request(WANTED)
    assert isinstance(placed, Bound)
    claim = Claim(container=KEY.name("main"), uuid=KEY.name("GPU-1"), memory_mib=400, cores=30)
    assert (placed.node, placed.claims) == (KEY.name("n1"), (claim,))


def test_a_pod_that_was_made_again_under_its_name_is_another() -> None:
    """And the cards of a Pod may be known later than its node."""
    taken = Taken()
    first = pod("x", "n1", uid="1")
    taken.at(1).pod(None, first)
    taken.at(2).pod(first, None)
    second = pod("x", "n1", uid="2")
    taken.at(3).pod(None, second)
    taken.at(4).pod(second, pod("x", "n1", holding(("GPU-1", 400, 30)), uid="2"))
    pods = [line.pod for line in taken.lines if isinstance(line, Arrived)]
    assert len(set(pods)) == 2
    assert [type(line) for line in taken.lines[-2:]] == [Bound, Bound]


def test_a_node_is_told_of_when_it_changes_and_when_it_goes() -> None:
    """A heartbeat is no change."""
    taken, one = Taken(), node("n1", ["GPU-1"])
    taken.at(0).node(None, one)
    taken.at(1).node(one, node("n1", ["GPU-1"], uid="1"))
    taken.at(2).node(one, node("n1", ["GPU-1", "GPU-2"]))
    taken.at(3).node(one, None)
    assert [(type(line), line.at) for line in taken.lines] == [
        (Shown, 0),
        (Shown, 2),
        (Withdrawn, 3),
    ]


SECRETS = ("alpha", "team-x", "customer", "example.com/thing", "GPU-9", "main", "first", "proxy")
NAMED_NODE = Node(
    name="alpha",
    cpu_milli=1,
    memory_mib=1,
    labels={"customer": "team-x", "nvidia.com/gpu.memory": "40960"},
    taints=(Taint("customer", "team-x"),),
    other={"example.com/thing": 3, "ephemeral-storage": 5},
)
NAMED = PodRequest(
    other={"example.com/thing": 1},
    devices=(("main", DeviceRequest(vendor="nvidia", models=("a100",), uuids=("GPU-9",))),),
    init_devices=(("first", DeviceRequest(vendor="nvidia", uuids_not=("GPU-9",))),),
    sidecars=(("first", ("proxy", "main")),),
    eligibility=Eligibility(
        all_of=(Expression("customer", "In", ("team-x",)),),
        any_of=(
            (
                Expression(NODE_NAME, "In", ("alpha",)),
                Expression("nvidia.com/gpu.memory", "Gt", ("20000",)),
                Expression("customer", "Gt", ("5",)),
            ),
        ),
        tolerations=(Toleration("customer", "Equal", "team-x"), Toleration("", "Exists")),
    ),
)


def test_names_are_hashed_alike_wherever_they_stand() -> None:
    """So what matched still matches; what the hardware is stays readable."""
    shown, wants = KEY.node(NAMED_NODE), KEY.request(NAMED)
    text = (msgspec.json.encode(shown) + msgspec.json.encode(wants)).decode()
    assert [word for word in SECRETS if word in text] == []
    (wish,) = wants.eligibility.all_of
    assert shown.labels[wish.key] == wish.values[0]
    ((by_name, by_memory),) = wants.eligibility.any_of
    assert by_name == Expression(NODE_NAME, "In", (shown.name,))
    assert by_memory == Expression("nvidia.com/gpu.memory", "Gt", ("20000",))
    assert shown.labels["nvidia.com/gpu.memory"] == "40960"
    tolerated, all_of_them = wants.eligibility.tolerations
    assert (tolerated.key, tolerated.value) == (shown.taints[0].key, shown.taints[0].value)
    assert all_of_them == Toleration("", "Exists")
    assert set(wants.other) <= set(shown.other)
    assert wants.devices[0][1].models == ("a100",)
    assert wants.sidecars == ((wants.init_devices[0][0], (KEY.name("proxy"), wants.devices[0][0])),)


def test_a_term_that_compared_hashed_numbers_alone_forbids_no_node() -> None:
    """What is left out is not asked for; a term that was empty still holds on none."""
    over, empty = (Expression("customer", "Gt", ("5",)),), ()
    for terms, left in (((over,), ()), ((over, empty), ()), ((empty,), (empty,))):
        wish = PodRequest(eligibility=Eligibility(any_of=terms))
        assert KEY.request(wish).eligibility.any_of == left


def test_another_key_gives_other_hashes() -> None:
    """So nobody can try names until one fits."""
    assert Hashed(b"l" * 32).name("alpha") != KEY.name("alpha")


def whole() -> Iterator[Entry]:
    """Yield a recording."""
    yield Begin(at=0, time="2026-01-01T00:00:00Z", berth="0")
    yield Shown(at=0, node=KEY.node(NAMED_NODE))
    yield Arrived(at=1, pod="p", request=KEY.request(NAMED))
    yield End(at=2)


def test_what_was_written_is_read_again_but_for_a_last_line_that_was_cut() -> None:
    """As by the end of a process."""
    text = b"".join(map(recording.write, whole()))
    assert list(recording.read(text)) == list(whole())
    assert list(recording.read(text[:-5])) == list(whole())[:-1]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ([b'{"type": "left", "at": 0, "pod": "p"}'], "line 1: a recording has one line of type"),
        ([recording.write(Begin(at=0, time="", berth="")), b"{}"], "line 2 is none of a rec"),
        (
            [b'{"type": "begin", "at": 0, "version": 2}'],
            "its format has version 2, and this Berth reads version 1",
        ),
        (
            [
                recording.write(line)
                for line in (Begin(at=0, time="", berth=""), End(at=2), End(at=1))
            ],
            "line 3: at is 1.0, less than in the line before",
        ),
    ],
    ids=["no beginning", "no line", "another version", "back in time"],
)
def test_what_is_no_recording_is_refused_with_the_line(lines: list[bytes], what: str) -> None:
    """In a sentence."""
    text = b"\n".join(line.strip() for line in lines) + b"\n"
    with pytest.raises(UsageError, match=what):
        list(recording.read(text))
