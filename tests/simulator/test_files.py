"""Runs of one's own: a recording of a cluster, a workload in YAML, and pictures of them."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

from berth.cli import plots
from berth.cli.simulate import command
from berth.errors import UsageError
from berth.model import recording
from berth.model.charge import Claim
from berth.model.device import Device
from berth.model.node import Node
from berth.model.recording import Arrived, Begin, Bound, End, Entry, Left, Shown, Withdrawn
from berth.model.request import DeviceRequest, PodRequest
from berth.placement.policies import POLICIES
from berth.simulator import made, recorded
from berth.simulator.churn import Churn
from berth.simulator.result import Curve, Done, Point, Result
from berth.simulator.runs import NAMES, Job, one
from berth.simulator.schedule import Schedule, own_lives
from berth.simulator.trace import Arrival, Trace

EXAMPLES = Path(__file__).parents[2] / "examples"
GIB = 1024


def node(name: str, cards: int, memory: int = 40 * GIB) -> Node:
    """Return a node with so many cards."""
    devices = tuple(
        Device(uuid=f"{name}-{card}", vendor="nvidia", model="A100", memory_mib=memory)
        for card in range(cards)
    )
    return Node(name=name, cpu_milli=64_000, memory_mib=512 * GIB, devices=devices)


def wants(memory: int | None = None, count: int = 1) -> PodRequest:
    """Return a Pod that wants MiB of a card, or cards alone."""
    cores = 100 if memory is None else 0
    request = DeviceRequest(vendor="nvidia", count=count, memory_mib=memory, cores=cores)
    return PodRequest(cpu_milli=1000, devices=(("main", request),))


def written(folder: Path, *lines: Entry) -> Path:
    """Write a recording."""
    file = folder / "cluster.jsonl"
    begin = Begin(at=0, time="2026-01-01T00:00:00Z", berth="0")
    file.write_bytes(b"".join(map(recording.write, (begin, *lines))))
    return file


def replayed(file: Path, policy: str = "first-fit") -> Result:
    """Replay a recording."""
    job = Job(policy=policy, seed=1, file=file, recording=True)
    return next(step.result for step in one(job) if isinstance(step, Done))


def test_pods_stay_as_long_as_they_ran(tmp_path: Path) -> None:
    """One card for 6 of 10 seconds, half of it for all: 80% of one of two cards is 55 of 100."""
    file = written(
        tmp_path,
        Shown(at=0, node=node("n", 2)),
        Arrived(at=0, pod="there", request=wants(20 * GIB)),
        Bound(at=0, pod="there", node="n", claims=(Claim(container="main", uuid="n-0"),)),
        Arrived(at=1, pod="new", request=wants()),
        Bound(at=3, pod="new", node="n"),
        Left(at=9, pod="new"),
        End(at=10),
    )
    done = replayed(file)
    assert done.gpu_allocation_percent == pytest.approx((0.5 * 10 + 6) / 20 * 100)
    assert (done.failed_pods, done.arrivals) == (0, 1)
    assert done.offered == pytest.approx(0.55)


def test_who_was_there_holds_his_own_cards(tmp_path: Path) -> None:
    """So a Pod that comes gets none of them, whatever the policy."""
    claim = Claim(container="main", uuid="n-0", memory_mib=30 * GIB, cores=0)
    file = written(
        tmp_path,
        Shown(at=0, node=node("n", 1)),
        Arrived(at=0, pod="there", request=wants(30 * GIB)),
        Bound(at=0, pod="there", node="n", claims=(claim,)),
        Arrived(at=1, pod="new", request=wants(20 * GIB)),
        Left(at=2, pod="there"),
        Arrived(at=3, pod="later", request=wants(20 * GIB)),
        End(at=4),
    )
    done = replayed(file)
    assert (done.failed_pods, done.arrivals) == (1, 2)
    assert done.classes["share"].failed == 1


def test_who_was_there_holds_his_init_containers_peak_beside_sidecars(tmp_path: Path) -> None:
    """10 GiB of the sidecar and 20 of the init container after it: 10 of 40 are left."""
    share = DeviceRequest(vendor="nvidia", memory_mib=10 * GIB)
    first = msgspec.structs.replace(share, memory_mib=20 * GIB)
    request = PodRequest(
        devices=(("side", share),),
        init_devices=(("first", first),),
        sidecars=(("first", ("side",)),),
    )
    claims = tuple(
        Claim(container=name, uuid="n-0", memory_mib=mib * GIB, cores=0)
        for name, mib in (("side", 10), ("first", 20))
    )
    file = written(
        tmp_path,
        Shown(at=0, node=node("n", 1)),
        Arrived(at=0, pod="there", request=request),
        Bound(at=0, pod="there", node="n", claims=claims),
        End(at=4),
    )
    trace, schedule = recorded.read(file)
    assert Churn(trace, 1, schedule).cluster.snapshot.mem_left[0, 0] == 10 * GIB


def test_nodes_come_change_and_go(tmp_path: Path) -> None:
    """What they hold goes with them, and what they give is there only then."""
    file = written(
        tmp_path,
        Shown(at=0, node=node("n", 1)),
        Arrived(at=1, pod="a", request=wants(count=2)),
        Shown(at=2, node=node("m", 1)),
        Shown(at=3, node=node("m", 2)),
        Arrived(at=4, pod="b", request=wants(count=2)),
        Withdrawn(at=6, node="m"),
        Arrived(at=7, pod="c", request=wants()),
        End(at=8),
    )
    done = replayed(file)
    assert (done.failed_pods, done.used_milli) == (1, 1000)
    cards = 2 * 1 + 1 * 2 + 3 * 3 + 2 * 1
    assert done.gpu_allocation_percent == pytest.approx((2 * 2 + 1) / cards * 100, abs=0.001)


def test_a_pod_keeps_its_card_where_the_node_lists_them_in_another_order(tmp_path: Path) -> None:
    """HAMi's agent lists cards in no order, each time another one."""
    small, large = node("n", 1, 10 * GIB).devices[0], node("m", 1).devices[0]
    before, after = (
        msgspec.structs.replace(node("n", 0), devices=cards)
        for cards in ((small, large), (large, small))
    )
    file = written(
        tmp_path,
        Shown(at=0, node=before),
        Arrived(at=1, pod="a", request=wants(30 * GIB)),
        Shown(at=2, node=after),
        End(at=3),
    )
    trace, schedule = recorded.read(file)
    churn = Churn(trace, 1, schedule)
    list(churn.steps(POLICIES["binpack"]))
    assert list(churn.cluster.snapshot.mem_left[0, :2]) == [10 * GIB, 10 * GIB]


