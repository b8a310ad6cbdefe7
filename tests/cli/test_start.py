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


@pytest.mark.parametrize("signals", [["SIGTERM"], ["SIGHUP", "SIGTERM"]])
def test_a_webhook_that_is_told_to_end_before_it_listens_ends(signals: list[str]) -> None:
    """While it imports what it needs, too: as process 1 of a container it would hear of nothing.

    To be told to read its files anew does not end it: it has yet to read them.
    """
    told = "".join(f"            os.kill(os.getpid(), signal.{name})\n" for name in signals)
    code = (
        "import os, signal, sys\n"
        "class Ending:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'uvloop':\n"
        f"{told}"
        "sys.meta_path.insert(0, Ending())\n"
        "from berth.cli.main import main\n"
        "main(['webhook', '--host', '127.0.0.1', '--port', '0', '--set', 'metrics.port=0'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
