"""`berth simulate` on a tenth of the published cluster, and what the default policy gains there."""

import gzip
import json
import subprocess
import sys
from multiprocessing import active_children
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from berth.cli.simulate import command
from berth.errors import UsageError
from berth.simulator.result import Done
from berth.simulator.run import Run
from berth.simulator.runs import Job, all_of, one, policy_of
from berth.simulator.trace import Trace, order, own, read
from tests.wire import raw


@pytest.fixture(scope="module")
def tenth() -> Trace:
    """Return every tenth node and Pod of the default trace."""
    whole = read(own(), "default")
    return msgspec.structs.replace(
        whole, folder=None, nodes=whole.nodes[::10], pods=whole.pods[::10]
    )


def allocated(trace: Trace, policy: str, offered: float = 1.0) -> float:
    """Return what a policy allocates, in percent."""
    run = Run(trace, 1)
    for _ in run.steps(policy_of(policy, run.cluster), offered):
        pass
    return run.result(policy, offered).gpu_allocation_percent


def test_the_default_policy_allocates_more_than_the_others(tenth: Trace) -> None:
    """On a tenth of the cluster, too: seed 1 is not one of the published."""
    ours = allocated(tenth, "scarcity")
    for other in ("fragmentation", "first-fit", "best-fit", "random", "binpack", "spread"):
        assert ours > allocated(tenth, other), other
    assert ours > 95.0


def test_the_same_seed_gives_the_same_run(tenth: Trace) -> None:
    """Nothing is random but what the seed says."""
    assert allocated(tenth, "random", 0.5) == allocated(tenth, "random", 0.5)
    assert order(tenth, 1) == order(tenth, 1) != order(tenth, 2)


def simulate(*words: str) -> list[dict[str, object]]:
    """Run the command, and return its JSON."""
    done = CliRunner().invoke(command, [*words, "-o", "json"], catch_exceptions=False)
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def test_one_object_for_each_run_the_default_policy_without_another() -> None:
    """In the order of the words; two runs use two processes and say the same as one."""
    (alone,) = simulate("--seed", "43", "--offered", "0.02")
    first, second = simulate("--seed", "43", "--seed", "42", "--offered", "0.02")
    assert first == alone
    assert (second["seed"], second["policy"], second["trace"]) == (42, "scarcity", "default")
    assert {"gpu_allocation_percent", "failed_pods", "fragmentation_percent"} <= set(first)


def started(process: int) -> int:
    """Count the children of a process that have their code: without it, one ends in a traceback."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return sum("numpy" in Path(f"/proc/{child}/maps").read_text() for child in children)


def test_no_process_outlives_a_command_that_is_killed() -> None:
    """Each holds its stderr, which comes to an end with the last of them."""
    words = ("-m", "berth", "simulate", "--policy", "first-fit", "--seed", "42", "--seed", "43")
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert raw.eventually(lambda: started(process.pid) == 2, 60)
        process.kill()
        _, said = process.communicate(timeout=30)  # or TimeoutExpired: somebody holds it still
    assert b"Traceback" not in said


def test_more_arrivals_than_memory_holds_are_refused() -> None:
    """A run of so many would take hours."""
    done = CliRunner().invoke(command, ["--departures", "99999999999"])
    assert "99999999999 is not in the range" in done.output


def test_a_process_that_is_ended_from_outside_ends_the_command() -> None:
    """Its result would be awaited for ever."""
    jobs = [Job(policy="first-fit", seed=seed) for seed in (42, 43)]
    steps = all_of(jobs, 2)
    assert next(steps) == 0
    for process in active_children():
        process.kill()
    with pytest.raises(UsageError, match="was ended from outside"):
        list(steps)


def test_no_process_is_left_once_the_last_result_is_there() -> None:
    """One that still began would find the lock gone that it shares: a traceback of Python's."""
    file = Path(__file__).parents[2] / "examples/recording.jsonl"
    jobs = [Job(policy="first-fit", seed=seed, file=file, recording=True) for seed in (1, 2)]
    assert sum(isinstance(step, Done) for step in all_of(jobs, 2)) == 2
    assert active_children() == []


def test_what_comes_at_an_offered_load_is_offered(tenth: Trace) -> None:
    """All that comes early on is placed, so that is what is allocated."""
    assert allocated(tenth, "first-fit", 0.5) == pytest.approx(50, abs=0.6)


