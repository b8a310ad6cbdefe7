"""The servers measured side by side: how each is started, and that it is always stopped."""

import http.client
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.certificate import Certificate
from benchmarks.failure import BenchmarkError
from benchmarks.probe import post
from benchmarks.process import members

_TLS = "--cert-file {certificate} --key-file {key}"
_GUNICORN = (
    "{bin}/gunicorn --bind 127.0.0.1:{port} --certfile {certificate} --keyfile {key} "
    "--worker-class gthread --workers 1 --threads 8 --keep-alive 120 --no-control-socket"
)
_BERTH = (
    "{bin}/berth webhook --host 127.0.0.1 --port {port} "
    "--set metrics.port=0 --set server.stopSeconds=0 " + _TLS
)
SERVERS = {
    "berth": _BERTH,
    "berth-unlike": _BERTH,
    "berth-volcano": _BERTH + " --config benchmarks/volcano.yaml",
    "floor": "{bin}/python -m benchmarks.peers.floor --port {port} " + _TLS,
    "flask": _GUNICORN + " benchmarks.peers.flask_ops:app",
    "flask-jsonpatch": _GUNICORN + " benchmarks.peers.flask_diff:app",
}
"""The command of each server, split at blanks before the braces are filled in."""
UNLIKE = ("berth-unlike", "berth-volcano")
"""Servers whose Pods are all different; the others get Pods of one workload."""

_ROOT = Path(__file__).parent.parent
_START_S = 30.0
_STOP_S = 10.0


@dataclass(frozen=True)
class Running:
    """A server that has answered: its port, process group, log and cold start in seconds.

    `pids` are the processes it had then.
    """

    name: str
    port: int
    group: int
    pids: list[int]
    log: Path
    cold_start_s: float

    def check(self) -> None:
        """Raise BenchmarkError when one of its processes has ended or been replaced."""
        if members(self.group) != self.pids:
            raise BenchmarkError("one of its processes ended, so the figures are not of one server")


@contextmanager
def running(name: str, files: Certificate, log: Path, body: bytes) -> Iterator[Running]:
    """Start the server, wait for its first 200 answer to the body, and stop it at the end.

    Its standard output and error go to the log file. Raises BenchmarkError when it cannot start.
    """
    port = _free_port()
    values = {"bin": Path(sys.executable).parent, "port": port}
    values |= {"certificate": files.certificate, "key": files.key}
    command = [word.format(**values) for word in SERVERS[name].split()]
    context = files.client()
    with log.open("wb") as output:
        started = time.perf_counter()
        process = _spawn(command, output.fileno())
    try:
        _wait_for_answer(process, port, body, context, log)
        cold_start_s = time.perf_counter() - started
        yield Running(name, port, process.pid, members(process.pid), log, cold_start_s)
    finally:
        _stop(process)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _spawn(command: list[str], output: int) -> subprocess.Popen[bytes]:
    """Start it as the leader of its own group, out of reach of the terminal's Ctrl-C."""
    try:
        return subprocess.Popen(
            command,
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    except OSError as error:
        raise BenchmarkError(f"{command[0]} cannot be started: {error.strerror}") from error


def _wait_for_answer(
    process: subprocess.Popen[bytes], port: int, body: bytes, context: ssl.SSLContext, log: Path
) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise BenchmarkError(f"it stopped with code {process.returncode}: {tail(log)}")
        try:
            status, _ = post(port, body, context)
        except (OSError, http.client.HTTPException) as error:
            problem = str(error)
        else:
            if status == 200:
                return
            problem = f"status {status}"
        time.sleep(0.005)
    raise BenchmarkError(f"no 200 answer within {_START_S:.0f} s ({problem}): {tail(log)}")


def tail(log: Path) -> str:
    """Return the last three lines of a server's log as one line."""
    lines = log.read_text(errors="replace").splitlines()
    return " | ".join(lines[-3:]) or "its log is empty"


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end, and after 10 s end what is left of its group."""
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
