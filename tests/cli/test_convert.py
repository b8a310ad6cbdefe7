"""`berth convert`, as a person runs it over files."""

import difflib
import json
import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from berth.admission import conversions, templates
from berth.admission.rules import Rules
from berth.cli import configured, convert, documents, main, rewriting
from berth.errors import UsageError
from berth.model.rfc6902 import Operation
from tests.corpus import corpus

BEFORE = """\
# Serve it.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve   # what it is called
spec:
  template:
    spec:
      containers:
        - name: main
          image: "x:1"  # quoted
          resources:
            limits:
              nvidia.com/gpu: 1   # one card

              # not much memory
              memory: 1Gi
              # more: of the same
          # a comment about env
          env:
            - name: A
              value: "1"
            # then nothing

      # the end
---
# Only a comment.
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image:   spaced}]}
"""
WRONG = """\
kind: Pod
metadata: {name: half}
spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 0.5}}}]}
"""
SHARED = """\
kind: Pod
spec:
  containers:
  - {name: a, image: i, resources: &card {limits: {nvidia.com/gpu: 1}}}
  - {name: b, image: i, resources: *card}
"""


def run(*arguments: str, stdin: str = "") -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main.main, ["convert", "--to", "hami", *arguments], input=stdin)


def changed(before: str, after: str) -> list[str]:
    """Return the lines of a difference that are not in both."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def test_comments_order_and_looks_are_kept() -> None:
    """Only lines that say something else are others; what has no device stays byte for byte."""
    done = run("-f", "-", stdin=BEFORE)
    assert (done.exit_code, done.stderr) == (0, "")
    wanted = [
        "+              nvidia.com/gpucores: '100'",
        "+            requests:",
        "+              nvidia.com/gpucores: '100'",
        "+      schedulerName: hami-scheduler",
    ]
    assert changed(BEFORE, done.stdout) == wanted
    again = run("-f", "-", stdin=done.stdout)
    assert again.stdout == done.stdout, "a second time, nothing is left to do"


def test_files_are_written_where_they_are(tmp_path: Path) -> None:
    """With `--in-place` stdout is empty; a file in which a Pod is refused stays as it is."""
    good, wrong, data = tmp_path / "good.yaml", tmp_path / "wrong.yaml", tmp_path / "pod.json"
    good.write_text(BEFORE)
    wrong.write_text(f"{BEFORE}---\n{WRONG}")
    data.write_text(json.dumps(yaml.safe_load(SHARED)))
    done = run("-f", str(tmp_path), "--in-place")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "schedulerName: hami-scheduler" in good.read_text()
    assert wrong.read_text() == f"{BEFORE}---\n{WRONG}"
    assert f"{wrong}: Pod/half: spec.containers[0]" in done.stderr
    assert json.loads(data.read_text())["spec"]["schedulerName"] == "hami-scheduler"


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (("-f", "-", "--in-place"), "", "stdin is no file"),
        (("-f", "-"), "a: [", "is not valid YAML"),
        (("-f", "-"), "{{- if .Values.gpu }}", "if this is a template, render it first"),
        (("-f", "-"), "[1]", "holds a list, not a manifest"),
        (("-f", "-"), '{"a": 1} {"a": 2}', "several JSON objects stand in a row"),
        (("-f", "nowhere.yaml"), "", "cannot be read"),
    ],
)
def test_what_cannot_be_done(arguments: tuple[str, ...], stdin: str, said: str) -> None:
    """Exit code 2, and a sentence."""
    done = run(*arguments, stdin=stdin)
    assert done.exit_code == 2
    assert said in done.stderr


RULES = conversions.into(*configured.read(None, None, ("policy.allocations=keep",)), "hami")
VOLCANO = conversions.into(*configured.read(None, None, ()), "volcano")


@pytest.mark.parametrize(
    "text",
    [BEFORE.replace("\n", "\r\n"), f"\ufeff{BEFORE}", f"--- # first\n{BEFORE}", BEFORE.strip()],
    ids=["Windows", "a byte order mark", "a mark of its own", "no end of line"],
)
def test_however_it_is_written_it_says_what_was_decided(text: str) -> None:
    """And a second pass has nothing left to do."""
    found = convert._converted("some.yaml", text.encode(), RULES)
    serve, web = documents.parsed("", found.after)
    (template,) = templates.find(serve)
    assert template.pod["spec"]["schedulerName"] == "hami-scheduler"  # type: ignore[call-overload,index]  # JSON
    assert web == documents.parsed("", text)[1]
    assert convert._converted("some.yaml", found.after.encode(), RULES).after == found.after


def test_what_an_anchor_shares_changes_alike_or_not_at_all() -> None:
    """Nothing else ever comes out than was decided: a privileged container keeps what it has."""
    alike = convert._converted("some.yaml", SHARED.encode(), RULES).after
    assert alike.count("nvidia.com/gpucores") == 2, "once in limits, once in requests"
    unlike = SHARED.replace("*card", "*card, securityContext: {privileged: true}")
    with pytest.raises(UsageError, match="write it out where it stands"):
        convert._converted("some.yaml", unlike.encode(), RULES)


EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/pod.yaml"))
KAI = re.compile(r"^\s*gpu-(fraction|memory)", re.MULTILINE)
TRANSLATED = re.compile(r"schedulerName|annotations:|NVIDIA_VISIBLE|env:|value:|(/|\s)v?gpu")
"""What is written otherwise: scheduler, devices in other words, KAI's annotations, variables."""
CORPUS = sorted(corpus.FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("rules", [RULES, VOLCANO], ids=["hami", "volcano"])
@pytest.mark.parametrize("file", [*CORPUS, *EXAMPLES], ids=str)
def test_public_manifests_keep_their_looks(file: Path, rules: Rules) -> None:
    """Whatever their style: each comment line stays, and no line goes but what is translated."""
    found = convert._converted(str(file), file.read_bytes(), rules)
    before, after = (
        [line.strip() for line in text.splitlines() if line.strip()[:1] == "#"]
        for text in (found.before, found.after)
    )
    if not KAI.search(found.before):  # whose annotations go, with what is said of them
        assert after == before
    difference = changed(found.before, found.after)
    gone = [line for line in difference if line[0] == "-" and line[1:].strip()]
    others = [line for line in gone if not TRANSLATED.search(line) and line[1:].strip()[0] != "#"]
    assert len(others) <= 2, gone
    again = convert._converted(str(file), found.after.encode(), rules)
    assert again.after == found.after, "a second time, nothing is left to do"


@pytest.mark.parametrize("to", ["volcano", "pool", "plain"])
def test_a_file_is_translated_into_each_stacks_words(to: str, tmp_path: Path) -> None:
    """Comments stay, and a second run finds nothing to do."""
    file = tmp_path / "in.yaml"
    file.write_text(BEFORE)
    arguments = ["convert", "--to", to, "--in-place", "-f", str(file)]
    first = CliRunner().invoke(main.main, arguments)
    assert first.exit_code == 0, first.output
    written = file.read_text()
    word = {"volcano": "volcano.sh/vgpu-number: ", "pool": "hami.io/vgpu-count: "}.get(to, "")
    assert word in written or to == "plain"
    assert "nvidia.com/gpu" not in written or to == "plain"
    assert "# not much memory" in written
    assert CliRunner().invoke(main.main, arguments).exit_code == 0
    assert file.read_text() == written


NASTY = """\
# Kept as it is.
apiVersion: v1
kind: Pod
metadata:
  name: nasty
  annotations:
    none: ~
    script: |
      ---
      # no comment
      nvidia.com/gpu: 1
    folded: >-
      one

      two
spec:
  containers:
  -   name: a
      image:   "i"   # odd
      ports: [{containerPort: 0x1F90}]
      env: [{name: A, value: 'yes'},
            {name: B, value: "no"}]  # two lines
      resources:
          limits:
              # the card
              nvidia.com/gpu: 2   # both of one node
              nvidia.com/gpumem: 8000   # MiB of each

              cpu: 4   # whole ones
  # between

  -   name: b
      image: i
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["Unix", "Windows"])
def test_a_new_name_stands_where_the_old_one_stood(ends: str) -> None:
    """With its comment, in its order; and no other line changes, whatever a library prefers."""
    text = NASTY.replace("\n", ends)
    after = convert._converted("some.yaml", text.encode(), VOLCANO).after
    assert after.count(ends) == after.count("\n")
    assert changed(text, after) == [
        "-              nvidia.com/gpu: 2   # both of one node",
        "-              nvidia.com/gpumem: 8000   # MiB of each",
        "+              volcano.sh/vgpu-number: '2' # both of one node",
        "+              volcano.sh/vgpu-memory: '8000'  # MiB of each",
        "+          requests:",
        "+              volcano.sh/vgpu-number: '2'",
        "+              volcano.sh/vgpu-memory: '8000'",
        "+  schedulerName: volcano",
    ]


MERGED = """\
kind: Pod
spec:
  containers:
  - &base
    name: a
    image: i
    resources: {limits: {nvidia.com/gpu: 1}}
  - <<: *base
    name: b
"""


@pytest.mark.parametrize("text", [SHARED, MERGED], ids=["an alias", "a merge"])
def test_what_is_shared_is_renamed_once(text: str) -> None:
    """Where all who share it are to change alike."""
    after = convert._converted("some.yaml", text.encode(), VOLCANO).after
    assert after.count("volcano.sh/vgpu-number") == 2, "once in limits, once in requests"
    assert "nvidia.com" not in after


def test_a_comment_within_braces_is_not_lost_without_a_word() -> None:
    """The library cannot keep it there: nothing is written."""
    braces = "{limits: {nvidia.com/gpu: 1, # one\n     cpu: 1}}"
    text = f"kind: Pod\nspec:\n  containers:\n  - {{name: a, image: i, resources: {braces}}}\n"
    with pytest.raises(UsageError, match="write it out where it stands"):
        convert._converted("some.yaml", text.encode(), VOLCANO)


def test_a_directive_stays_with_its_document() -> None:
    """%YAML and what follows are one."""
    text = f"%YAML 1.1\n---\n{SHARED}"
    after = convert._converted("some.yaml", text.encode(), VOLCANO).after
    assert after.startswith("%YAML 1.1\n---\nkind: Pod\n")


def test_a_number_of_yaml_1_1_is_nothing_to_say() -> None:
    """The library warns of 1e3; neither the manifest nor its author is better for it."""
    text = f"%YAML 1.1\n---\n{SHARED}x: 1e3\n"
    after = convert._converted("some.yaml", text.encode(), VOLCANO).after
    assert after.endswith("x: 1e3\n")


def test_a_document_may_stand_on_the_line_of_its_mark() -> None:
    """Each keeps its `---`: without it, two documents in braces are no YAML."""
    card = "{kind: Pod, spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}}"
    found = convert._converted("some.yaml", f"--- {card}\n--- {card}\n".encode(), VOLCANO)
    lines = found.after.splitlines()
    assert [line[:16] for line in lines] == ["--- {kind: Pod, "] * 2
    assert all("volcano.sh/vgpu-number" in line for line in lines)


def test_an_item_of_a_list_is_of_its_own_namespace() -> None:
    """A system's is left alone; each is called by its own name."""
    spec = "{template: {spec: {containers: [{name: a, image: i, resources: {limits: LIMITS}}]}}}"
    item = "- {{kind: DaemonSet, metadata: {{name: {0}, namespace: {1}}}, spec: {2}}}\n"
    asked = spec.replace("LIMITS", "{nvidia.com/gpu: 1}")
    wrong = spec.replace("LIMITS", "{nvidia.com/gpu: 0.5}")
    items = [item.format("ours", "kube-system", asked), item.format("theirs", "team", asked)]
    found = convert._converted(
        "some.yaml", f"kind: List\nitems:\n{''.join(items)}".encode(), VOLCANO
    )
    ours, theirs = found.after.splitlines()[2:]
    assert ours == items[0].rstrip()
    assert "volcano.sh/vgpu-number" in theirs
    ((name, said),) = found.said
    assert (name, said.code) == ("DaemonSet/ours (spec.template)", "left.namespace")
    text = f"kind: List\nitems:\n{item.format('wrong', 'team', wrong)}"
    assert convert._converted("some.yaml", text.encode(), VOLCANO).refused


def test_a_comment_outlives_what_goes() -> None:
    """One that follows a removed entry stays before what comes next, or behind what is above."""
    text = """\
kind: Pod
metadata:
  name: a
  annotations:
    one: "1"  # gone with it
    # of the second
    two: "2"
# of the spec
spec:
  containers:
  - name: b
    args: [x]
    # of the second
  - name: c
"""
    annotations = ("/metadata/annotations/one", "/metadata/annotations/two")
    gone = list[Operation](
        {"op": "remove", "path": path} for path in (*annotations, "/spec/containers/0")
    )
    without, _ = rewriting.candidates(text, gone[:1])
    assert changed(text, without) == ['-    one: "1"  # gone with it']
    emptied, _ = rewriting.candidates(text, gone)
    assert emptied.index("annotations: {}") < emptied.index("# of the spec")
    assert emptied.count("# of the") == 3
    assert documents.parsed("", emptied)[0] == {
        "kind": "Pod",
        "metadata": {"name": "a", "annotations": {}},
        "spec": {"containers": [{"name": "c"}]},
    }


def test_a_comment_before_the_only_entry_outlives_it() -> None:
    """KAI's annotation is often the only one; so is the variable that shows all cards."""
    text = """\
kind: Pod
metadata:
  annotations:
    # half of a card
    gpu-memory: "8000"  # MiB
spec:
  containers:
  - name: a
    env:
    # all of them
    - {name: NVIDIA_VISIBLE_DEVICES, value: all}  # gone with it
    # and nothing else
    image: i
"""
    after = convert._converted("some.yaml", text.encode(), VOLCANO).after
    lines = after.splitlines()
    assert lines[2:4] == ["  annotations: {}", "    # half of a card"]
    assert lines[7:11] == [
        "    env: []",
        "    # all of them",
        "    # and nothing else",
        "    image: i",
    ]
