"""What a command imports: numpy only where Pods are placed."""

import subprocess
import sys

import pytest

from berth.cli.main import COMMANDS


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"simulate", "snapshot"}))
def test_commands_that_do_not_place_do_not_import_numpy(name: str) -> None:
    """It would cost each of them a tenth of a second."""
    code = f"import sys, berth.cli.{name}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
