"""Start servers and wait until they are of use, or say why they will not be."""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import probe, processes
from tests.cluster.components import Component
from tests.cluster.errors import ClusterError

_READY_SECONDS = 60  # the slowest server takes 4 s on two idle cores


@dataclass(frozen=True, slots=True, kw_only=True)
class Startup:
    """How to start the servers of the control plane in `folder`."""

    folder: Path
    programs: Path
    tied: bool
    trust: ssl.SSLContext

    def run(self, *wanted: Component) -> None:
        """Start all that is wanted at once, and return when the last is ready.

        Raises ClusterError where a server ends, or is not ready in time.
        """
        # etcd refuses a variable that says other than its flag does.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ETCD_")}
        for each in wanted:
            command = [str(self.programs / each.name), *each.flags]
            processes.start(
                each.name, command, folder=self.folder, environment=kept, tied=self.tied
            )
        for each in wanted:
            self.until_answered(each.ready, what=each.name)

    def until_answered(self, url: str, *, what: str) -> None:
        """Return when `url` answers: `what` is there. Raises ClusterError as `run` does."""
        if not probe.answers_within(
            _READY_SECONDS, url, context=self.trust, meanwhile=self._fail_if_one_ended
        ):
            raise ClusterError(
                f"{what} was not ready within {_READY_SECONDS} s: make sure that the machine is "
                "not short of memory or processors, and start again"
            )

    def _fail_if_one_ended(self) -> None:
        ended = [each for each in processes.recorded(self.folder) if not processes.alive(each)]
        if ended:
            first = ended[-1]  # the others may have ended for want of it
            raise ClusterError(
                f"{first.name} ended while the control plane was starting; the last that it said "
                f"is below: mend that and start again\n{processes.last_lines(first)}"
            )
