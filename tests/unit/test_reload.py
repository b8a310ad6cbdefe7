"""What keeps the configuration fresh outlives what goes wrong around it."""

import asyncio
import os
import resource
from collections.abc import Callable
from pathlib import Path

from berth.admission import live
from berth.admission.live import Live, Sources
from berth.cli.reload import Reloader
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from tests.wire import raw


def test_a_process_without_a_file_descriptor_left_takes_the_file_later(tmp_path: Path) -> None:
    """The watch ends with RuntimeError then, as where the node has no inotify instance left."""
    file = tmp_path / "settings.yaml"
    file.write_text("scheduler: {name: first}")
    sources = Sources(config=file)
    settings = live.read(sources)
    reloader = Reloader(
        sources=sources,
        live=Live(settings),
        started=settings.settings,
        metrics=Metrics(),
        readiness=Readiness(),
        changed=lambda: None,
    )

    async def taken() -> str:
        assert await _eventually(lambda: True), "which imports what it needs while it can"
        most = resource.getrlimit(resource.RLIMIT_NOFILE)
        watching = asyncio.create_task(reloader.watch(0.1))
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (_first_free(), most[1]))
            assert await _eventually(lambda: "configuration" in reloader.readiness.notes)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, most)
        file.write_text("scheduler: {name: second}")
        assert await _eventually(lambda: reloader.live.current.number > 1 or watching.done())
        watching.cancel()
        return reloader.live.current.settings.scheduler.name

    assert asyncio.run(taken()) == "second"


async def _eventually(holds: Callable[[], bool]) -> bool:
    return await asyncio.to_thread(raw.eventually, holds, 20)


def _first_free() -> int:
    """Return the number that the next file would get."""
    descriptor = os.open("/", os.O_RDONLY)
    os.close(descriptor)
    return descriptor
