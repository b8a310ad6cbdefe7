"""Numbers of any length, anywhere in any file that people give us: read, or refused in a sentence.

Python has limits that others do not have: int() takes 4,300 digits, float() some 308, and numpy
19 of a whole number.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth.admission import live
from berth.admission.live import Sources
from berth.cli import rebuilt
from berth.cli.main import main
from berth.cluster import kube, verify
from berth.errors import UsageError
from berth.model import picture
from berth.model.raw import Json, JsonObject
from berth.simulator import made, recorded, runs
from berth.simulator.runs import Job
from berth.vendors import VENDORS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
HOLE = "?hole?"
"""Stands in a document where the number goes."""
LONGEST = 800
"""Characters of a sentence, beside the name of its file."""
Read: TypeAlias = Callable[[Path, Json, str], object]
"""Reads a document with a number in its hole, written to a folder."""

SETTINGS: Json = {
    "server": {"port": 1, "drainSeconds": 1, "mostInFlight": 1, "host": "a", "dnsNames": ["a"]},
    "certificates": {"caDays": 1},
    "policy": {"privileged": "skip", "allocators": ["a"]},
    "placement": {
        "special": [{"namespaces": ["a"], "pinAmong": 1, "policy": "spread"}],
        "filters": [{"name": "a", "expression": "device.cores.free > 3", "namespaces": ["b"]}],
    },
    "injections": [{"name": "a", "vendor": "nvidia", "env": [{"name": "A", "value": "b"}]}],
    "conversions": [
        {
            "name": "a",
            "memory": "16Gi",
            "models": {"table": {"7b/inference/bf16": "20Gi"}, "overheadMib": 3, "inference": 1.2},
            "oversubscription": {"memory": 2},
            "defaults": {"cpuRequest": "4", "memoryLimit": "16Gi"},
        }
    ],
}
KUBECONFIG: Json = {
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    "users": [{"name": "u", "user": {"token": "t"}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "n"}}],
    "current-context": "x",
}
NODE: JsonObject = {"sn": "n", "cpu_milli": 64000, "memory_mib": 262144, "gpu": 2, "model": "P100"}
POD: JsonObject = {"name": "p", "cpu_milli": 1, "memory_mib": 1, "num_gpu": 1, "gpu_milli": 500}
LISTS: Json = {
    "openb_node_list_gpu_node.csv": NODE,
    "pods/openb_pod_list_default.csv.gz": {**POD, "creation_time": 0, "deletion_time": 9},
    "arrivals/default.csv.gz": {"pods,42": "0 0", "noderank,42": 0},
}


def document(text: str) -> Json:
    """Return what YAML says."""
    found: Json = yaml.safe_load(text)
    return found


def example(name: str) -> Json:
    """Return an example of ours."""
    return document((EXAMPLES / name).read_text())


def short(tree: Json) -> Json:
    """Return a document of ours with one entry of each list: the others have the same keys."""
    if isinstance(tree, dict):
        return {key: short(below) for key, below in tree.items()}
    return [short(below) for below in tree[:1]] if isinstance(tree, list) else tree


def holed(tree: Json) -> Iterator[Json]:
    """Yield the document once for each value in it, which is the hole there."""
    if isinstance(tree, dict):
        for key, below in tree.items():
            yield from ({**tree, key: one} for one in holed(below))
    elif isinstance(tree, list):
        for at, below in enumerate(tree):
            yield from ([*tree[:at], one, *tree[at + 1 :]] for one in holed(below))
    else:
        yield HOLE


def written(folder: Path, tree: Json, number: str) -> Path:
    """Write a document, which is JSON but for the number, and return its file."""
    file = folder / "written.yaml"
    file.write_text(json.dumps(tree).replace(json.dumps(HOLE), number))
    return file


def listed(folder: Path, tree: Json, number: str) -> Path:
    """Write the lists of a trace, and return their folder."""
    assert isinstance(tree, dict)
    for name, row in tree.items():
        assert isinstance(row, dict)
        table = [row, map(str, row.values())]
        lines = map(",".join, table if "_list_" in name else zip(*table, strict=True))
        text = "\n".join(lines).replace(HOLE, number.strip('"'))
        (folder / name).parent.mkdir(exist_ok=True)
        packed = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        (folder / name).write_bytes(packed)
    return folder


def placed(folder: Path, tree: Json, number: str) -> None:
    """Read a trace, and place its Pods."""
    list(runs.one(Job(policy="first-fit", seed=42, folder=listed(folder, tree, number))))


def commanded(*words: str) -> Read:
    """Return what has a command read the file."""

    def read(folder: Path, tree: Json, number: str) -> None:
        done = CliRunner().invoke(main, [*words, str(written(folder, tree, number))])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        if done.exit_code > 1:
            raise UsageError(done.stderr.strip())

    return read


def recording() -> Json:
    """Return the lines of our recording, of its Pods only those of one that left."""
    lines = list(map(json.loads, (EXAMPLES / "recording.jsonl").read_text().splitlines()))
    name = next(line["pod"] for line in lines if line["type"] == "left")
    return [line for line in lines if line.get("pod", name) == name]


def replayed(folder: Path, tree: Json, number: str) -> None:
    """Read a recording both ways."""
    assert isinstance(tree, list)
    file = folder / "written.jsonl"
    text = "".join(json.dumps(line) + "\n" for line in tree)
    file.write_text(text.replace(json.dumps(HOLE), number))
    recorded.read(file)
    list(rebuilt.pods(file, VENDORS))


READERS: dict[str, tuple[Json, Read]] = {
    "settings": (SETTINGS, lambda *given: live.read(Sources(config=written(*given)))),
    "device-config": (
        short(document((ROOT / "tests/data/device-config.yaml").read_text())),
        lambda *given: live.read(Sources(device_config=written(*given))),
    ),
    "a flag": (
        [HOLE],
        lambda _folder, _tree, number: live.read(Sources(flags=(f"server.port={number}",))),
    ),
    "a workload with rates": (
        example("workload-rates.yaml"),
        lambda *given: made.read(written(*given), 1, 1),
    ),
    "a workload with shares": (
        example("workload-shares.yaml"),
        lambda *given: made.read(written(*given), 1, 1),
    ),
    "a trace": (LISTS, placed),
    "a recording": (recording(), replayed),
    "a snapshot": (
        short(example("snapshot.json")),
        lambda *given: verify.of_picture(picture.read(written(*given).read_bytes())),
    ),
    "a kubeconfig": (KUBECONFIG, lambda *given: kube.configuration(written(*given))),
    "a manifest to explain": (example("04-percent-and-cores/pod.yaml"), commanded("explain", "-f")),
    "a manifest to convert": (
        example("04-percent-and-cores/pod.yaml"),
        commanded("convert", "--to", "volcano", "-f"),
    ),
    "a manifest to compare": (
        example("04-percent-and-cores/pod.yaml"),
        commanded("diff", "--set", "scheduler.name=other", "-f"),
    ),
}
WORST = [
    *("9" * digits for digits in (19, 400, 4301)),
    "1e400",
    *(json.dumps(text) for text in ("9" * 400, "9" * 400 + "h", "1e400")),
]
"""Beyond each of these limits, as numbers and as texts."""
FORMS = ["{}", "{}.5", "0.{}", "1e{}", "{}e9", "0x{}", "0{}", "{}_0", "{}:00", ".inf", ".nan"]
LENGTHS = [1, 2, 18, 19, 20, 63, 64, 65, 309, 400, 4300, 4301, 5000]


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """Return a number as JSON or YAML has it, or as a text: of few digits, or of far too many."""
    digits = draw(st.sampled_from("179")) * draw(st.sampled_from(LENGTHS))
    number = draw(st.sampled_from(["", "-"])) + draw(st.sampled_from(FORMS)).format(digits)
    units = draw(st.none() | st.sampled_from(["", "Gi", "m", "%", "h", "d"]))
    return number if units is None else json.dumps(number + units)


def check(read: Read, folder: Path, tree: Json, number: str) -> None:
    """No other error leaves a reader, and the sentence does not repeat thousands of digits."""
    try:
        read(folder, tree, number)
    except UsageError as error:
        said = str(error).replace(str(folder), "")
        assert len(said) <= LONGEST, said
        assert "\n" not in said
        assert "sys." not in said, "Python's advice to programmers"


@pytest.mark.parametrize("name", READERS)
def test_the_worst_numbers_are_read_or_refused_wherever_they_stand(
    tmp_path: Path, name: str
) -> None:
    """Each at each place: what reads one value alone is seldom met by chance."""
    tree, read = READERS[name]
    for place in holed(tree):
        for number in WORST:
            check(read, tmp_path, place, number)


@pytest.mark.parametrize("name", READERS)
@settings(
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # a folder, written over
)
@given(data=st.data(), number=numbers())
def test_a_number_of_any_length_is_read_or_refused_in_a_sentence(
    tmp_path: Path, name: str, data: st.DataObject, number: str
) -> None:
    """In all forms that JSON and YAML have."""
    tree, read = READERS[name]
    check(read, tmp_path, data.draw(st.sampled_from(list(holed(tree)))), number)