def test_with_departures_the_cluster_stays_as_full_as_the_load() -> None:
    """At a load that fits, what is allocated in the mean is what is offered."""
    job = Job(policy="first-fit", seed=5, trace="multigpu50", offered=0.02, arrivals=1_500)
    (done,) = [step.result for step in one(job) if isinstance(step, Done)]
    assert done.departures
    assert done.rejected_percent == 0
    assert done.gpu_allocation_percent == pytest.approx(2, abs=0.3)


LISTS = {
    "openb_node_list_gpu_node.csv": "sn,cpu_milli,memory_mib,gpu,model\nn,8000,1000,1,T4\n",
    "pods/openb_pod_list_t.csv.gz": "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,500\n",
    "arrivals/t.csv.gz": "pods,42,0 0\nnoderank,42,0\n",
}
NODES, PODS, ORDER = LISTS


@pytest.mark.parametrize(("offered", "placed"), [(0.1, 0), (0.79, 400), (0.8, 800), (1, 800)])
def test_who_offers_more_than_was_asked_for_is_not_in_the_report(
    offered: float, placed: int, tmp_path: Path
) -> None:
    """As in the exact replay: of three Pods of 400 milli, the third goes beyond one card."""
    three = LISTS | {
        PODS: "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,400\n",
        ORDER: "pods,42,0 0 0 0\nnoderank,42,0\n",
    }
    for name, text in three.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        packed = name.endswith(".gz")
        (tmp_path / name).write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    job = Job(policy="first-fit", seed=42, folder=tmp_path, trace="t", offered=offered)
    (done,) = [step.result for step in one(job) if isinstance(step, Done)]
    assert (done.used_milli, done.failed_pods, done.rejected_percent) == (placed, 0, 0)
    assert sum(one.came for one in done.classes.values()) == placed // 400


def test_no_number_is_no_load() -> None:
    """NaN is in every range."""
    with pytest.raises(UsageError, match="--offered: nan is no number"):
        simulate("--offered", "nan")


@pytest.mark.parametrize(
    ("file", "text", "what"),
    [
        (NODES, None, "cannot be read: No such file"),
        (PODS, None, "cannot be read: No such file"),
        (NODES, "", "nothing is listed there"),
        (PODS, "name,cpu_milli\n", "nothing is listed there"),
        (NODES, "sn,gpu\nn,8\n", "line 2: cpu_milli: '' is no whole number"),
        (NODES, "sn,cpu_milli,memory_mib,gpu\nn,8,8,9999\n", "more cards than a node has"),
        (NODES, LISTS[NODES] + "n,8000,1000,1,T4\n", "a node stands there twice"),
        (PODS, LISTS[PODS] + "q,1\n", "line 3: num_gpu: '' is no whole number"),
        (PODS, LISTS[PODS] + "q,1,1,-1,5\n", "line 3: num_gpu: '-1' is no whole number"),
        (PODS, LISTS[PODS] + "q,1,1,1," + "9" * 30, f"'{'9' * 30}' is no whole number"),
        (PODS, b"\x1f\x8b\x08\x00", "it ends too early, or is damaged"),
        (PODS, b"no gzip", "cannot be read: Not a gzipped file"),
        (NODES, b"\xff\xff", "is no text"),
        (ORDER, "pods,42,0 7\nnoderank,42,0\n", "of another list of nodes or Pods; take the file"),
        (ORDER, "pods,42,0\nnoderank,42,0 1\n", "of another list of nodes or Pods; take the file"),
        (ORDER, "pods,42,0 x\n", "pods of seed 42: has something that is no whole number"),
    ],
)
def test_a_list_that_is_broken_is_one_sentence(
    file: str, text: str | bytes | None, what: str, tmp_path: Path
) -> None:
    """With the file, and its line where one is wrong."""
    for name, content in {**LISTS, file: text}.items():
        if content is not None:
            made = content.encode() if isinstance(content, str) else content
            packed = name.endswith(".gz") and isinstance(content, str)
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(gzip.compress(made) if packed else made)
    with pytest.raises(UsageError) as caught:
        order(read(tmp_path, "t"), 42)
    assert str(caught.value).startswith(f"{tmp_path / file}")
    assert what in str(caught.value)


def test_a_published_order_for_no_cards_is_one_sentence() -> None:
    """As one that is drawn."""
    cards = read(own(), "default")
    without = [msgspec.structs.replace(node, devices=()) for node in cards.nodes]
    with pytest.raises(UsageError, match="no load can be offered where no card is"):
        order(msgspec.structs.replace(cards, nodes=tuple(without)), 42)


def test_a_trace_that_is_not_there_is_one_sentence() -> None:
    """With those that are."""
    with pytest.raises(UsageError, match="has no trace nonsense; known are cpu050, cpu100"):
        read(own(), "nonsense")
