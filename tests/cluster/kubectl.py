"""The real kubectl, in one namespace of one control plane."""

import os
import subprocess
from dataclasses import dataclass

from tests.cluster.controlplane import ControlPlane


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubectl:
    """Runs kubectl when called."""

    plane: ControlPlane
    namespace: str

    def __call__(
        self,
        *arguments: str,
        input: str | None = None,  # noqa: A002 - the name that subprocess.run has for it
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl with `arguments` and `input` on its standard input.

        Raises CalledProcessError, with what kubectl said, where `check` and it failed.
        """
        done = subprocess.run(
            [
                self.plane.kubectl,
                f"--kubeconfig={self.plane.kubeconfig}",
                f"--namespace={self.namespace}",
                *arguments,
            ],
            input=input or "",
            capture_output=True,
            text=True,
            check=False,
            # Its cache and the user's preferences are under HOME: neither belongs in a test.
            env={**os.environ, "HOME": str(self.plane.folder)},
        )
        if check and done.returncode != 0:
            error = subprocess.CalledProcessError(
                done.returncode, ["kubectl", *arguments], done.stdout, done.stderr
            )
            error.add_note(done.stderr)
            raise error
        return done
