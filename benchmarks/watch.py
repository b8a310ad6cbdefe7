"""`scripts/bench watch`: the watch cache on a real API server with 5,000 Pods."""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.cluster import build, filler, private
from tests.cluster.private import Private

SYNC_BAR_S = 5
MEMORY_BAR_MB = 150


class Watcher:
    """The process that watches."""

    def __init__(self, kubeconfig: Path) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.watcher", str(kubeconfig)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, pods: int) -> dict[str, Any]:
        """Return what it has once it has so many Pods, or after a minute."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{pods}\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def stop(self) -> None:
        """End it."""
        self._process.communicate(timeout=10)


def recount(server: Private) -> list[str]:
    """Ask the API server for the version of every Pod."""
    found = json.loads(server.plane.ask("GET", "/api/v1/pods") or b"{}")
    return sorted(each["metadata"]["resourceVersion"] for each in found["items"])


def measure(server: Private, pods: int) -> dict[str, object]:
    """Fill, watch, delete a fifth, restart the API server, delete another, and count."""
    fifth = pods // 5
    began = time.monotonic()
    asyncio.run(filler.create(server.plane, "default", range(pods)))
    filled = time.monotonic() - began
    watcher = Watcher(server.plane.kubeconfig)
    try:
        first = watcher.ask(pods)
        agrees = [first["versions"] == recount(server)]
        asyncio.run(filler.delete(server.plane, "default", range(fifth)))
        second = watcher.ask(pods - fifth)
        agrees.append(second["versions"] == recount(server))
        server.down()
        server.up()
        asyncio.run(filler.delete(server.plane, "default", range(fifth, 2 * fifth)))
        third = watcher.ask(pods - 2 * fifth)
        agrees.append(third["versions"] == recount(server))
    finally:
        watcher.stop()
    return {
        "pods": pods,
        "filled_s": round(filled, 1),
        **{key: round(first[key], 2) for key in first if key.startswith(("first", "rss"))},
        "rss_at_the_end_mb": round(third["rss_mb"], 1),
        "lists": third["lists"],
        "deletions_heard": third["deleted"],
        "deletions_made": 2 * fifth,
        "recounts_agree": all(agrees),
    }


def main(arguments: list[str]) -> int:
    """Measure and print; return 1 where a recount does not agree."""
    parser = argparse.ArgumentParser("scripts/bench watch", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only JSON on stdout")
    parser.add_argument("--pods", type=int, default=5000, help="how many Pods")
    options = parser.parse_args(arguments)
    programs = build.programs(say=lambda line: print(line, file=sys.stderr))
    with (
        tempfile.TemporaryDirectory(prefix="berth-bench-") as folder,
        private.running(Path(folder) / "plane", programs=programs) as server,
    ):
        server.up()
        found = measure(server, options.pods)
    if options.json:
        print(json.dumps(found))
    else:
        for key, value in found.items():
            print(f"{key:28} {value}")
        print(f"bars: first sync {SYNC_BAR_S} s, memory {MEMORY_BAR_MB} MB at its peak")
    whole = found["recounts_agree"] and found["deletions_heard"] == found["deletions_made"]
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
