"""`berth explain`, as a person or a script runs it."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonpatch
import pytest
import yaml

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())
KEYS = [
    "source",
    "kind",
    "name",
    "demand",
    "decision",
    "said",
    "reasons",
    "warnings",
    "patch",
    "pod",
]

GPU = """
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}
"""
WRONG = GPU.replace("nvidia.com/gpu: 1", "nvidia.com/gpu: 0.5")


def berth(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "berth", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def rows(*arguments: str, stdin: str = "") -> list[dict[str, Any]]:
    """Return what `explain -o json` printed."""
    found: list[dict[str, Any]] = json.loads(
        berth("explain", "-o", "json", *arguments, stdin=stdin).stdout
    )
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_example_is_explained_as_it_promises(folder: str) -> None:
    """expected.yaml holds decision, reasons, warnings and patch of its Pod."""
    (row,) = rows("-f", str(EXAMPLES / folder / "pod.yaml"))
    expected = yaml.safe_load((EXAMPLES / folder / "expected.yaml").read_text())
    assert {key: row[key] for key in expected} == expected
    assert all(not row[key] for key in ("reasons", "warnings", "patch") if key not in expected)


def test_the_language_is_that_of_the_settings() -> None:
    """Sentences are in Chinese, whatever is for scripts is not."""
    english, chinese = (
        rows("-f", "-", stdin=WRONG),
        rows("-f", "-", "--set", "language=zh", stdin=WRONG),
    )
    where = "spec.containers[0].resources.limits[nvidia.com/gpu]"
    shares = "nvidia.com/gpumem, nvidia.com/gpumem-percentage 或 nvidia.com/gpucores"
    assert chinese[0].pop("reasons") == [
        f"{where}：0.5 不是整数；请写 1，并用 {shares} 申请这张卡的一部分"
    ]
    assert english[0].pop("reasons")[0].startswith(f"{where}: 0.5 is not a whole number; ")
    assert english == chinese
    text = berth("explain", "-f", "-", "--set", "language=zh", stdin=GPU).stdout
    assert "? c：1 个 nvidia，全部显存，全部算力" in text
    assert "- spec.schedulerName：只有 HAMi 调度器了解卡的份额" in text


def test_a_row_has_the_promised_keys_and_its_patch_gives_its_pod() -> None:
    """One object per Pod template, with these keys in this order."""
    (row,) = rows("-f", "-", stdin=GPU)
    assert list(row) == KEYS
    assert (row["source"], row["kind"], row["name"]) == ("-", "Pod", "a")
    assert row["decision"] == "patched"
    assert jsonpatch.apply_patch(yaml.safe_load(GPU), row["patch"]) == row["pod"]


def test_a_container_without_a_name_is_told_by_its_place() -> None:
    """In a Service of Knative's it needs none."""
    limits = "{limits: {nvidia.com/gpu: 1}}"
    text = f"kind: Service\nspec: {{template: {{spec: {{containers: [{{resources: {limits}}}]}}}}}}"
    shown = berth("explain", "-f", "-", stdin=text).stdout
    assert "  ? spec.containers[0]: 1 of nvidia, all of its memory" in shown