def test_every_pod_is_given_back_in_the_end(tmp_path: Path) -> None:
    """A node that registers anew meanwhile, with its cards, loses nothing."""
    file = written(
        tmp_path,
        Shown(at=0, node=node("n", 2)),
        Arrived(at=1, pod="a", request=wants(10 * GIB)),
        Shown(at=2, node=msgspec.structs.replace(node("n", 2), ready=False)),
        Arrived(at=3, pod="b", request=wants(10 * GIB)),
        Shown(at=4, node=node("n", 2)),
        Left(at=5, pod="a"),
        End(at=6),
    )
    trace, schedule = recorded.read(file)
    churn = Churn(trace, 1, schedule)
    list(churn.steps(POLICIES["binpack"]))
    assert churn.cluster.failed == 1
    assert churn.cluster.used == 0
    assert list(churn.cluster.snapshot.mem_left[0, :2]) == [40 * GIB, 40 * GIB]


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        ((), "no node was there when the recording began"),
        ((Shown(at=0, node=node("n", 1)), Left(at=1, pod="x")), "Pod x .* has not arrived by 1"),
        (
            (Shown(at=0, node=node("n", 1)), Withdrawn(at=1, node="m")),
            "node m .* is not there at 1",
        ),
        ((Shown(at=0, node=node("n", 1, -1)),), "line 2 is none of a recording: .* `int` >= 0"),
    ],
)
def test_a_recording_of_which_nothing_can_be_made_is_a_sentence(
    lines: tuple[Entry, ...], what: str, tmp_path: Path
) -> None:
    """It names the file."""
    with pytest.raises(UsageError, match=f"cluster.jsonl: {what}"):
        recorded.read(written(tmp_path, *lines))


