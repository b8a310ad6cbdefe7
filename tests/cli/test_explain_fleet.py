"""`berth explain --snapshot`: where a Pod could go, as a person and as a script reads it."""

import json
import re
from collections.abc import Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner

from berth.cli import pictures, snapshot
from berth.cli.explain import command
from berth.errors import UsageError
from berth.model import picture
from berth.model.charge import Charge, Claim, Source
from berth.model.device import Device
from berth.model.node import Node
from berth.model.picture import Picture

ROOT = Path(__file__).parents[2]
FLEET = ROOT / "examples/snapshot.json"
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: a, annotations: {{{annotations}}}}}
spec: {{containers: [{{name: main, image: i, resources: {{limits: {{{limits}}}}}}}]}}
"""


def manifest(limits: str, annotations: str = "") -> str:
    """Return a Pod with these limits."""
    return POD.format(limits=limits, annotations=annotations)


def said(text: str, *words: str, fleet: Path | str = FLEET) -> str:
    """Return what a person reads."""
    words = ("-f", "-", "--snapshot", str(fleet), *words)
    return CliRunner().invoke(command, words, input=text, catch_exceptions=False).stdout


def placed(text: str, *words: str) -> dict[str, Any]:
    """Return what a script reads."""
    (row,) = json.loads(said(text, "-o", "json", *words))
    found: dict[str, Any] = row["placement"]
    return found


def test_the_nodes_that_fit_are_ranked_with_their_cards() -> None:
    """The fullest that suffices is best under binpack, the emptiest under spread."""
    share = manifest("nvidia.com/gpu: 1, nvidia.com/gpumem: 10240")
    packed, spread = (placed(share, "--policy", policy) for policy in ("binpack", "spread"))
    assert [one["node"] for one in packed["candidates"]] == ["gpu-a", "gpu-c", "gpu-b"]
    assert [one["node"] for one in spread["candidates"]] == ["gpu-b", "gpu-c", "gpu-a"]
    (card,) = packed["candidates"][0]["devices"]
    assert (card["uuid"], card["memoryMiB"], card["container"]) == ("GPU-a-3", 10_240, "main")
    scores = [one["score"] for one in packed["candidates"]]
    assert scores == sorted(scores, reverse=True)
    assert (packed["fitting"], packed["nodes"], packed["generation"]) == (3, 5, 42)


NEVER, FULL = "placement.never=refuse", "placement.full=refuse"


@pytest.mark.parametrize(
    ("limits", "flags", "what"),
    [
        ("nvidia.com/gpu: 9", (NEVER,), "no node can ever run this: 9 such cards wanted"),
        ("nvidia.com/gpu: 9", (FULL,), ""),
        ("nvidia.com/gpu: 4", (FULL,), "no node has room now"),
        ("nvidia.com/gpu: 4", (FULL, "placement.delivery=off"), ""),
        ("nvidia.com/gpu: 4", (NEVER,), ""),
        ("nvidia.com/gpu: 1, nvidia.com/gpumem: 10240", (NEVER, FULL), ""),
        ("amd.com/gpu: 9", (NEVER, FULL), ""),
    ],
)
def test_a_pod_that_the_webhook_would_refuse_for_want_of_a_node_is_refused(
    limits: str, flags: tuple[str, ...], what: str
) -> None:
    """By `placement.never` and `placement.full`, also in the exit code."""
    words = ("-f", "-", "--snapshot", str(FLEET), *(f"--set={flag}" for flag in flags))
    done = CliRunner().invoke(command, words, input=manifest(limits), catch_exceptions=False)
    assert (done.exit_code == 1) == bool(what), done.stdout
    assert what in done.stdout
    assert ("1 refused" in done.stdout) == bool(what)


@pytest.mark.parametrize("writes", ["volcano", "pool"])
def test_a_pod_that_is_translated_is_placed_as_what_it_asks_for(
    writes: str, tmp_path: Path
) -> None:
    """Its new words are cards as well as the old ones, and nothing that a node lacks."""
    file = tmp_path / "settings.yaml"
    file.write_text(
        "conversions: [{name: all, namespaces: ['*'], reads: [hami], writes: " + writes + "}]"
    )
    share = manifest("nvidia.com/gpu: 1, nvidia.com/gpumem: 10240")
    translated = placed(share, "--policy", "binpack", "--config", str(file))
    assert translated["candidates"] == placed(share, "--policy", "binpack")["candidates"]


def test_the_others_are_told_by_class_with_the_nearest_and_whether_waiting_helps() -> None:
    """Two whole cards of one model: one node has none of it, one too few, two are closed."""
    two = manifest("nvidia.com/gpu: 4", "nvidia.com/use-gputype: A100")
    found = placed(two)
    assert found["fitting"] == 0
    assert found["waitingHelps"]
    without = {one["reason"]: one for one in found["without"]}
    assert set(without) == {"TAINTED", "NO_SUCH_CARD", "NOT_READY", "CARDS"}
    assert not without["NO_SUCH_CARD"]["waitingHelps"]
    near = without["CARDS"]
    assert (near["nodes"], near["nearest"], near["wanted"], near["has"]) == (2, "gpu-b", 4, 3)
    text = said(two)
    assert "4 free cards wanted, gpu-b has 3 (nodes: 2); may fit later" in text
    assert "waiting can help: 3 nodes may fit once others have left" in text


@pytest.mark.parametrize(
    ("namespace", "node"), [("batch", "of-volcano"), ("listed", "of-plain"), ("other", "of-hami")]
)
def test_a_pod_goes_to_the_cards_of_the_stack_that_its_namespace_is_for(
    namespace: str, node: str, tmp_path: Path
) -> None:
    """By the settings, or by the namespace's label."""
    nodes = tuple(
        Node(
            name=f"of-{stack}",
            cpu_milli=8_000,
            memory_mib=8_000,
            devices=(
                Device(uuid=stack, vendor="nvidia", model="T4", memory_mib=15_360, stack=stack),
            ),
        )
        for stack in ("hami", "volcano", "plain")
    )
    file, config = tmp_path / "fleet.json", tmp_path / "settings.yaml"
    file.write_bytes(picture.write(Picture(nodes=nodes)))
    config.write_text(
        "conversions:\n- {name: v, namespaces: [], writes: volcano}\n"
        "- {name: p, namespaces: [listed], writes: plain}\n"
    )
    label = ("--namespace-label", "berth.dev/conversion=v") if namespace == "batch" else ()
    words = ("-n", namespace, "--config", str(config), *label)
    row = json.loads(said(manifest("nvidia.com/gpu: 1"), "-o", "json", *words, fleet=file))[0]
    assert [one["node"] for one in row["placement"]["candidates"]] == [node]


