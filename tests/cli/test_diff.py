"""`berth diff` over files, as a person or a script runs it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from berth.cli import main
from berth.model import recording
from berth.model.recording import Arrived, Begin, Entry
from berth.model.request import DeviceRequest, PodRequest

TEMPLATES = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: team}
spec:
  template:
    spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: team}
spec:
  jobTemplate:
    spec:
      template:
        spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 0.5}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: i}]}
"""

MALFORMED = """
kind: Pod
spec: {containers: [{name: c, env: 1, resources: {limits: {nvidia.com/gpu: 1}}}]}
"""


def diff(*arguments: str, stdin: str = TEMPLATES) -> Result:
    """Run the command in this process, on stdin where it is given no recording."""
    files = () if "--recording" in arguments else ("-f", "-")
    return CliRunner().invoke(main.main, ["diff", *files, *arguments], input=stdin)


def test_the_pods_of_a_job_of_volcanos_have_its_own_queue(tmp_path: Path) -> None:
    """In all three commands that say what becomes of it; others get that of their namespace."""
    file = tmp_path / "settings.yaml"
    file.write_text("conversions: [{name: v, namespaces: ['*'], writes: volcano, queue: ours}]")
    theirs = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: team}
spec:
  queue: theirs
  tasks:
  - template:
      spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}
"""
    for command in (["diff"], ["explain"], ["convert", "--to", "volcano"]):
        words = [*command, "-f", "-", "--config", str(file)]
        done = CliRunner().invoke(main.main, words, input=theirs)
        assert "volcano.sh/vgpu-number" in done.stdout
        assert "ours" not in done.stdout
        done = CliRunner().invoke(main.main, words, input=TEMPLATES.replace("0.5", "1"))
        assert "scheduling.volcano.sh/queue-name: ours" in done.stdout, done.output


def test_against_a_cluster_without_berth() -> None:
    """Each Pod that would be changed or refused, how and why; the others are only counted."""
    done = diff()
    assert done.exit_code == 1
    serve, nightly, summary = done.stdout.strip().split("\n\n")
    assert serve.startswith("Deployment/serve in team (spec.template)  unchanged → patched\n")
    assert "+  schedulerName: hami-scheduler" in serve
    where = "CronJob/nightly in team (spec.jobTemplate.spec.template)"
    assert nightly.startswith(f"{where}  unchanged → refused\n")
    assert "0.5 is not a whole number; write 1" in nightly
    assert summary == "3 Pod templates: 2 would fare otherwise, 1 of them refused"


def test_between_two_configurations(tmp_path: Path) -> None:
    """Only what differs between them is shown, with its reason; the same twice is nothing."""
    today = tmp_path / "today.yaml"
    today.write_text("scheduler: {name: first}")
    devices = tmp_path / "device-config.yaml"
    devices.write_text("nvidia: {resourceCountName: example.com/card}")
    before = ("--before-config", str(today))
    same = diff(*before, "--config", str(today))
    assert (same.exit_code, same.stdout) == (0, "3 Pod templates: 0 would fare otherwise\n")
    other = diff(*before, "--set", "scheduler.name=second")
    assert other.exit_code == 1
    assert "-  schedulerName: first" in other.stdout
    assert "+  schedulerName: second" in other.stdout
    assert "original-request" not in other.stdout, "it is written either way"
    assert "nightly" not in other.stdout, "it is refused either way, for the same reason"
    gone = diff(*before, "--device-config", str(devices))
    assert "Deployment/serve in team (spec.template)  patched → unchanged" in gone.stdout
    audited = diff("--set", "audit.namespaces=team")
    assert (audited.exit_code, audited.stdout.split(": ")[1]) == (0, "0 would fare otherwise\n")


def test_what_is_refused_is_not_shown_as_stored(tmp_path: Path) -> None:
    """Nothing of such a Pod is stored: why it is refused stands alone."""
    tomorrow = tmp_path / "tomorrow.yaml"
    tomorrow.write_text("conversions: [{name: a, namespaces: ['*'], writes: volcano}]")
    limits = "{nvidia.com/gpumem-percentage: 50}"
    pod = f"kind: Pod\nspec: {{containers: [{{name: c, resources: {{limits: {limits}}}}}]}}\n"
    before = ("--before-set", "scheduler.name=hami-scheduler")
    done = diff(*before, "--config", str(tomorrow), stdin=pod)
    title, why, _, summary = done.stdout.splitlines()
    assert title.endswith("patched → refused")
    assert why.startswith("  x ")
    assert summary.endswith("1 of them refused")


def test_for_scripts() -> None:
    """`-o json` is one row for each Pod template that changes, with both decisions."""
    done = diff("-o", "json")
    assert done.exit_code == 1
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    serve, nightly = rows
    assert [*serve] == ["source", "kind", "namespace", "name", "path", "before", "after"]
    assert [serve[key] for key in ("kind", "namespace", "name", "path")] == [
        "Deployment",
        "team",
        "serve",
        "spec.template",
    ]
    assert serve["before"] == {
        "decision": "unchanged",
        "reasons": [],
        "patch": [],
    }
    assert serve["after"]["patch"]
    assert nightly["after"]["decision"] == "refused"


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (("--before-set", "scheduler.nmae=x"), TEMPLATES, "did you mean scheduler.name"),
        ((), "a: [", "is not valid YAML"),
        (
            (),
            "kind: Pod\nspec: {containers: [{env: 1, resources: {limits: {nvidia.com/gpu: 1}}}]}",
            "Kubernetes would not take it",
        ),
    ],
)
def test_what_cannot_be_read(arguments: tuple[str, ...], stdin: str, said: str) -> None:
    """Exit code 2, and a sentence."""
    done = diff(*arguments, stdin=stdin)
    assert done.exit_code == 2
    assert said in done.stderr


def test_the_pods_of_a_recording(tmp_path: Path) -> None:
    """Made anew from what they asked for, amounts and models; one without a device is counted."""
    wanted = (
        DeviceRequest(vendor="nvidia", memory_mib=8000, cores=30, models=("A100",)),
        DeviceRequest(vendor="nvidia", cores=100),
        DeviceRequest(vendor="metax-sgpu", memory_mib=4096),
    )
    lines: list[Entry] = [Begin(at=0, time="2026-01-01T00:00:00Z", berth="0")]
    lines += [
        Arrived(at=1, pod=f"p{index}", request=PodRequest(devices=(("main", one),)))
        for index, one in enumerate(wanted)
    ]
    lines.append(Arrived(at=2, pod="web", request=PodRequest()))
    file = tmp_path / "some.jsonl"
    file.write_bytes(b"".join(map(recording.write, lines)))
    done = diff("--recording", str(file), "-o", "json")
    assert (done.exit_code, done.stderr) == (1, "")
    rows = {row["name"]: row["after"] for row in json.loads(done.stdout)}
    assert rows.keys() == {"p0", "p1", "p2"}
    assert {row["decision"] for row in rows.values()} == {"patched"}
    kept = [one["value"] for one in rows["p0"]["patch"] if "original" in str(one)]
    asked = {"nvidia.com/gpu": "1", "nvidia.com/gpucores": "30", "nvidia.com/gpumem": "8000"}
    assert json.dumps(asked, separators=(",", ":")) in str(kept)
    assert "give one of the two" in diff("--recording", str(file), "-f", "-").stderr
