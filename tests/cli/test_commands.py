"""The other commands: help, version, completion, the demo."""

import importlib
import json
import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from berth import __version__
from berth.cli import called, demo, main
from berth.model.decision import Decision, Verdict
from berth.model.raw import Json, JsonObject
from tests.cli.test_explain import EXAMPLES, FOLDERS, WRONG, berth

HEAVY = ("aiohttp", "cryptography", "lightkube", "uvloop", "yaml", "msgspec", "asyncio")


def test_the_version_is_the_packages() -> None:
    """`berth --version` names the program and its version."""
    assert berth("--version").stdout == f"berth, version {__version__}\n"


@pytest.mark.parametrize("command", ["", *main.COMMANDS])
def test_there_is_help_at_every_level(command: str) -> None:
    """Every command says what it does and how it is called."""
    done = berth(*([command] if command else []), "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: berth")
    _, _, listed = done.stdout.partition("\nCommands:\n")
    assert "...\n" not in listed, "a sentence is cut off"
    if command:
        assert main.COMMANDS[command] in " ".join(done.stdout.split())


def test_a_misspelt_command_has_a_suggestion() -> None:
    """Click, which knows none of the commands before it is asked for one, has none of its own."""
    done = berth("explan")
    assert done.returncode == 2
    assert "No such command 'explan'. Did you mean 'explain'?" in done.stderr


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_without_colours_gets_none(environ: dict[str, str], *, coloured: bool) -> None:
    """As no-color.org asks of every program."""
    known: dict[str, str | None] = {"NO_COLOR": None, "TERM": "xterm", **environ}
    command = ["explain", "-f", str(EXAMPLES / "01-whole-gpu")]
    done = CliRunner().invoke(main.main, command, env=known, color=True)
    assert done.exit_code == 0
    assert ("\x1b[" in done.stdout) is coloured


@pytest.mark.parametrize("encoding", ["latin-1", "gbk", "ascii"])
def test_an_old_terminal_gets_what_it_can_show(encoding: str) -> None:
    """Text with marks for what it lacks; JSON and manifests, which programs read, in UTF-8."""
    text = WRONG.replace("name: a", "name: \U0001f6a2→é", 1).encode()

    def output(*command: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-m", "berth", *command, "-f", "-"],
            input=text,
            env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
            stdout=subprocess.PIPE,
            check=False,
        ).stdout

    assert b"refused" in output("explain")
    assert b"would" in output("diff")
    (row,) = json.loads(output("explain", "-o", "json"))
    assert row["name"] == "\U0001f6a2→é"
    assert json.loads(output("diff", "-o", "json"))
    assert output("convert", "--to", "hami") == text