def test_places_are_told_in_the_language_of_the_settings() -> None:
    """Every line of them; what a script reads stays as it is."""
    two, chinese = manifest("nvidia.com/gpu: 4"), ("--set", "language=zh")
    places = [line for line in said(two, *chinese).splitlines() if line.startswith("  @")]
    assert "  @ 策略 scarcity，来自设置" in places
    assert any("需要 4 张空闲的卡，gpu-b 有 3 张" in line for line in places)
    assert all(re.search(r"[\u4e00-\u9fff]", line) for line in places)
    assert placed(two, *chinese) == placed(two)


def test_what_no_card_is_large_enough_for_never_fits() -> None:
    """The largest card says by how much it misses."""
    text = said(manifest("nvidia.com/gpu: 1, nvidia.com/gpumem: 50000"))
    assert "50000 MiB of one card wanted, gpu-a has 40960 (nodes: " in text
    assert "waiting does not help" in text


@pytest.mark.parametrize(
    ("annotation", "words", "policy", "by"),
    [
        ("", (), "scarcity", "the settings"),
        ("", ("--set", "placement.policy=spread"), "spread", "the settings"),
        ("hami.io/scheduling-policy: binpack", (), "binpack", "annotation hami.io/scheduling-poli"),
        ("hami.io/scheduling-policy: binpack", ("--policy", "mutex"), "mutex", "--policy"),
    ],
)
def test_the_policy_is_the_pods_own_unless_another_is_tried(
    annotation: str, words: Sequence[str], policy: str, by: str
) -> None:
    """And it is said who chose it."""
    found = placed(manifest("nvidia.com/gpu: 1", annotation), *words)
    assert found["policy"] == policy
    assert found["chosenBy"].startswith(by)