def simulate(*words: str) -> list[dict[str, object]]:
    """Run the command, and return its JSON."""
    done = CliRunner().invoke(command, [*words, "-o", "json"], catch_exceptions=False)
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def test_the_example_of_a_recording_is_replayed_as_it_was() -> None:
    """Nothing is rejected that was not, and the load is what the recording had."""
    file = EXAMPLES / "recording.jsonl"
    (done,) = simulate("--recording", str(file))
    assert (done["trace"], done["failed_pods"]) == ("recording", 0)
    assert done["gpu_allocation_percent"] == pytest.approx(float(str(done["offered"])) * 100, 0.01)


def test_the_examples_of_workloads_run() -> None:
    """One at a load that is offered, one by its own rates, with the same Pods for one seed."""
    words = ("--policy", "binpack", "--offered", "0.3")
    (packed,) = simulate("--trace", str(EXAMPLES / "workload-shares.yaml"), *words)
    assert (packed["departures"], packed["offered"]) == (True, 0.3)
    rates = EXAMPLES / "workload-rates.yaml"
    first, again, other = (simulate("--trace", str(rates), "--seed", s)[0] for s in "112")
    assert first == again
    assert first["arrivals"] != other["arrivals"]


WORKLOAD = """
version: 1
nodes: [{name: n, count: 2, cpu: 8, memory: 64Gi, devices: {model: T4, memory: 16Gi, count: 4}}]
pods: [{name: p, cpu: 500m, memory: 1Gi, devices: {memory: 4Gi}}]
"""


def test_pods_without_a_life_stay_and_fill_the_cluster(tmp_path: Path) -> None:
    """As in the published experiment; four shares fit on each of eight cards."""
    file = tmp_path / "w.yaml"
    file.write_text(WORKLOAD)
    (done,) = simulate("--trace", str(file))
    assert (done["departures"], done["gpu_allocation_percent"]) == (False, 100)
    assert done["classes"] == {"share": {"came": 32, "failed": 0}}


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("version: 1", "version: 2", "version"),
        ("cpu: 500m", "cpus: 1", "cpus is not a key of a workload; did you mean cpu?"),
        ("memory: 4Gi", "memory: 4 GB", "'4 GB' is no quantity, such as 16Gi"),
        ("name: p,", "name: p, life: long,", "'long' is no length of time; write"),
        ("name: p,", "name: p, every: 5s,", "for: classes have every, so say how long"),
        ("pods: [", "pods: [{name: q, every: 5s}, ", "pods p: has no every, as others do"),
        ("pods: [", "pods: [{name: q, life: 5s}, ", "pods p: has no life, so at a steady load"),
        ("devices: {memory: 4Gi}", "devices: {count: 0}", "expected a number from 1 to 64"),
        ("name: p,", "name: p, life: 0s,", "'0s': nothing lasts or comes so"),
        ("name: p,", "name: p, every: 0s,", "'0s': nothing lasts or comes so"),
        ("name: p,", "name: p, every: 0.1ms,", "about 36000000 Pods would come"),
        ("cpu: 500m", "cpu: -1", "-1 is less than nothing"),
        ("cpu: 500m", "cpu: 9e99", "'9e99' is more than any node has"),
        ("memory: 4Gi", "memory: 0", "pods p: devices.memory: 0 is less than 1Mi of a card"),
        ("memory: 4Gi", "memory: '0'", "pods p: devices.memory: 0 is less than 1Mi of a card"),
        ("memory: 16Gi", "memory: 0", "nodes n: devices.memory: 0 is less than 1Mi of a card"),
        ("memory: 16Gi", "memory: 16", "nodes n: devices.memory: 16 is less than 1Mi of a card"),
        ("{model: T4,", "{model: T4, vendor: nvdia,", "no accelerator nvdia; did you mean nvidia?"),
        ("{memory: 4Gi}", "{memory: 4Gi, vendor: foo}", "p: devices.vendor: there is no"),
        ("nodes: [", "nodes: [{name: n, cpu: 1, memory: 1Gi}, ", "n: the name stands there twice"),
    ],
)
def test_a_workload_with_a_mistake_is_a_sentence(
    before: str, after: str, what: str, tmp_path: Path
) -> None:
    """With the file, and what to write."""
    file = tmp_path / "w.yaml"
    hour = "for: 1h\n" if "every: 0s" in after or "0.1ms" in after else ""
    file.write_text(WORKLOAD.replace(before, after) + hour)
    with pytest.raises(UsageError) as caught:
        made.read(file, 1, 1.0)
    assert str(caught.value).startswith(f"{file}: ")
    assert what in str(caught.value)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--recording", "r.jsonl", "--offered", "0.9"), "leave it out"),
        (("--trace", "w.yaml", "--departures", "100"), "leave it out"),
        (("--trace", "missing.yaml"), "missing.yaml: cannot be read"),
        (("--recording", "missing.jsonl"), "missing.jsonl: cannot be read"),
        (("--plot", "picture.gif"), "ends in .png or .svg"),
        (("--plot", "missing/picture.png"), "there is no folder missing; make it first"),
    ],
)
def test_options_that_do_not_go_together_are_a_sentence(words: tuple[str, ...], what: str) -> None:
    """Before anything is run."""
    with pytest.raises(UsageError, match=what):
        CliRunner().invoke(command, list(words), catch_exceptions=False)