def test_several_documents_and_a_folder_are_read_in_order(tmp_path: Path) -> None:
    """Each Pod template of each document of each file, files in the order of their names."""
    (tmp_path / "b.yaml").write_text(f"{GPU}---\n{WRONG}")
    (tmp_path / "a.json").write_text(json.dumps(yaml.safe_load(GPU)))
    (tmp_path / "note.txt").write_text("not a manifest")
    found = rows("-f", str(tmp_path))
    assert [Path(row["source"]).name for row in found] == ["a.json", "b.yaml", "b.yaml"]
    assert [row["decision"] for row in found] == ["patched", "patched", "refused"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((GPU, 0), (WRONG, 1), ("kind: [", 2), ("- a list", 2), ("kind: ConfigMap", 0)),
        *((GPU.replace("containers", "container"), 2), ("{kind: Job, spec: {template: 1}}", 2)),
    ],
    ids=[
        *("patched", "refused", "not YAML", "no manifest", "no kind of Pods"),
        *("a Pod without containers", "a Job without a Pod"),
    ],
)
def test_the_exit_code_says_how_it_went(text: str, code: int) -> None:
    """0; 1 where something is refused; 2 for what cannot be read, in one line on stderr."""
    done = berth("explain", "-f", "-", stdin=text)
    assert done.returncode == code
    if code == 2:
        assert len(done.stderr.strip().splitlines()) == 1
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "-f", "missing.yaml"], "missing.yaml: cannot be read"),
        (["explain", "-f", "-", "--set", "scheduler.nam=x"], "did you mean scheduler.name?"),
        (["explain", "-f", "-", "--config", "missing.yaml"], "missing.yaml: cannot be read"),
        (["explain", "-f", "-", "-n"], "requires an argument"),
        (["explain"], "Missing option"),
        (["explian"], "explian"),
        (["webhook", "--port", "x"], "not a valid integer"),
        (["webhook", "--port", "70000"], "berth: --port: expected a whole number from 0"),
        (["webhook", "--set", "server.port=70000"], "berth: --set server.port: expected a whole"),
        (["webhook", "--url", "here"], "berth: --url: expected an address such as https://"),
        (["webhook", "--cert-file", "a.crt"], "server.keyFile (--key-file) go together"),
        (["unregister", "--kubeconfig", "missing"], "missing"),
        (["webhook", "--port", "0", "--host", "a..b"], "on a..b:0: that is no name of a host; set"),
        (["webhook", "--port", "0", "--set", "metrics.host=a..b"], "no name of a host; set metri"),
    ],
)
def test_a_mistake_on_the_command_line_is_a_sentence(arguments: list[str], said: str) -> None:
    """Exit code 2 and no traceback, whatever the user got wrong."""
    done = berth(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_a_sentence() -> None:
    """It names the flags, as well as the settings."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = berth("webhook", "--host", "127.0.0.1", "--port", port, "--set", "metrics.port=0")
    assert done.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}: " in done.stderr
    assert "; set server.host (--host) or server.port (--port) to others\n" in done.stderr


def test_the_text_names_the_reasons_and_shows_the_change() -> None:
    """A person reads the decision, why, and a diff."""
    said = berth("explain", "-f", "-", stdin=GPU).stdout
    assert "Pod/a" in said
    assert "spec.schedulerName: only HAMi's scheduler knows the shares of a card" in said
    assert "+  schedulerName: hami-scheduler" in said
    assert said.rstrip().endswith("1 Pod: 1 patched")


SHARES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a whole card": (
        "nvidia.com/gpu: 1",
        "1 of nvidia, all of its memory, all of its cores",
        {"count": 1, "memoryMiB": None, "cores": 100},
    ),
    "GiB": (
        "nvidia.com/gpu: 2, nvidia.com/gpumem: 16384, nvidia.com/gpucores: 30",
        "2 of nvidia, each with 16 GiB, 30 % of its cores",
        {"count": 2, "memoryMiB": 16384, "cores": 30},
    ),
    "percent": (
        "nvidia.com/gpumem-percentage: 50",
        "1 of nvidia, 50 % of its memory, cores without a limit",
        {"count": 1, "memoryPercent": 50, "cores": None},
    ),
    "sixteenths": (
        "mthreads.com/vgpu: 1, mthreads.com/sgpu-memory: 2, mthreads.com/sgpu-core: 1",
        "1 of mthreads, 1 GiB, 1 of 16 of its cores",
        {"count": 1, "memoryMiB": 1024, "cores": 1, "coresOfDevice": 16},
    ),
    "slices": (
        "enflame.com/drs-gcu: 3",
        "1 of enflame-drs, 3 slices of it",
        {"count": 1, "slices": 3},
    ),
}


@pytest.mark.parametrize(("limits", "said", "share"), SHARES.values(), ids=SHARES.keys())
def test_what_was_understood_comes_before_what_is_done(
    limits: str, said: str, share: dict[str, Any]
) -> None:
    """A line for each container that asks, and the same as numbers."""
    text = GPU.replace("nvidia.com/gpu: 1", limits)
    lines = berth("explain", "-f", "-", stdin=text).stdout.splitlines()
    assert lines[1] == f"  ? c: {said}"
    (row,) = rows("-f", "-", stdin=text)
    (one,) = row["demand"]
    assert one["container"] == "c"
    assert share.items() <= one["share"].items()


def test_what_the_administrator_set_as_default_is_said_as_such(tmp_path: Path) -> None:
    """Of memory and of cores: both are what HAMi's scheduler will take of the card."""
    file = tmp_path / "device-config.yaml"
    file.write_text("nvidia: {defaultMemory: 512, defaultCores: 30}")
    given = ("-f", "-", "--device-config", str(file))
    lines = berth("explain", *given, stdin=GPU).stdout.splitlines()
    assert lines[1] == "  ? c: 1 of nvidia, 512 MiB by default, 30 % of its cores by default"
    ((one,),) = (row["demand"] for row in rows(*given, stdin=GPU))
    assert {"memoryMiB": 512, "cores": 30}.items() <= one["share"].items()


def test_what_the_annotations_choose_is_part_of_it() -> None:
    """The choice of devices is shown, and only where one was made."""
    chosen = "metadata: {name: a, annotations: {nvidia.com/use-gputype: A100}}"
    text = GPU.replace("metadata: {name: a}", chosen)
    assert "a model with a100 in its name" in berth("explain", "-f", "-", stdin=text).stdout
    (row,) = rows("-f", "-", stdin=text)
    assert row["demand"][0]["share"]["wishes"] == {"models": ["a100"]}


def test_a_mistake_leaves_the_share_unknown() -> None:
    """What is refused is shown as far as it was understood; who asks for nothing is not."""
    (row,) = rows("-f", "-", stdin=WRONG)
    assert row["demand"] == [{"container": "c", "vendor": "nvidia", "share": None}]
    assert "? c: something of nvidia" in berth("explain", "-f", "-", stdin=WRONG).stdout
    (row,) = rows("-f", "-", stdin=GPU.replace("nvidia.com/gpu: 1", "cpu: 1"))
    assert row["demand"] == []


def test_a_record_of_an_allocation_is_refused_whatever_the_label() -> None:
    """A manifest that was copied from a cluster is told so before it is applied (bug report 16)."""
    record = "annotations: {hami.io/vgpu-node: n}"
    taken = f"metadata: {{name: a, labels: {{hami.io/webhook: ignore}}, {record}}}"
    (row,) = rows("-f", "-", stdin=GPU.replace("metadata: {name: a}", taken))
    assert row["decision"] == "refused"
    assert row["reasons"][0].startswith("metadata.annotations[hami.io/vgpu-node]: records what")


def test_other_pods_are_told_apart() -> None:
    """Unchanged is ours without need of a change, ignored is none of our business."""
    plain = GPU.replace("nvidia.com/gpu: 1", "cpu: 1")
    (unchanged,) = rows("-f", "-", stdin=plain)
    other = GPU.replace("spec: {", "spec: {schedulerName: volcano, ")
    (ignored,) = rows("-f", "-", stdin=other)
    assert (unchanged["decision"], ignored["decision"]) == ("unchanged", "ignored")
    assert ignored["reasons"] == ["scheduler volcano is not ours"]


def test_configuration_is_that_of_the_server(tmp_path: Path) -> None:
    """--config, --device-config and --set change the answer as they change the server's."""
    device_config = tmp_path / "device-config.yaml"
    device_config.write_text("nvidia: {resourceCountName: example.com/gpu}")
    settings = tmp_path / "settings.yaml"
    settings.write_text("scheduler: {name: gpu-scheduler}")
    pod = GPU.replace("nvidia.com/gpu", "example.com/gpu")
    files = ("--config", str(settings), "--device-config", str(device_config))
    (row,) = rows("-f", "-", *files, stdin=pod)
    assert row["pod"]["spec"]["schedulerName"] == "gpu-scheduler"
    (row,) = rows("-f", "-", *files, "--set", "scheduler.name=mine", stdin=pod)
    assert row["pod"]["spec"]["schedulerName"] == "mine"


def test_an_injection_is_shown_where_its_selector_matches(tmp_path: Path) -> None:
    """The namespace's labels are given by hand, as there is no cluster to ask."""
    settings = tmp_path / "settings.yaml"
    selector = {"matchLabels": {"team": "ml"}}
    injection = {"name": "x", "namespaceSelector": selector, "env": [{"name": "A", "value": "b"}]}
    settings.write_text(json.dumps({"injections": [injection]}))
    config = ("-f", "-", "--config", str(settings))
    (row,) = rows(*config, stdin=GPU)
    assert "env" not in row["pod"]["spec"]["containers"][0]
    (row,) = rows(*config, "--namespace-label", "team=ml", stdin=GPU)
    assert row["pod"]["spec"]["containers"][0]["env"] == [{"name": "A", "value": "b"}]


JOB = """
kind: Job
metadata: {name: train, namespace: kube-system, annotations: {nvidia.com/use-gputype: A100}}
spec: {template: {spec: {containers: [{name: c, image: i}]}}}
"""


def test_a_list_of_kubectl_is_explained_as_its_items() -> None:
    """Each with its own kind, name, namespace and warnings."""
    items = [yaml.safe_load(text) for text in (GPU, JOB)]
    listed = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})
    pod, job = rows("-f", "-", stdin=listed)
    assert [(row["kind"], row["name"]) for row in (pod, job)] == [("Pod", "a"), ("Job", "train")]
    assert (pod["decision"], job["decision"]) == ("patched", "ignored")
    assert job["reasons"] == ["namespace kube-system is excluded by the settings"]
    assert "has no effect on Job" in job["warnings"][0]