def test_a_refused_pod_goes_nowhere_and_without_a_fleet_nothing_is_said_of_it() -> None:
    """`placement` is null, or not there."""
    wrong = manifest("nvidia.com/gpu: 0.5")
    assert json.loads(said(wrong, "-o", "json"))[0]["placement"] is None
    bare = CliRunner().invoke(command, ["-f", "-", "-o", "json"], input=wrong)
    assert "placement" not in json.loads(bare.stdout)[0]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("a/b",), "add --cluster"),
        (("a/b", "-f", "x", "--cluster"), "leave -f out, or write -f before each file"),
        (("a/b", "--snapshot", "x"), "add --cluster"),
        (("-f", "-", "--snapshot", "x", "--cluster"), "ask one of them"),
        (("-f", "-", "--snapshot", "missing.json"), "missing.json: cannot be read"),
        (("-f", "-", "--snapshot", "http://a b/"), "http://a b/: cannot be read: URL can't"),
        (("-f", "-", "--snapshot", "http://a:b/"), "cannot be read: nonnumeric port: 'b'"),
        (("-f", "-", "--snapshot", "http://[::1"), "cannot be read: Invalid IPv6 URL"),
        (("-f", "-", "--snapshot", str(ROOT / "README.md")), "is no snapshot of a fleet"),
        (("-f", "-", "--snapshot", str(FLEET), "--policy", "bimpack"), "did you mean binpack?"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(words: tuple[str, ...], what: str) -> None:
    """It says what to do."""
    with pytest.raises(UsageError, match=what.replace("?", r"\?")):
        CliRunner().invoke(
            command, list(words), input=manifest("nvidia.com/gpu: 1"), catch_exceptions=False
        )


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and writes no log; of /cut only the beginning, as who ends meanwhile."""

    def do_GET(self) -> None:
        """Answer."""
        if self.path != "/cut":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Length", "9")
        self.end_headers()
        self.wfile.write(b"{")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        (
            '"memoryMib": 40960',
            '"memoryMib": -1',
            "`int` >= 0 - at `$.nodes[0].devices[0].memoryMib",
        ),
        ('"pods": 110', f'"pods": {2**70}', "`int` <= 4503599627370496 - at `$.nodes[0].pods`"),
        (
            '"profiles": []',
            '"profiles": [{"name": "9g", "memoryMib": 1, "cores": 1, "size": 5, "starts": [4]}]',
            "a partition does not lie on 8 slices - at `$.nodes[0].devices[0].profiles[0]`",
        ),
        ('"name": "gpu-b"', '"name": "gpu-a"', "1 of the nodes have the name of another"),
    ],
)
def test_a_snapshot_that_was_edited_to_what_cannot_be_is_a_sentence(
    before: str, after: str, what: str, tmp_path: Path
) -> None:
    """With the place of it."""
    file = tmp_path / "fleet.json"
    text = json.dumps(json.loads((ROOT / "examples/snapshot.json").read_bytes()))
    assert before in text
    file.write_text(text.replace(before, after, 1))
    with pytest.raises(UsageError) as caught:
        pictures.read(str(file))
    assert what in str(caught.value)


def test_a_snapshot_may_come_from_a_webhook(tmp_path: Path) -> None:
    """By the address of its operator's port."""
    (tmp_path / "fleet").write_bytes(FLEET.read_bytes())
    quiet = partial(Quiet, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), quiet) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        share = manifest("nvidia.com/gpu: 1")
        assert said(share, fleet=f"{url}/fleet").count("2 of 5 nodes fit") == 1
        with pytest.raises(UsageError, match="none: cannot be read: File not found"):
            said(share, fleet=f"{url}/none")
        with pytest.raises(UsageError, match="cut: cannot be read: IncompleteRead"):
            said(share, fleet=f"{url}/cut")
        server.shutdown()


def large(folder: Path) -> Path:
    """Write a fleet of 1,200 nodes of three models, each with Pods."""
    models = (("A100", 40_960), ("T4", 15_360), ("L4", 23_034))
    nodes, pods = [], []
    for number in range(1_200):
        name, (model, memory) = f"n{number:04}", models[number % 3]
        devices = tuple(
            Device(uuid=f"{name}-{card}", vendor="nvidia", model=model, memory_mib=memory)
            for card in range(4)
        )
        ready = number % 50 > 0
        nodes.append(
            Node(name=name, cpu_milli=9_000, memory_mib=99_000, devices=devices, ready=ready)
        )
        claim = Claim(container="m", uuid=f"{name}-0", memory_mib=4_000, cores=0)
        pods.append(
            Charge(
                namespace="x",
                name=name,
                uid=name,
                node=name,
                cpu_milli=1_000,
                claims=(claim,),
                source=Source.RECORDED,
            )
        )
    file = folder / "large.json"
    file.write_bytes(picture.write(Picture(nodes=tuple(nodes), pods=tuple(pods))))
    return file


def test_a_large_fleet_is_told_in_a_few_lines(tmp_path: Path) -> None:
    """Classes of nodes, not nodes; and what the default policy has learned, once."""
    fleet = large(tmp_path)
    share = manifest("nvidia.com/gpu: 1, nvidia.com/gpumem: 20000")
    text = said(f"{share}---\n{share}", fleet=fleet)
    assert "784 of 1200 nodes fit" in text
    assert "20000 MiB of one card wanted" in text
    assert text.count("scarcity has learned from 1200 Pods") == 1
    assert len(text.splitlines()) < 60


def test_the_schema_is_the_one_on_the_page() -> None:
    """`berth snapshot --schema` prints it; scripts/generate writes it."""
    page = ROOT / "docs/reference/snapshot.schema.json"
    assert page.read_text() == snapshot.document_schema()
