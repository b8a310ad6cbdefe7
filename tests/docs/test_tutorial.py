"""The tutorial on a real control plane, and what the API server says of the pages' manifests."""

import socket
import subprocess
from pathlib import Path

from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.namespaces import own
from tests.docs import fences, running
from tests.docs.fences import ROOT
from tests.docs.test_examples import OTHERS, TUTORIAL, documents

INSTEAD = {
    "scripts/demo": "berth demo",
    "scripts/cluster up": ":",
    "scripts/cluster down": ":",
    "export KUBECONFIG=": ": ",
}
"""What the tests have already: the tools, and a control plane."""


def test_the_tutorial_goes_as_it_is_told(control_plane: ControlPlane, tmp_path: Path) -> None:
    """Every block in order, in one shell, in namespaces of its own."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    cache, config = tmp_path / "cache", tmp_path / "kubeconfig"
    programs = cache / "berth/kubernetes"
    programs.mkdir(parents=True)
    (programs / "v1.35.4-built").symlink_to(control_plane.programs)
    config.write_bytes(control_plane.kubeconfig.read_bytes())
    with own(control_plane) as name:
        kubectl = (control_plane.kubectl, f"--kubeconfig={config}")
        wanted = ("config", "set-context", "--current", f"--namespace={name}")
        subprocess.run([*kubectl, *wanted], check=True, capture_output=True)
        known = {
            "KUBECONFIG": str(config),
            "HOME": str(tmp_path),  # kubectl keeps a cache there
            "XDG_CACHE_HOME": str(cache),
            "BERTH_METRICS_PORT": "0",
            "BERTH_SERVER_STOP_SECONDS": "0",
            "BERTH_RELOAD_EVERY_SECONDS": "0.5",
        }
        instead = {**INSTEAD, "8443": port, "team-vision": f"{name}-trial"}
        try:
            running.check(ROOT / TUTORIAL, tmp_path, known, **instead)
        finally:
            control_plane.ask("DELETE", f"/api/v1/namespaces/{name}-trial")
            left = ("mutating", "validating")
            subprocess.run(
                [*kubectl, "delete", *(f"{kind}webhookconfiguration/berth" for kind in left)],
                check=False,
                capture_output=True,
            )


def test_every_manifest_is_one_that_kubernetes_takes(control_plane: ControlPlane) -> None:
    """Right in itself, whatever Berth says of it."""
    with own(control_plane) as name:
        kubectl = Kubectl(plane=control_plane, namespace=name)
        for fence in fences.every("yaml"):
            for document in documents(fence):
                if document.get("kind", "Config") not in OTHERS:
                    text = fence.text.replace("namespace: team-a", f"namespace: {name}")
                    kubectl("apply", "--dry-run=server", "-f", "-", input=text)
