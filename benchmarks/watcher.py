"""A process with a watch on Pods and nothing else; for each number on stdin, a line of JSON.

The number is how many Pods there ought to be: it waits for them, for a while, and counts.
"""

import asyncio
import contextlib
import json
import random
import resource
import sys
import time
from pathlib import Path

import uvloop

from berth.cluster import connection
from berth.cluster.projections import Pod
from berth.cluster.store import Store
from berth.cluster.watch import Resource, Source, Watch

_MOST_SECONDS = 60


def resident_mb() -> float:
    """Return the resident megabytes (10^6 bytes) of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


async def counted(store: Store[Pod], count: int) -> None:
    """Wait until the store has so many objects."""
    changed = asyncio.Event()
    store.listen(lambda _old, _new: changed.set())
    while len(store) != count:
        changed.clear()
        await changed.wait()


async def watch(kubeconfig: Path) -> None:
    """Watch, and answer until stdin ends."""
    pods = Resource(
        name="pods",
        kind=Pod,
        path="/api/v1/pods",
        indexes={
            "node": lambda pod: [pod.spec.node_name],
            "namespace": lambda pod: [pod.metadata.namespace],
        },
    )
    source = Source(
        connect=lambda: connection.connect(kubeconfig),
        random=random.SystemRandom().random,
        clock=time.monotonic,
    )
    before = resident_mb()
    watching = Watch(pods, source)
    deleted = 0

    def hear(old: Pod | None, new: Pod | None) -> None:
        nonlocal deleted
        deleted += old is not None and new is None

    watching.store.listen(hear)
    began, cpu = time.monotonic(), time.process_time()
    task = asyncio.create_task(watching.run())
    await watching.synced()
    first = {
        "first_sync_s": time.monotonic() - began,
        "first_sync_cpu_s": time.process_time() - cpu,
        "rss_before_mb": before,
        "rss_after_mb": resident_mb(),
        "rss_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
    }
    while line := await asyncio.to_thread(sys.stdin.readline):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(counted(watching.store, int(line)), _MOST_SECONDS)
        found = {
            **first,
            "rss_mb": resident_mb(),
            "deleted": deleted,
            "lists": watching.status().lists,
            "errors": watching.status().errors,
            "versions": sorted(each.metadata.resource_version for each in watching.store),
        }
        print(json.dumps(found), flush=True)
    task.cancel()


if __name__ == "__main__":
    uvloop.run(watch(Path(sys.argv[1])))
