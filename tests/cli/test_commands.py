"""The other commands: help, version, completion, the demo."""

import subprocess
import sys
from pathlib import Path

import pytest

from berth import __version__
from berth.cli import main
from tests.cli.test_explain import EXAMPLES, FOLDERS, berth

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
    if command:
        assert main.COMMANDS[command] in " ".join(done.stdout.split())


def test_help_imports_nothing_heavy() -> None:
    """Start-up is quick as `--help` loads neither the server nor any library but click."""
    code = (
        "import sys; from berth.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        f"print(sorted(set({HEAVY}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete_commands(shell: str) -> None:
    """The script for a shell calls back into berth, which knows its commands."""
    assert "_BERTH_COMPLETE" in berth("completion", shell).stdout


def test_completion_finds_commands() -> None:
    """What the shell's script asks is answered with the commands that fit."""
    program = Path(sys.executable).parent / "berth"
    done = subprocess.run(
        [program],
        env={"_BERTH_COMPLETE": "bash_complete", "COMP_WORDS": "berth ex", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["plain,explain"]


def test_the_demo_shows_every_example() -> None:
    """The real server answers each example over HTTPS, and the summary counts them."""
    done = berth("demo")
    assert done.returncode == 0, done.stderr
    for folder in FOLDERS:
        comment = (EXAMPLES / folder / "pod.yaml").read_text().splitlines()[0]
        assert comment in done.stdout
        assert f"{folder}: " in done.stdout
    assert f"{len(FOLDERS)} Pods: " in done.stdout
    assert "Latency over HTTPS" in done.stdout
