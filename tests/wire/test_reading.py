"""GETs over real HTTP: waits that the server asks for, lines in odd pieces, silence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from berth.cluster import connection
from berth.cluster.connection import Connection
from berth.errors import ReadFailed
from tests.cluster import kubeconfig


async def busy(_request: web.Request) -> web.Response:
    """Answer as an API server under load."""
    return web.json_response({"message": "wait"}, status=429, headers={"Retry-After": "9"})


async def pieces(request: web.Request) -> web.StreamResponse:
    """Send three lines in pieces that end anywhere, then nothing, and keep the connection."""
    answer = web.StreamResponse()
    await answer.prepare(request)
    for piece in (b"on", b"e\ntwo", b"\n", b"thr", b"ee\nunfinished"):
        await answer.write(piece)
    if "end" not in request.query:
        await asyncio.Event().wait()
    return answer


async def drips(request: web.Request) -> web.StreamResponse:
    """Send a little again and again, and never all."""
    answer = web.StreamResponse()
    await answer.prepare(request)
    while True:
        await answer.write(b" ")
        await asyncio.sleep(0.01)


async def silent(_request: web.Request) -> web.Response:
    """Never answer."""
    await asyncio.Event().wait()
    raise AssertionError


@asynccontextmanager
async def reading(folder: Path, user: dict[str, object]) -> AsyncIterator[Connection]:
    """Give a connection to such a server."""
    app = web.Application()
    app.add_routes([web.get(f"/{each.__name__}", each) for each in (busy, pieces, drips, silent)])
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    file = folder / "kubeconfig"
    server = f"http://127.0.0.1:{runner.addresses[0][1]}"
    file.write_text(kubeconfig.text({"server": server}, user))
    try:
        async with connection.connect(file) as made:
            yield made
    finally:
        await runner.cleanup()


def test_retry_after_reaches_us(tmp_path: Path) -> None:
    """In the header, as API priority and fairness writes it."""

    async def run() -> None:
        async with reading(tmp_path, {}) as made:
            with pytest.raises(ReadFailed, match=r"^HTTP 429: wait$") as caught:
                await made.get("/busy", {}, 5)
            assert caught.value.retry_after == 9

    asyncio.run(run())


@pytest.mark.parametrize("query", [{"end": "1"}, {}])
def test_lines_are_whole_and_end_with_the_answer_or_in_silence(
    tmp_path: Path, query: dict[str, str]
) -> None:
    """What has no end of line was not said."""

    async def run() -> None:
        async with (
            reading(tmp_path, {}) as made,
            made.lines("/pieces", query, quiet=0.2) as lines,
        ):
            assert [line async for line in lines] == [b"one", b"two", b"three"]

    asyncio.run(run())


@pytest.mark.parametrize("path", ["/silent", "/drips"])
def test_a_page_has_its_time(tmp_path: Path, path: str) -> None:
    """An API server that never answers, or never to the end, is given up, with a sentence."""

    async def run() -> None:
        async with reading(tmp_path, {}) as made:
            with pytest.raises(ReadFailed, match="no answer from the API server: it took too long"):
                await made.get(path, {}, 0.2)

    asyncio.run(run())


def test_a_login_program_that_fails_is_a_failure_like_others(tmp_path: Path) -> None:
    """It may work a little later: nothing ends."""
    program = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "false",
    }

    async def run() -> None:
        async with reading(tmp_path, {"exec": program}) as made:
            with pytest.raises(ReadFailed, match="Exec false returned 1"):
                await made.get("/busy", {}, 5)

    asyncio.run(run())


def test_no_kubeconfig_is_a_failure_like_others(tmp_path: Path) -> None:
    """It may be mounted a little later."""

    async def run() -> None:
        with pytest.raises(ReadFailed, match="no cluster to talk to"):
            async with connection.connect(tmp_path / "none"):
                pass

    asyncio.run(run())