NO_TEMPLATE = """
kind: InferenceService
metadata: {name: llm}
spec: {predictor: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 0.5}}}]}}
---
kind: LimitRange
metadata: {name: cards}
spec: {limits: [{type: Container, default: {nvidia.com/gpu: 1}}]}
"""


def test_a_request_that_is_in_no_template_is_not_passed_over_in_silence() -> None:
    """KServe's predictor is a Pod's spec itself: "0 Pods" alone would read as "all is well"."""
    done = berth("explain", "-f", "-", stdin=NO_TEMPLATE)
    assert (done.returncode, done.stdout) == (0, "0 Pods\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "berth: -: InferenceService/llm asks for nvidia.com/gpu outside of a Pod"
    )


ONLY_LABELLED = ("--set", "registration.onlyLabelledNamespaces=true")
LABEL = "hami-webhook/inject=enabled"
NAMESPACE = """
kind: Namespace
metadata: {name: default, labels: {hami-webhook/inject: enabled}}
---
"""


@pytest.mark.parametrize(
    ("arguments", "text", "unmet"),
    [
        (ONLY_LABELLED, GPU, "hami-webhook/inject In (enabled)"),
        (ONLY_LABELLED, WRONG, "hami-webhook/inject In (enabled)"),
        ((*ONLY_LABELLED, "-n", "other"), NAMESPACE + GPU, "hami-webhook/inject In (enabled)"),
        (("--namespace-label", "hami.io/webhook=ignore"), GPU, "hami.io/webhook NotIn (ignore)"),
        ((*ONLY_LABELLED, "--namespace-label", LABEL), GPU, None),
        (ONLY_LABELLED, NAMESPACE + GPU, None),
        (("--namespace-label", "hami.io/webhook=other"), GPU, None),
    ],
)
def test_a_pod_that_is_never_sent_is_ignored(
    arguments: tuple[str, ...], text: str, unmet: str | None
) -> None:
    """The registration's namespaceSelector is part of the answer, whatever the Pod asks for."""
    (row,) = rows("-f", "-", *arguments, stdin=text)
    assert row["decision"] == ("ignored" if unmet else "patched")
    if unmet:
        (reason,) = row["reasons"]
        assert reason.endswith(f"is outside the registration's namespaceSelector: {unmet}")
        assert row["patch"] == []


