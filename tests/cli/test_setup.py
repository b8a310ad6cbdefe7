"""`scripts/setup`, with a Python that only notes what it is asked: nothing is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = """\
#!/bin/sh
case "$*" in
  -c*) ;;
  *venv*) echo "$*" >> asked; mkdir -p .venv/bin; ln -sf /bin/true .venv/bin/python ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Give a checkout in which nothing is set up."""
    for name in ("scripts/setup", "requirements/dev.txt", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    return tmp_path


def setup(checkout: Path, python: str = "./python") -> subprocess.CompletedProcess[str]:
    """Run it with this Python."""
    return subprocess.run(
        [checkout / "scripts/setup"],
        env={"PATH": "/usr/bin:/bin", "PYTHON": python},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("left", [None, "/bin/false"], ids=["new", "interrupted"])
def test_a_venv_without_pip_is_made_again(left: str | None, checkout: Path) -> None:
    """Debian's Python leaves one where python3-venv is not installed, and so does a Ctrl-C."""
    if left:
        (checkout / ".venv/bin").mkdir(parents=True)
        (checkout / ".venv/bin/python").symlink_to(left)
    assert setup(checkout).returncode == 0
    assert (checkout / "asked").read_text() == "-m venv --clear .venv\n"
    again = setup(checkout)
    assert (again.returncode, again.stderr) == (0, "")
    assert (checkout / "asked").read_text() == "-m venv --clear .venv\n", "made once"


@pytest.mark.parametrize("python", ["/bin/false", "/nowhere/python3"])
def test_a_python_that_will_not_do_is_one_sentence(python: str, checkout: Path) -> None:
    """Whether it is too old or not there."""
    done = setup(checkout, python)
    said = f"Berth needs Python 3.11 or newer, and {python} is none: install one, or set PYTHON"
    assert (done.returncode, done.stderr) == (2, f"{said} to it\n")
