"""What keeps the configuration fresh outlives what goes wrong around it."""

import asyncio
import json
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PosixPath
from typing import Any, Literal

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import RawTestServer

from berth.admission import live
from berth.admission.journal import Journal
from berth.admission.live import Live, Sources
from berth.admission.load import Load
from berth.admission.serve import Handler
from berth.cli.reload import Reloader
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from tests import pods, webhook
from tests.wire import raw


def test_a_process_without_a_file_descriptor_left_takes_the_file_later(tmp_path: Path) -> None:
    """The watch ends with RuntimeError then, as where the node has no inotify instance left."""
    file = tmp_path / "settings.yaml"
    file.write_text("scheduler: {name: first}")
    reloader = _reloader(Sources(config=file))

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


def test_a_storm_of_signals_is_one_look(tmp_path: Path) -> None:
    """One for each would keep the loop from all else, until the watchdog ends the process."""
    file = tmp_path / "settings.yaml"
    file.write_text("scheduler: {name: first}")
    reloader = _reloader(Sources(config=file))
    file.write_text("scheduler: {nam: second}")

    def looks() -> float:
        labels, registry = {"result": "failed"}, reloader.metrics.registry
        return registry.get_sample_value("berth_configuration_reloads_total", labels) or 0

    async def looked() -> None:
        reloader.listen(asyncio.get_running_loop())
        heeding = asyncio.create_task(reloader.heed())
        for _ in range(100):
            os.kill(os.getpid(), signal.SIGHUP)
        assert await _eventually(lambda: looks() > 0)
        for _ in range(200):  # all that the signals have asked for
            await asyncio.sleep(0)
        heeding.cancel()

    asyncio.run(looked())
    assert looks() <= 2


@pytest.mark.parametrize("opening", [1, 2, 3])
def test_a_generation_is_of_files_that_belong_together(tmp_path: Path, opening: int) -> None:
    """Where the volume is swapped between the two, at whichever of their readings."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "settings.yaml").write_text(f"scheduler: {{name: {name}}}")
        (tmp_path / name / "devices.yaml").write_text(f"nvidia: {{runtimeClassName: {name}}}")
    (tmp_path / "..data").symlink_to("old")
    devices = SwappedAt(tmp_path / "..data/devices.yaml")
    reloader = _reloader(Sources(config=tmp_path / "..data/settings.yaml", device_config=devices))
    devices.openings = opening
    reloader.take()
    found = reloader.live.current
    assert found.settings.scheduler.name == found.rules.options.vendors[0].runtime_class == "new"


class SwappedAt(PosixPath):
    """A file whose volume is swapped, as kubelet does it, just before it is opened once more."""

    openings = 0
    """After so many; none is never."""

    def read_bytes(self) -> bytes:
        """Read it, as it is then."""
        self.openings -= 1
        if self.openings == 0:
            (self.parent.parent / "..next").symlink_to("new")
            (self.parent.parent / "..next").replace(self.parent)
        return super().read_bytes()


def test_pods_of_the_rules_before_pass_after_a_change_that_is_none_of_rules(tmp_path: Path) -> None:
    """They may be on their way for as long as before, whatever else of the settings changes."""
    file = tmp_path / "settings.yaml"
    file.write_text("scheduler: {name: first}")
    reloader = _reloader(Sources(config=file))
    first = reloader.live.current.rules
    for text in ("scheduler: {name: second}", "{scheduler: {name: second}, language: zh}"):
        file.write_text(text)
        reloader.take()
    assert reloader.live.current.number == 3
    assert reloader.live.current.before == first


def test_the_rules_before_a_reload_are_believed_for_a_while(tmp_path: Path) -> None:
    """For 180 seconds each, whatever changes meanwhile; then no Pod can come that they wrote."""
    file, due = tmp_path / "settings.yaml", list[tuple[float, Callable[[], None]]]()
    file.write_text("scheduler: {name: first}")
    reloader = replace(
        _reloader(Sources(config=file)), later=lambda seconds, call: due.append((seconds, call))
    )

    def believed() -> str:
        before = reloader.live.current.before
        return before.options.scheduler_name if before else ""

    for name, language in (("second", "en"), ("second", "zh"), ("third", "zh"), ("third", "en")):
        file.write_text(f"{{scheduler: {{name: {name}}}, language: {language}}}")
        reloader.take()
    assert [seconds for seconds, _ in due] == [180, 180], "once for each change of the rules"
    (_, first), (_, second) = due
    first()
    assert believed() == "second", "which has still some time, unlike the first"
    number = reloader.live.current.number
    second()
    assert (believed(), reloader.live.current.number) == ("", number)


class Turn(asyncio.Lock):
    """Whose turn it is, which tells that somebody waits for it."""

    def __init__(self) -> None:
        """Nobody does yet."""
        super().__init__()
        self.wanted = asyncio.Event()

    async def acquire(self) -> Literal[True]:
        """Wait for it."""
        self.wanted.set()
        return await super().acquire()


def test_a_request_that_began_before_a_reload_is_decided_by_the_new_rules() -> None:
    """Or the old ones, after the new ones, would have the fleet and the quotas counted anew."""
    generation = live.read(Sources())
    asked = json.dumps(webhook.review(pods.gpu_pod({"nvidia.com/gpu": "1"}))).encode()
    large, logged = BytesIO(asked + b" " * 2**20), list[object]()

    async def answered() -> str:
        turn = Turn()
        handler = Handler(
            live=Live(generation),
            load=Load(turn=turn),
            readiness=Readiness(missing={}),
            journal=Journal(Metrics(), lambda _event, about: logged.append(about["generation"])),
        )
        await turn.acquire()
        turn.wanted.clear()
        server = RawTestServer(handler)
        async with server, ClientSession(server.make_url("/")) as client:
            asking = asyncio.create_task(client.post("/mutate", data=large, headers=webhook.JSON))
            await asyncio.wait_for(turn.wanted.wait(), 60)
            handler.live.current = replace(generation, number=2)
            turn.release()
            said: dict[str, Any] = (await (await asking).json())["response"]
        return str(said["auditAnnotations"]["generation"])

    assert (asyncio.run(answered()), logged) == ("2", [2])


def _reloader(sources: Sources) -> Reloader:
    """Return one that has taken what the sources are now."""
    generation = live.read(sources)
    return Reloader(
        sources=sources,
        live=Live(generation),
        started=generation.settings,
        metrics=Metrics(),
        readiness=Readiness(),
        changed=lambda: None,
        later=lambda _seconds, _call: None,
    )


async def _eventually(holds: Callable[[], bool]) -> bool:
    return await asyncio.to_thread(raw.eventually, holds, 20)


def _first_free() -> int:
    """Return the number that the next file would get."""
    descriptor = os.open("/", os.O_RDONLY)
    os.close(descriptor)
    return descriptor