@pytest.mark.parametrize("text", [b"a: \0", b"\0", b"a: \xff", b"\xff\xfe\0\xd8"])
def test_bytes_that_are_no_text_are_a_sentence(text: bytes) -> None:
    """Whatever stdin holds: one line, exit code 2."""
    command = [sys.executable, "-m", "berth", "explain", "-f", "-"]
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(b"berth: -: is not valid YAML: ")


def test_a_pod_that_an_injection_refuses_is_shown_as_it_was(tmp_path: Path) -> None:
    """A refusal has no patch, whatever was decided before it, and keeps the warnings."""
    volume = {"name": "lib", "hostPath": {"path": "/usr/local/vgpu"}}
    settings = tmp_path / "settings.yaml"
    settings.write_text(json.dumps({"injections": [{"name": "x", "volumes": [volume]}]}))
    pod = GPU.replace("spec: {", "spec: {volumes: [{name: lib, emptyDir: {}}], ")
    pod = pod.replace("image: i,", "image: i, env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}],")
    (row,) = rows("-f", "-", "--config", str(settings), stdin=pod)
    assert (row["decision"], row["patch"], row["pod"]) == ("refused", [], yaml.safe_load(pod))
    assert "lib is taken by the cluster's injection x" in row["reasons"][0]
    assert len(row["warnings"]) == 1


