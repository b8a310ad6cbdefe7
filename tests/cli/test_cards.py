"""Commands that translate Pods for the cards of a snapshot: percent, and what no card has."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from berth.cli import main

FLEET = str(Path(__file__).parents[2] / "examples/snapshot.json")
PERCENT = "nvidia.com/gpu: 1, nvidia.com/gpumem-percentage: 40"
SIZES = "15360, 40960 MiB"
MODEL = "berth.dev/gpu-model: A100"
COMMANDS = {
    "explain": ("explain", "-o", "json"),
    "convert": ("convert", "--to", "volcano"),
    "diff": ("diff", "-o", "json"),
}


def manifest(limits: str, annotations: str = "") -> str:
    """Return a Pod with these limits."""
    container = f"{{name: main, image: i, resources: {{limits: {{{limits}}}}}}}"
    metadata = f"{{name: a, namespace: team, annotations: {{{annotations}}}}}"
    return f"kind: Pod\nmetadata: {metadata}\nspec: {{containers: [{container}]}}\n"


def run(command: str, text: str, folder: Path, *words: str, never: str = "warn") -> Result:
    """Run a command over a manifest, in a namespace whose Pods are written for Volcano."""
    file = folder / "settings.yaml"
    conversion = {"name": "volcano", "namespaces": ["team"], "reads": ["hami", "pool"]}
    settings = {"conversions": [conversion], "placement": {"never": never}}
    file.write_text(json.dumps(settings))
    arguments = [*COMMANDS[command], "-f", "-", "--config", str(file), *words]
    return CliRunner().invoke(main.main, arguments, input=text)


@pytest.mark.parametrize("command", COMMANDS)
def test_percent_is_of_the_cards_of_the_snapshot(command: str, tmp_path: Path) -> None:
    """Refused with their sizes, resolved for a model, and without a snapshot of nothing known."""
    fleet = ("--snapshot", FLEET)
    several = run(command, manifest(PERCENT), tmp_path, *fleet)
    assert SIZES in several.output
    of_one = run(command, manifest(PERCENT, MODEL), tmp_path, *fleet).output
    assert "16384" in of_one
    assert "volcano.sh" in of_one
    assert "no such card is known here" in run(command, manifest(PERCENT), tmp_path).output


def test_what_no_card_has_is_told_as_the_server_tells_it(tmp_path: Path) -> None:
    """A warning, and a refusal where the settings refuse what can never run."""
    large = manifest("hami.io/vgpu-memory: 41Gi")
    fleet = ("--snapshot", FLEET)
    (row,) = json.loads(run("explain", large, tmp_path, *fleet).stdout)
    assert row["decision"] == "patched"
    assert "no such card here has more than 40960" in str(row)
    (row,) = json.loads(run("explain", large, tmp_path, *fleet, never="refuse").stdout)
    assert row["decision"] == "refused"
    assert SIZES in str(row)
    told = run("convert", large, tmp_path, *fleet)
    assert (told.exit_code, told.stdout == large) == (0, False)
    assert "no such card here has more than 40960" in told.stderr
    refused = run("convert", large, tmp_path, *fleet, never="refuse")
    assert (refused.exit_code, refused.stdout) == (1, large)
    assert SIZES in refused.stderr
    assert "no such card here has more than 40960" in run("convert", large, tmp_path, *fleet).output


def test_one_source_is_enough(tmp_path: Path) -> None:
    """Of two, nobody knows which is meant."""
    done = run("convert", manifest(PERCENT), tmp_path, "--snapshot", FLEET, "--cluster")
    assert done.exit_code == 2
    assert "name one of them" in done.output