@pytest.mark.parametrize("words", [("--seed", "-1"), ("--departures", "-5")])
def test_a_number_below_nothing_is_refused(words: tuple[str, ...]) -> None:
    """As click says it of any option."""
    done = CliRunner().invoke(command, list(words))
    assert done.exit_code == 2
    assert f"Invalid value for '{words[0]}': {words[1]} is not in the range" in done.output


def test_without_matplotlib_a_plot_says_what_to_install() -> None:
    """Before anything is run, and without a traceback."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from berth.cli.main import main; main(['simulate', '--plot', 'p.png'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "install the extra: pip install 'berth-gpu[plot]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_own_lifetimes_are_those_of_the_list_and_load_the_cluster_as_offered() -> None:
    """Cut at the 95th percentile, and a tenth longer or shorter."""
    lives = [10.0] * 95 + [1e9] * 5
    pods = tuple(Arrival(wants(), 1000, life) for life in lives)
    trace = Trace("t", None, (node("n", 8),), pods)
    drawn = own_lives(trace, 1, 4_000, 0.5)
    assert drawn.lifetimes.max() <= np.percentile(lives, 95) * 1.1
    load = (drawn.lifetimes * 1000).sum() / (trace.capacity * drawn.end)
    assert load == pytest.approx(0.5, rel=0.25)
    assert isinstance(drawn, Schedule)


def test_what_came_of_it_is_said_also_where_the_picture_cannot_be_written(tmp_path: Path) -> None:
    """As on a full disk: the runs may have taken hours."""
    file = tmp_path / "picture.svg"
    file.symlink_to(tmp_path / "missing" / "picture.svg")
    words = ["--trace", str(EXAMPLES / "workload-rates.yaml")]
    done = CliRunner().invoke(command, [*words, "--plot", str(file)])
    assert isinstance(done.exception, UsageError)
    assert "workload-rates" in done.stdout


def test_every_curve_of_a_picture_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one of a single point, one that stays below the others, and each by its own colour."""
    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, _: drawn.append(figure))
    result = Result(
        policy="",
        trace="t",
        seed=1,
        offered=1,
        gpu_allocation_percent=0,
        rejected_percent=0,
        failed_pods=0,
        fragmentation_percent=0,
        used_milli=0,
        arrivals=0,
        classes={},
    )
    low = Curve((Point(0, 0, 0), Point(90, 40, 0), Point(100, 50, 0)))
    results = [msgspec.structs.replace(result, policy=name) for name in NAMES]
    plots.draw(Path("x.svg"), [Done(each, low) for each in results])
    plots.draw(Path("x.svg"), [Done(results[0], Curve((Point(5, 9, 0),), "seconds"))])
    many, single = (figure.axes[0] for figure in drawn)
    curves = [line for line in many.lines if line.get_label() in NAMES]
    assert len({line.get_color() for line in curves}) == len(NAMES)
    assert many.get_ylim()[0] <= 40
    assert [line.get_marker() for line in single.lines] == ["o"]


def test_a_picture_has_the_policies_and_the_published_curves(tmp_path: Path) -> None:
    """Allocation, fragmentation and failures, as SVG whose words are words, or as PNG."""
    file = tmp_path / "p.svg"
    simulate("--offered", "0.03", "--policy", "first-fit", "--plot", str(file))
    text = file.read_text()
    for words in ("first-fit", "fragmentation, published", "offered, % of all GPUs", "share"):
        assert f">{words}</text>" in text
    picture = tmp_path / "p.png"
    rates = EXAMPLES / "workload-rates.yaml"
    simulate("--trace", str(rates), "--plot", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