def test_help_imports_nothing_heavy() -> None:
    """Start-up is quick as `--help` loads neither the server nor any library but click."""
    code = (
        "import sys; from berth.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        f"print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize(
    "command", ["--help", "--version", "manifests", "policy", f"explain -f {EXAMPLES}"]
)
def test_an_output_without_room_is_a_sentence(command: str) -> None:
    """A disk that is full is not the program's fault, and its stack helps nobody."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "berth", *command.split()],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    said = "the output cannot be written: No space left on device; make room where it goes"
    assert (done.returncode, done.stderr) == (2, f"berth: {said}\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_commands(shell: str) -> None:
    """The script for a shell calls back into berth, which knows its commands."""
    assert "_BERTH_COMPLETE" in berth("completion", shell).stdout


@pytest.mark.parametrize(
    ("typed", "word", "found"),
    [("berth ex", 1, "plain,explain"), ("berth explain -f ", 3, "file,")],
)
def test_completion_finds_what_fits(typed: str, word: int, found: str) -> None:
    """What the shell's script asks is answered: commands by us, files by the shell."""
    program = Path(sys.executable).parent / "berth"
    asked = {"_BERTH_COMPLETE": "bash_complete", "COMP_WORDS": typed, "COMP_CWORD": str(word)}
    done = subprocess.run(
        [program],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [found]


@pytest.mark.parametrize("name", main.COMMANDS)
def test_a_shell_completes_files_wherever_one_may_stand(name: str) -> None:
    """After each option, and for each argument, that is called FILE in the help."""
    command = importlib.import_module(f"berth.cli.{name}").command
    for each in (command, *getattr(command, "commands", {}).values()):
        context = click.Context(each)
        for one in each.params:
            if "FILE" in one.make_metavar(context):
                (found,) = one.type.shell_complete(context, one, "")
                assert found.type == "file", one.opts


def test_the_demo_shows_every_example() -> None:
    """The real server answers each example over HTTPS as its expected.yaml promises."""
    done = berth("demo")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for folder in FOLDERS:
        expected = yaml.safe_load((EXAMPLES / folder / "expected.yaml").read_text())
        assert (EXAMPLES / folder / "pod.yaml").read_text().splitlines()[0] in lines
        (title,) = [line for line in lines if line.startswith(f"{folder}: ")]
        assert title.split()[-1] == expected["decision"]
        for reason in expected["reasons"]:
            assert reason in done.stdout
    assert f"{len(FOLDERS)} Pods: " in done.stdout
    assert "Latency over HTTPS" in done.stdout
    called = f"{sys.executable} -m berth"
    assert lines[-1].startswith(f"Next: `{called} explain -f your-pod.yaml`, or `{called} manif")


def test_what_is_told_to_be_typed_is_berth_as_it_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name alone only where the PATH leads to this one, a link to it included."""
    ours = tmp_path / "venv" / "bin" / "berth"
    ours.parent.mkdir(parents=True)
    ours.write_text("")
    ours.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    assert called.name("venv/bin/berth", ["python", "venv/bin/berth"]) == "venv/bin/berth"
    assert (
        called.name("/x/berth/__main__.py", ["venv/bin/python", "-m"]) == "venv/bin/python -m berth"
    )
    monkeypatch.setenv("PATH", str(ours.parent))
    assert called.name("venv/bin/berth", ["python", "venv/bin/berth"]) == "berth"
    (tmp_path / "berth").symlink_to(ours)
    assert called.name("./berth", ["python", "./berth"]) == "berth"
    ours.rename(ours.with_name("other"))
    monkeypatch.setenv("PATH", "")
    assert called.name("./berth", ["python", "./berth"]) == "./berth"


def test_the_demo_speaks_the_language_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads no file of settings, but the environment."""
    (tmp_path / "pod.yaml").write_text(WRONG)
    monkeypatch.setenv("BERTH_LANGUAGE", "zh")
    assert "0.5 不是整数；请写 1" in berth("demo", "--examples", str(tmp_path)).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            b"spec: {containers: [{name: 5, resources: {limits: {nvidia.com/gpu: 1}}}]}",
            "spec.containers[0].name is not a string",
        ),
        (b"# caf\xe9\nspec: {containers: [{name: c}]}", "is not valid YAML"),
    ],
    ids=["the server does not take it", "not UTF-8"],
)
def test_an_example_that_cannot_be_shown_is_a_sentence(
    text: bytes, said: str, tmp_path: Path
) -> None:
    """It is named, with the reason, and there is no traceback."""
    (tmp_path / "pod.yaml").write_bytes(text)
    done = berth("demo", "--examples", str(tmp_path))
    assert done.returncode == 2
    assert said in done.stderr
    assert tmp_path.name in done.stderr
    assert "Traceback" not in done.stderr


PATCH: list[dict[str, Json]] = [{"op": "remove", "path": "/spec/nodeName"}]
SENT = b64encode(json.dumps(PATCH).encode()).decode()


@pytest.mark.parametrize(
    ("response", "verdict", "agreed"),
    [
        ({"allowed": True, "patch": SENT}, Verdict.PATCHED, True),
        ({"allowed": True}, Verdict.PATCHED, False),
        ({"allowed": False}, Verdict.PATCHED, False),
        ({"allowed": True}, Verdict.IGNORED, True),
        ({"allowed": True, "patch": SENT}, Verdict.IGNORED, False),
        ({"allowed": False}, Verdict.REFUSED, True),
        ({"allowed": True}, Verdict.REFUSED, False),
    ],
)
def test_the_demo_notices_a_server_that_answers_otherwise(
    response: JsonObject, verdict: Verdict, *, agreed: bool
) -> None:
    """Allowed or not, and the patch."""
    operations = PATCH if verdict is Verdict.PATCHED else []
    decision = Decision(verdict=verdict, pod={}, operations=operations)
    assert demo.agrees(response, decision) is agreed