def test_a_namespace_in_audit_is_told_what_would_happen(tmp_path: Path) -> None:
    """By name, or by a label of the Namespace; the Pod stays, and nothing counts as refused."""
    file = tmp_path / "settings.yaml"
    file.write_text("audit: {namespaces: [named], namespaceLabel: mode=audit}")
    space = "kind: Namespace\nmetadata: {name: labelled, labels: {mode: audit}}\n---"
    for name in ("named", "labelled"):
        for pod, would in ((GPU, "patched"), (WRONG, "refused")):
            flags = ("-f", "-", "-n", name, "--config", str(file), "-o", "json")
            done = berth("explain", *flags, stdin=space + pod)
            (row,) = json.loads(done.stdout)
            assert (row["decision"], row["would"], done.returncode) == ("audited", would, 0)
            assert row["reasons"]
            assert not row["patch"]


@pytest.mark.parametrize("limit", ["1", "x"])
def test_names_cannot_command_the_terminal(limit: str, tmp_path: Path) -> None:
    """What clears the screen or turns the text around is shown as YAML writes it.

    Whether it stands in a manifest, in HAMi's configuration or in the settings.
    """
    odd = "a\x1b[2J\u202e\x07"
    file = tmp_path / "device-config.yaml"
    file.write_text(json.dumps({odd: 1}))
    names = {"name": odd, "annotations": {f"hami.io/{odd}": "1"}}
    limits = {"nvidia.com/gpu": limit, f"nvidia.com/{odd}": odd}
    containers = [{"name": odd, "image": odd, "resources": {"limits": limits}}]
    pod = {"kind": "Pod", "metadata": names, "spec": {"containers": containers}}
    configured = ("--device-config", str(file), "--set", f"scheduler.name={odd}")
    for told in (
        berth("explain", "-f", "-", *configured, stdin=json.dumps(pod)),
        berth("policy", "show", *configured),
    ):
        assert "a\\x1b[2J" in told.stdout
        assert "a\\x1b[2J" in told.stderr
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", told.stdout + told.stderr)
        assert "Traceback" not in told.stderr
