"""The programs of the control plane: given by the user, or built from source and kept."""

import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from tests.cluster import cache, processes
from tests.cluster.cache import Say
from tests.cluster.errors import ClusterError

GIVEN = "KUBEBUILDER_ASSETS"
"""The variable, known from envtest, that names a folder with programs to use as they are."""

_NEEDED = ("etcd", "kube-apiserver", "kubectl")
_SOURCE = Path(__file__).parent
_SAY_EVERY_SECONDS = 15


def programs(*, say: Say) -> Path:
    """Return the folder with the programs, building them first where nobody did yet.

    Raises ClusterError where a needed program is missing or cannot be built.
    """
    given = os.environ.get(GIVEN)
    if given:
        return _checked(Path(given).resolve())
    kept = cache.root() / "kubernetes" / f"{version()}-{_fingerprint()}"
    return cache.once(kept, lambda folder: _build_all(folder, say=say), say=say)


def version() -> str:
    """Return the version of Kubernetes that `go.mod` asks for, such as v1.35.4."""
    return _from_go_mod(r"^\tk8s\.io/kubernetes (v\S+)")


def _checked(folder: Path) -> Path:
    missing = [name for name in _NEEDED if not os.access(folder / name, os.X_OK)]
    if missing:
        raise ClusterError(
            f"{GIVEN} names {folder}, which has no program {' and no '.join(missing)}: "
            f"add it there, or unset {GIVEN} to have Kubernetes built from source"
        )
    return folder


def _build_all(folder: Path, *, say: Say) -> None:
    go = _go()
    packages = _from_go_mod(r"^tool \((.*?)^\)").split()
    say(f"building Kubernetes {version()} from source, once: minutes where Go's cache is cold")
    for number, package in enumerate(packages, start=1):
        # etcd's main package is called `server`; the others are called what they make.
        name = "etcd" if package.startswith("go.etcd.io/etcd/") else package.rpartition("/")[2]
        say(f"building {name} ({number} of {len(packages)})")
        seconds = _build(go, package, folder / name, say=say)
        say(f"built {name} in {seconds:.0f} s")


def _build(go: str, package: str, program: Path, *, say: Say) -> float:
    started = time.monotonic()
    log = program.with_suffix(".log")
    command = [
        go,
        "build",
        "-trimpath",
        "-buildvcs=false",
        *_ldflags(),
        "-o",
        str(program),
        package,
    ]
    with log.open("w") as output:
        process = subprocess.Popen(
            processes.session(command, tied=True),  # else it would outlive a killed build
            cwd=_SOURCE,
            env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
            stdout=output,
            stderr=output,
        )
        try:
            _wait(process, program.name, started=started, say=say)
        finally:
            process.terminate()
            process.wait()
    if process.returncode != 0:
        raise ClusterError(
            f"building {program.name} from source failed; the last that Go said is below: mend "
            f"that and run this again\n{_last_lines(log)}"
        )
    log.unlink()
    return time.monotonic() - started


def _wait(process: subprocess.Popen[bytes], name: str, *, started: float, say: Say) -> None:
    while True:
        try:
            process.wait(timeout=_SAY_EVERY_SECONDS)
        except subprocess.TimeoutExpired:
            say(f"building {name}, {time.monotonic() - started:.0f} s so far")
        else:
            return


def _last_lines(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-10:])


def _ldflags() -> Sequence[str]:
    # Without these the server says it is v0.0.0-master, on which no test could rely.
    major, minor, _ = version().removeprefix("v").split(".", 2)
    package = "k8s.io/component-base/version"
    values = {"gitVersion": version(), "gitMajor": major, "gitMinor": minor}
    set_values = " ".join(f"-X {package}.{name}={value}" for name, value in values.items())
    return ("-ldflags", f"-s -w {set_values}")


def _go() -> str:
    wanted = _from_go_mod(r"^go (\S+)")
    wish = f"install Go {wanted} or newer from go.dev/dl, or set {GIVEN}"
    go = shutil.which("go")
    if go is None:
        raise ClusterError(f"Go builds the control plane, and there is no `go` on PATH: {wish}")
    # Asked inside the module, a Go that may fetch newer toolchains answers for the newer one.
    asked = subprocess.run(
        [go, "env", "GOVERSION"], cwd=_SOURCE, capture_output=True, text=True, check=False
    )
    found = re.match(r"go(\d+)\.(\d+)", asked.stdout)
    major, minor, *_ = wanted.split(".")
    if not found or (int(found[1]), int(found[2])) < (int(major), int(minor)):
        answer = asked.stdout.strip() or asked.stderr.strip()
        raise ClusterError(f"{go} is too old for the control plane (it says: {answer}): {wish}")
    return go


def _from_go_mod(pattern: str) -> str:
    found = re.search(pattern, (_SOURCE / "go.mod").read_text(), re.MULTILINE | re.DOTALL)
    if found is None:
        raise ClusterError(f"{_SOURCE / 'go.mod'} has no line like {pattern}: restore the file")
    return found[1]


def _fingerprint() -> str:
    text = b"".join((_SOURCE / name).read_bytes() for name in ("go.mod", "go.sum"))
    return hashlib.sha256(text).hexdigest()[:12]
