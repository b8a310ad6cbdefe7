"""The loops beside the answers: when they end, and of what they warn."""

import asyncio
import contextlib
import logging
from datetime import timedelta
from pathlib import Path

import pytest

from berth import clock
from berth.certs import choice
from berth.certs.controller import Controller
from berth.certs.identity import Shown
from berth.certs.own import Own
from berth.certs.registered import Registered
from berth.certs.store import FileStore
from berth.cli import process
from berth.observe.metrics import Metrics
from berth.observe.readiness import Readiness
from berth.settings import Certificates

_END_SECONDS = 20


def controlling(folder: Path, *, watched: bool) -> Controller:
    """Return a controller of our own CA, kept in a folder."""
    wanted = Certificates()
    return Controller(
        source=Own(FileStore(folder), ("localhost",), timedelta(days=9), choice.terms(wanted)),
        shown=Shown(),
        registered=Registered(watched=watched),
        terms=choice.terms(wanted),
        host="localhost",
        strict=True,
        metrics=Metrics(),
        readiness=Readiness(),
    )


@pytest.mark.parametrize("turns", range(6))
def test_a_loop_that_is_woken_as_it_is_told_to_end_ends(tmp_path: Path, turns: int) -> None:
    """However many turns of the event loop lie between the two."""
    controller = controlling(tmp_path, watched=False)
    registered = controller.registered

    async def ended() -> bool:
        running = asyncio.create_task(controller.run())
        for _ in range(10):  # to where it waits for news
            await asyncio.sleep(0)
        assert controller.pair
        registered.news.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running], timeout=_END_SECONDS)
        return running.cancelled()

    assert asyncio.run(ended())


def test_a_registration_that_is_not_there_distrusts_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """On a first start: not ready until it is there, and no warning; one without our CA is one."""
    controller = controlling(tmp_path, watched=True)
    caplog.set_level(logging.WARNING)  # whatever a test before has left

    def told(*, empty: bool) -> str:
        controller.registered.looked([], clock.now(), empty=empty)
        asyncio.run(controller.look())
        return controller.readiness.missing["registration"]

    assert told(empty=True) == "no webhook is registered"
    assert not caplog.records
    assert told(empty=False).startswith("its caBundle does not vouch for us: ")
    assert [record.message for record in caplog.records] == ["registration.distrusts"]


def test_work_that_loses_a_cancellation_is_cancelled_again() -> None:
    """A library below may do so; the process ends all the same."""

    async def deaf() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(_END_SECONDS * 10)
        await asyncio.sleep(_END_SECONDS * 10)

    async def ended() -> None:
        async with asyncio.timeout(_END_SECONDS), process._beside(deaf(), lambda: None):
            await asyncio.sleep(0.01)

    asyncio.run(ended())
